package nodepool

import (
	"maps"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
)

// The resource labels that say whose a node pool is.
const (
	labelOwner     = "muster-dev_owner-id"
	labelCluster   = "muster-dev_cluster"
	labelNamespace = "muster-dev_namespace"
	labelName      = "muster-dev_name"
	// labelOwned begins the label by which the ecosystem's other controller says that a node pool belongs to a cluster.
	labelOwned = "capg-cluster-"
)

const (
	// valueMost is how long the value of a label may be, and hashLength how much of a hash stands at the end of one that was shortened.
	valueMost  = 63
	hashLength = 8
)

// labelValue returns a text as the value of a label, which holds lower-case letters, digits, hyphens and underscores alone. One that does not
// fit is shortened, with a hash of all of it at its end.
func labelValue(text string) string {
	fit := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.ToLower(text))
	if fit == text && len(fit) <= valueMost {
		return fit
	}
	return fit[:min(len(fit), valueMost-hashLength-1)] + "-" + cloud.Digest([]byte(text), hashLength)
}

// ownerLabels returns the labels of an owner.
func ownerLabels(o cloud.Owner) map[string]string {
	return map[string]string{
		labelOwner: labelValue(o.ID), labelCluster: labelValue(o.Cluster), labelNamespace: labelValue(o.Namespace), labelName: labelValue(o.Name),
	}
}

// taggedFor returns the Key of the object that labels name. A value that was shortened is the owner's own if its shortened form is.
func taggedFor(labels map[string]string, o cloud.Owner) string {
	own := map[string][2]string{
		cloud.TagCluster: {labelCluster, o.Cluster}, cloud.TagNamespace: {labelNamespace, o.Namespace}, cloud.TagPool: {labelName, o.Name},
	}
	return cloud.TaggedFor(func(name string) string {
		label, text := own[name][0], own[name][1]
		if labels[label] == labelValue(text) {
			return text
		}
		return labels[label]
	})
}

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
	maps.Copy(out, ownerLabels(t.Owner))
	return out
}
