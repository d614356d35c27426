package gke

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/sim/gcp/container"
)

// available writes that the control plane serves, with its version, and that machines may join. The provider leaves GKE's build out of the
// version.
func available(o *unstructured.Unstructured, is container.Inspected) error {
	version, _, _ := strings.Cut(is.Version, "-")
	if err := kind.Serves(o, version); err != nil {
		return err
	}
	if err := fields.Set(o, fields.Field{Value: version, Path: []string{"status", "currentVersion"}}); err != nil {
		return err
	}
	return kind.Mark(o, "True", is.Status, "")
}

// Unavailable reports why the cluster can't reach the desired state.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	return kind.Unavailable(o, "GKEControlPlaneReconciliationFailed", why.Error())
}
