package instancegroup

import (
	"context"
	"maps"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

const actionRefreshing = "REFRESHING"

// relabelling is a change of an instance's labels that Compute Engine has accepted and no read has shown yet.
type relabelling struct {
	at time.Time
	// fingerprint is that of the labels before.
	fingerprint string
}

// await forgets the details of instances whose labels are being changed, so that they are read again: for the last time once the change
// should have become visible.
func (m *memory) await(now time.Time) {
	maps.DeleteFunc(m.relabels, func(id uint64, r relabelling) bool {
		delete(m.details, id)
		return now.Sub(r.at) >= visibleWithin
	})
}

// relabelled reports whether a change of the instance's labels is awaited.
func (m *memory) relabelled(i instance) bool {
	_, awaited := m.relabels[i.id]
	return awaited
}

// effective reports whether all instances have the group's labels, as Compute Engine says.
func effective(is *compute.InstanceGroupManager) bool {
	return is.Status == nil || is.Status.AllInstancesConfig == nil || is.Status.AllInstancesConfig.Effective
}

// inPlaceDrift names the field of labels that an instance lacks and its group has: the group is repaired first.
func (r reader) inPlaceDrift(i instance, group *pool.Group, want wanted) []string {
	if i.state() != pool.Running || i.action == actionRefreshing || i.labels == nil || len(group.Drift) > 0 || effective(r.memory.group.is) {
		return nil
	}
	for key, value := range want.labels {
		if has, ok := i.labels[key]; !ok || has != value {
			return []string{fieldLabels}
		}
	}
	return nil
}

// apply gives instances the labels of the group, each beside what it has. The group itself can't: it would give an instance of an older
// template all that the newer one has, and disks with other labels need another instance.
func (w writer) apply(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	instances, labels := w.chosen(s), w.t.source().Labels()
	if len(instances) > 0 {
		w.memory.touched()
	}
	for _, i := range instances {
		if err := w.relabel(ctx, i, labels); err != nil {
			return err
		}
	}
	return nil
}

// relabel sets labels of an instance, on the condition that its others are those that were read. They are read again before anything else
// is concluded from them, also after a refusal.
func (w writer) relabel(ctx context.Context, i instance, labels map[string]string) error {
	was, err := w.detailed(ctx, i)
	if err != nil {
		return err
	}
	delete(w.memory.details, i.id)
	all := maps.Clone(was.labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, labels)
	op, err := w.c.Compute.Instances.SetLabels(w.t.project, i.zone, i.name, &compute.InstancesSetLabelsRequest{
		Labels: all, LabelFingerprint: was.fingerprint,
	}).Context(ctx).Do()
	if err == nil {
		if failed := session.Failed(op); failed != nil {
			return failed
		}
		if w.memory.relabels == nil {
			w.memory.relabels = map[uint64]relabelling{}
		}
		w.memory.relabels[i.id] = relabelling{at: w.now, fingerprint: was.fingerprint}
	}
	return session.Vanished(w.c.Refusal(err))
}

// detailed returns the details of an instance, which are read if a look could not do so.
func (w writer) detailed(ctx context.Context, i instance) (detail, error) {
	if d, ok := w.memory.details[i.id]; ok {
		return d, nil
	}
	found, err := w.detailZone(ctx, i.zone, "", []string{i.name})
	w.memory.note(found...)
	return w.memory.details[i.id], err
}

// chosen are the instances that a step names, as far as they stay.
func (w writer) chosen(s pool.Step) []instance {
	var list []instance
	for _, target := range s.Targets {
		for _, i := range w.memory.group.instances {
			if i.named(target) && i.state() != pool.Terminating {
				list = append(list, i)
			}
		}
	}
	return list
}
