package eks

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/fields"
)

// available reports whether the control plane serves and that machines may join.
func available(o *unstructured.Unstructured, network awsstandin.Network, eksVersion string) error {
	if err := network.FillStatus(o); err != nil {
		return err
	}
	if err := kind.Serves(o, eksVersion); err != nil {
		return err
	}
	if err := fields.Set(o, fields.Field{Value: true, Path: []string{"status", "externalManagedControlPlane"}}); err != nil {
		return err
	}
	return kind.Mark(o, "True", "Available", "")
}

// Unavailable writes why the control plane does not serve.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	return kind.Unavailable(o, "EKSControlPlaneReconciliationFailed", why.Error())
}

// versionOf returns the Kubernetes version that a control plane wants, as EKS spells it. Without one it is that of the API server.
func (r *ControlPlanes) versionOf(plane *unstructured.Unstructured) (string, error) {
	return fields.MinorVersion(plane, r.Servers.Version(), "spec", "version")
}
