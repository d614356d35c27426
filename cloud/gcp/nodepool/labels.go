package nodepool

import (
	"maps"
	"time"

	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// createdAround is by how much the clocks of GKE and of the API server may differ.
const createdAround = time.Minute

// createdWithCluster reports whether a node pool without an owner label was created for the object: GKE creates no cluster without a node
// pool, so that the controller of the cluster asks for those of the objects that exist, and labels them.
func (t target) createdWithCluster(read poolRead) bool {
	if t.GroupID != "" || t.Spec.Created.IsZero() || t.Deleting || read.cluster == nil ||
		!template.OwnedByCluster(read.labels(), t.cluster.Name, t.Owner.Cluster) {
		return false
	}
	at, err := time.Parse(time.RFC3339, read.cluster.CreateTime)
	return err == nil && !at.Add(createdAround).Before(t.Spec.Created)
}

// labels returns the resource labels that the node pool should have: those of the cluster, of the specification and of the owner.
func (t target) labels() map[string]string {
	out := request.Labels(t.cluster.View.AdditionalLabels, t.Spec.Pool.AdditionalLabels.Strings())
	maps.DeleteFunc(out, func(key, _ string) bool { return request.OwnsResourceLabel(key) })
	maps.Copy(out, template.OwnerLabels(t.Owner))
	return out
}
