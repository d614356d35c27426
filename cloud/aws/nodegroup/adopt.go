package nodegroup

import (
	"context"
	"fmt"
	"maps"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// ownership is what decides whether the node group may be changed.
func ownership(p *pass) driverkit.Ownership {
	is := p.memory.group.is
	o := driverkit.Ownership{
		Exists: is != nil, Named: p.memory.group.named, GroupID: p.t.GroupID, Tag: session.TagOwner,
		Group: fmt.Sprintf("node group %s of EKS cluster %s", p.t.name, p.t.eks), Kind: "node group", Rename: "in " + fieldName,
	}
	if is != nil {
		o.Owned, o.Owner = p.t.owns(is), is.Tags[session.TagOwner]
	}
	return o
}

// unowned returns the node group that has the pool's name and lacks its owner tag, nil if there is none, with what its adoption depends on.
func unowned(p *pass) *pool.Unowned {
	out := ownership(p).Unowned(p.t.name)
	if out == nil {
		return nil
	}
	is := p.memory.group.is
	out.OtherCluster = session.OtherCluster(is.Tags, p.t.Owner.Cluster, p.t.eks)
	if on := p.t.groupNamed(); p.t.namesAnother(on) || on.region != "" && p.t.cluster.Region != "" && on.region != p.t.cluster.Region {
		out.NamedInstead = p.t.GroupID
	}
	if p.t.template != "" {
		id, conflict := p.template().Unowned()
		if out.TemplateConflict = conflict; id != "" {
			out.Resources = append(out.Resources, fmt.Sprintf("launch template %s (%s)", p.t.template, id))
		}
	}
	out.Resources = append(out.Resources, out.Group)
	return out
}

// followTemplate makes the launch template of an unowned node group the pool's, if the object asks to adopt the node group: EKS takes no
// other in its place. The name is remembered.
func followTemplate(p *pass) {
	is := p.memory.group.is
	if !p.t.Adopt || p.t.template == "" || is == nil || is.LaunchTemplate == nil || is.Tags[session.TagOwner] != "" {
		return
	}
	name := session.Deref(is.LaunchTemplate.Name)
	if name == "" || name == p.t.template {
		return
	}
	p.t.template = name
	p.t.Remembered = maps.Clone(p.t.Remembered)
	if p.t.Remembered == nil {
		p.t.Remembered = map[string]string{}
	}
	p.t.Remembered[cloud.AdoptedTemplate] = name
}

// adopt writes the owner tags to the launch template and then to the node group: one that has them is the pool's. The group behind it and
// the instances get their tags as those of any node group do.
func adopt(ctx context.Context, p *pass) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	is := p.memory.group.is
	if is != nil && p.t.owns(is) {
		return nil
	}
	if err := ownership(p).Adoptable(unowned(p)); err != nil {
		return err
	}
	if p.t.template != "" {
		if err := launch.Adopt(ctx, p.template()); err != nil {
			return err
		}
	}
	return p.retag(ctx, is, session.OwnerTags(p.t.Owner), nil)
}
