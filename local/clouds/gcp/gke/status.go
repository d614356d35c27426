package gke

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/sim/gcp/container"
)

// conditions of a control plane: the summary, GKE's own part, and what core mirrors to the Cluster.
var conditions = []string{"Ready", "GKEControlPlaneReady", "Available"}

// available writes that the control plane serves, with its version, and that machines may join. The provider leaves GKE's build out of the
// version.
func available(o *unstructured.Unstructured, is container.Inspected) error {
	version, _, _ := strings.Cut(is.Version, "-")
	if err := fields.Set(o,
		fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: true, Path: []string{"status", "initialized"}},
		fields.Field{Value: version, Path: []string{"status", "currentVersion"}},
		fields.Field{Value: "v" + version, Path: []string{"status", "version"}}); err != nil {
		return err
	}
	return fields.Mark(o, conditions, "True", is.Status, "")
}

// unavailable writes why the control plane does not serve.
func unavailable(o *unstructured.Unstructured, reason, message string) error {
	if err := fields.Set(o, fields.Field{Value: false, Path: []string{"status", "ready"}}); err != nil {
		return err
	}
	return fields.Mark(o, conditions, "False", reason, message)
}

// Unavailable writes why the cluster can't be brought to where it shall be.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	return unavailable(o, "GKEControlPlaneReconciliationFailed", why.Error())
}
