package eks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/muster-project/muster/local/apiserver"
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

// Version returns the Kubernetes version that a control plane wants, as EKS spells it: 1.32. Without one it is that of the API server.
func Version(plane *unstructured.Unstructured) (string, error) {
	text, _, err := unstructured.NestedString(plane.Object, "spec", "version")
	if err != nil {
		return "", err
	}
	if text == "" {
		text = apiserver.Version()
	}
	v, err := version.ParseGeneric(strings.TrimPrefix(text, "v"))
	if err != nil {
		return "", fmt.Errorf("spec.version: want a Kubernetes version such as v1.32, found %q: %w", text, err)
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor()), nil
}
