package v1beta1

import "fmt"

// The keys under which an object remembers where its cloud objects are, for when the objects of its cluster are gone.
const (
	keepProject   = "project"
	keepRegion    = "region"
	keepCompute   = "compute-endpoint"
	keepContainer = "container-endpoint"
	keepLocation  = "location"
	keepCluster   = "gke-cluster"
)

// Remember returns the part of the view that an object stores, to find its group after the infrastructure cluster is gone.
func (v *ClusterView) Remember() map[string]string {
	kept := map[string]string{keepProject: v.Project, keepRegion: v.Region}
	v.Endpoints.remember(kept)
	return kept
}

// remember adds the addresses that are not the public ones.
func (e *Endpoints) remember(kept map[string]string) {
	if e.Compute != "" {
		kept[keepCompute] = e.Compute
	}
	if e.Container != "" {
		kept[keepContainer] = e.Container
	}
}

// ClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes the
// content that is missing.
func ClusterViewRemembered(kept map[string]string, annotation string) (ClusterView, error) {
	v := ClusterView{Project: kept[keepProject], NetworkProject: kept[keepProject], Region: kept[keepRegion],
		Endpoints: Endpoints{Compute: kept[keepCompute], Container: kept[keepContainer]}}
	if v.Project == "" || v.Region == "" {
		return v, fmt.Errorf("the infrastructure of the cluster is gone, and metadata.annotations[%s] does not say where the instance group is: "+
			`set it to {"%s": "<project ID>", "%s": "<region>"}`, annotation, keepProject, keepRegion)
	}
	return v, nil
}

// Remember returns the part of the view that an object stores, to find its node pool after the control plane is gone.
func (v *ManagedClusterView) Remember() map[string]string {
	kept := map[string]string{keepProject: v.View.Project, keepLocation: v.Location, keepCluster: v.Name}
	v.View.Endpoints.remember(kept)
	return kept
}

// ManagedClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes
// the content that is missing.
func ManagedClusterViewRemembered(kept map[string]string, annotation string) (ManagedClusterView, error) {
	v := ManagedClusterView{Name: kept[keepCluster], Location: kept[keepLocation], View: ClusterView{
		Project: kept[keepProject], NetworkProject: kept[keepProject], Region: RegionOf(kept[keepLocation]),
		Endpoints: Endpoints{Compute: kept[keepCompute], Container: kept[keepContainer]},
	}}
	if v.View.Project == "" || v.Location == "" || v.Name == "" {
		return v, fmt.Errorf("the control plane of the cluster is gone, and metadata.annotations[%s] does not say where the node pool is: "+
			`set it to {"%s": "<project ID>", "%s": "<region or zone>", "%s": "<name of the GKE cluster>"}`, annotation, keepProject, keepLocation,
			keepCluster)
	}
	return v, nil
}
