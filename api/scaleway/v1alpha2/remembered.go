package v1alpha2

import "fmt"

// The keys under which an object remembers where its pool is, for when the objects of its cluster are gone. The Secret of its credentials
// is remembered by the identity.
const (
	keepRegion  = "region"
	keepProject = "project"
	keepCluster = "kapsule-cluster"
)

// Remember returns the part of the view that an object stores, to find its pool after the objects of the cluster are gone.
func (v *ClusterView) Remember() map[string]string {
	return map[string]string{keepRegion: v.Region, keepProject: v.ProjectID, keepCluster: v.Name}
}

// ClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes the
// content that is missing.
func ClusterViewRemembered(kept map[string]string, annotation string) (ClusterView, error) {
	v := ClusterView{Region: kept[keepRegion], ProjectID: kept[keepProject], Name: kept[keepCluster]}
	if v.Region == "" || v.ProjectID == "" || v.Name == "" {
		return v, fmt.Errorf("the control plane of the cluster is gone, and metadata.annotations[%s] does not say where the pool is: "+
			`set it to {"%s": "<region>", "%s": "<project ID>", "%s": "<name of the Kapsule cluster>"}`, annotation, keepRegion, keepProject,
			keepCluster)
	}
	return v, nil
}
