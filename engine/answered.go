package engine

import (
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// answered reports whether a step waits because the cloud, or Muster, has refused it for good: the same request gets the same answer until
// rights or the specification change, and a look in between would show nothing new.
func (r *record) answered(now time.Time) bool {
	for _, f := range r.refusal {
		answer := f.answer()
		if answer == nil || !now.Before(f.until) {
			continue
		}
		if kind := cloud.KindOf(answer); kind == cloud.Denied || kind == cloud.Invalid {
			return true
		}
	}
	return false
}

// atWork reports whether the cloud changes something that a look would show: an operation, a provider rollout, an instance on its way or
// the effect of an accepted step.
func (r *record) atWork(o pool.Observed) bool {
	if len(r.attempts) > 0 || o.ProviderRollout.Runs() {
		return true
	}
	if g := o.Group; g != nil && (g.Busy != nil || g.Deleting || g.Size != len(o.Instances)) {
		return true
	}
	return slices.ContainsFunc(o.Instances, func(i pool.Instance) bool {
		return i.State != pool.Running || !o.NodesUnknown && (i.Node == nil || !i.Node.Ready)
	})
}
