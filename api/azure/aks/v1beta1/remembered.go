package v1beta1

import (
	"maps"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// keepManagedCluster is the key under which an object remembers the name of its managed cluster.
const keepManagedCluster = "managed-cluster"

// Remember returns the part of the view that an object stores, to find its agent pool after the control plane is gone.
func (v *ManagedClusterView) Remember() map[string]string {
	out := maps.Clone(v.View.Remember())
	out[keepManagedCluster] = v.Name
	return out
}

// ManagedClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes
// the content that is missing.
func ManagedClusterViewRemembered(kept map[string]string, annotation string) (ManagedClusterView, error) {
	view, err := azurev1.ClusterViewRemembered(kept, annotation)
	out := ManagedClusterView{View: view, Name: kept[keepManagedCluster]}
	if err != nil || out.Name == "" {
		return out, azurev1.NotRemembered(annotation, "agent pool", `, "`+keepManagedCluster+`": "<name of the managed cluster>"`)
	}
	return out, nil
}
