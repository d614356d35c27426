package nodegroup

import (
	"context"
	"fmt"
	"maps"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// unowned returns the node group that has the pool's name and lacks its owner tag, nil if there is none, with what its adoption depends on.
func (l templates) unowned(group groupRead) *pool.Unowned {
	out := l.t.ownership(group).Unowned(l.t.name)
	if out == nil {
		return nil
	}
	out.OtherCluster = session.OtherCluster(group.is.Tags, l.t.Owner.Cluster, l.t.eks)
	out.OfCluster = session.OfCluster(group.is.Tags, l.t.Owner.Cluster, l.t.eks)
	if on := l.t.groupNamed(); l.t.namesAnother(on) || session.Elsewhere(on.region, l.t.cluster) {
		out.NamedInstead = l.t.GroupID
	}
	if l.t.template != "" {
		id, conflict := l.launch.Unowned()
		if out.TemplateConflict = conflict; id != "" {
			out.Resources = append(out.Resources, fmt.Sprintf("launch template %s (%s)", l.t.template, id))
		}
	}
	out.Resources = append(out.Resources, out.Group)
	return out
}

// followTemplate makes the launch template of an unowned node group the pool's, if the object asks to adopt the node group: EKS takes no
// other in its place. The name is remembered.
func (r *reader) followTemplate() {
	is := r.memory.group.is
	if !r.t.Adopt || r.t.template == "" || is == nil || is.LaunchTemplate == nil || is.Tags[session.TagOwner] != "" {
		return
	}
	name := ptr.Deref(is.LaunchTemplate.Name, "")
	if name == "" || name == r.t.template {
		return
	}
	r.t.template = name
	r.t.Remembered = maps.Clone(r.t.Remembered)
	if r.t.Remembered == nil {
		r.t.Remembered = map[string]string{}
	}
	r.t.Remembered[cloud.AdoptedTemplate] = name
}

// adopt writes the owner tags to the node group, in one call: that decides whose it is, also among pools that adopt it at the same time.
// The launch template follows (untagged), and the group behind it and the instances get their tags as those of any node group do.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	is := w.memory.group.is
	if is != nil && w.t.owns(is) {
		return nil
	}
	if err := w.reader.ownership().Adoptable(w.reader.templates().unowned(w.memory.group)); err != nil {
		return err
	}
	return w.retag(ctx, is, session.OwnerTags(w.t.Owner), nil)
}

// untagged returns, for messages, the launch template of an adopted node group that lacks the pool's owner tags, or carries those of a pool
// that lost the node group; empty if there is none.
func (r *reader) untagged() string {
	is := r.memory.group.is
	if is == nil || r.t.template == "" || is.Status == ekstypes.NodegroupStatusDeleting ||
		!r.t.Adopt && r.t.Remembered[pool.AdoptedKey] != r.t.name {
		return ""
	}
	return launch.FollowsGroup(r.launch(), r.templates().ref(is, ""))
}
