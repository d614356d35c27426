package eks

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	awsnetwork "github.com/muster-project/muster/local/clouds/aws/network"
	"github.com/muster-project/muster/local/fields"
)

// conditions of a control plane: the summary, EKS's own part, and what core mirrors to the Cluster.
var conditions = []string{"Ready", "EKSControlPlaneReady", "Available"}

// available reports whether the control plane serves and that machines may join.
func available(o *unstructured.Unstructured, network awsnetwork.Network, eksVersion string) error {
	if err := network.FillStatus(o); err != nil {
		return err
	}
	if err := fields.Set(o,
		fields.Field{Value: true, Path: []string{"status", "initialized"}},
		fields.Field{Value: true, Path: []string{"status", "externalManagedControlPlane"}},
		fields.Field{Value: "v" + eksVersion, Path: []string{"status", "version"}}); err != nil {
		return err
	}
	return fields.Mark(o, conditions, "True", "Available", "")
}

// Unavailable writes why the control plane does not serve.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	if err := fields.Set(o, fields.Field{Value: false, Path: []string{"status", "ready"}}); err != nil {
		return err
	}
	return fields.Mark(o, conditions, "False", "EKSControlPlaneReconciliationFailed", why.Error())
}

// versionOf is the Kubernetes version that a control plane wants, as EKS spells it. Without one it is that of the API server.
func (r *ControlPlanes) versionOf(plane *unstructured.Unstructured) (string, error) {
	return fields.MinorVersion(plane, r.Servers.Version(), "spec", "version")
}
