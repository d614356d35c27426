package instancegroup

import (
	"context"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

const (
	actionRefreshing = "REFRESHING"
	// updateNone and updateRefresh are the least that is done to an instance, and the most: what can be changed while it runs.
	updateNone, updateRefresh = "NONE", "REFRESH"
)

// effective reports whether all instances have the group's labels, as Compute Engine says.
func effective(is *compute.InstanceGroupManager) bool {
	return is.Status == nil || is.Status.AllInstancesConfig == nil || is.Status.AllInstancesConfig.Effective
}

// inPlaceDrift names the field of labels that an instance lacks and its group has: the group is repaired first. An instance of a template
// that another tool has made can't be given them any more once the group launches from the pool's own: that would need another instance.
func (p view) inPlaceDrift(i instance, is pool.Template, group *pool.Group, want wanted) []string {
	if i.state() != pool.Running || i.action == actionRefreshing || i.labels == nil || len(group.Drift) > 0 || effective(p.memory.group.is) ||
		is.UserManaged && is.Ref != group.Template {
		return nil
	}
	for key, value := range want.labels {
		if has, ok := i.labels[key]; !ok || has != value {
			return []string{fieldLabels}
		}
	}
	return nil
}

// apply gives instances the labels of the group. What would need more than that is refused by Compute Engine.
func (p writer) apply(ctx context.Context, s pool.Step) error {
	if _, err := p.there(); err != nil {
		return err
	}
	urls := p.chosen(s)
	if len(urls) == 0 {
		return nil
	}
	p.memory.touched()
	p.memory.revision = "" // their labels are others from now on
	var err error
	if p.t.place.zonal() {
		op, refused := p.c.Compute.InstanceGroupManagers.ApplyUpdatesToInstances(p.t.project, p.t.place.location, p.t.group,
			&compute.InstanceGroupManagersApplyUpdatesRequest{Instances: urls, MinimalAction: updateNone, MostDisruptiveAllowedAction: updateRefresh}).Context(ctx).Do()
		err = p.ended(methodChange, op, refused)
	} else {
		op, refused := p.c.Compute.RegionInstanceGroupManagers.ApplyUpdatesToInstances(p.t.project, p.t.place.location, p.t.group,
			&compute.RegionInstanceGroupManagersApplyUpdatesRequest{Instances: urls, MinimalAction: updateNone, MostDisruptiveAllowedAction: updateRefresh}).Context(ctx).Do()
		err = p.ended(methodChange, op, refused)
	}
	return session.Vanished(err)
}

// chosen are the URLs of the instances that a step names, as far as they stay.
func (p writer) chosen(s pool.Step) []string {
	var urls []string
	for _, target := range s.Targets {
		for _, i := range p.memory.group.instances {
			if i.named(target) && i.state() != pool.Terminating {
				urls = append(urls, i.url())
			}
		}
	}
	return urls
}
