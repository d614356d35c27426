package nodepool

import (
	"maps"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// labelOwned begins the label by which the ecosystem's other controller says that a node pool belongs to a cluster.
const labelOwned = "capg-cluster-"

// otherCluster returns the cluster that the labels of another controller name, where that is not the owner's.
func otherCluster(labels map[string]string, o cloud.Owner) string {
	if _, ok := labels[labelOwned+o.Cluster]; ok {
		return ""
	}
	for label, value := range labels {
		if name, ok := strings.CutPrefix(label, labelOwned); ok && value == "owned" {
			return name
		}
	}
	return ""
}

// labels returns the resource labels that the node pool should have: those of the cluster, of the specification and of the owner.
func (t target) labels() map[string]string {
	out := request.Labels(t.cluster.View.AdditionalLabels, t.Spec.Pool.AdditionalLabels.Strings())
	maps.DeleteFunc(out, func(key, _ string) bool { return request.OwnsResourceLabel(key) })
	maps.Copy(out, template.OwnerLabels(t.Owner))
	return out
}
