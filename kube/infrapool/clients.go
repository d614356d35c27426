package infrapool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/policy/gates/approval"
	"github.com/muster-project/muster/pool/rollouts"
)

// clients finds the clients that have set annotations of a pool.
type clients[O Object] struct {
	// live reads without the cache.
	live client.Reader
	new  func() O
}

// clientsOf returns the clients of the pools of a reconciler.
func clientsOf[O Object, S any](r *Reconciler[O, S]) clients[O] {
	c := clients[O]{live: r.Live, new: r.kind.New}
	if c.live == nil {
		c.live = r.Client
	}
	return c
}

// name returns the settings and limits with the clients that passed windows and approved gates for the rollout of a pass. What the
// status has recorded of them is kept. The objects are read for it once, without the cache, which has no managed fields. A failed read
// leaves them unknown: what they requested holds all the same.
func (c clients[O]) name(
	ctx context.Context, s scope[O], rec rollouts.Record, l rollouts.Limits,
) (settings.Settings, rollouts.Limits) {
	set := s.settings
	if rec.ID == "" || rec.Ended {
		return set, l
	}
	last := s.object.GetCommonStatus().Rollout
	if last == nil || last.ID != rec.ID {
		last = &common.RolloutStatus{}
	}
	var read []client.Object
	objects := func() []client.Object {
		if read == nil {
			read = c.read(ctx, s)
		}
		return read
	}
	if set.RolloutNow {
		if set.RolloutNowBy = last.OverriddenBy; set.RolloutNowBy == "" {
			set.RolloutNowBy, _ = settings.SetBy(settings.RolloutAnnotation, having(objects(), func(annotations map[string]string) bool {
				return annotations[settings.RolloutAnnotation] == settings.RolloutNow
			})...)
		}
	}
	l.Approvals = slices.Clone(l.Approvals)
	for k, a := range l.Approvals {
		if !slices.Contains(a.For, rec.ID) {
			continue
		}
		if l.Approvals[k].By = approvedBefore(last, a.Gate); l.Approvals[k].By == "" {
			l.Approvals[k].By = approvedBy(a.Gate.Name, rec.ID, objects())
		}
	}
	return set, l
}

// approvedBefore returns what a status has recorded of the approval of a gate; empty if it was not approved before.
func approvedBefore(last *common.RolloutStatus, g rollouts.Gate) string {
	for _, one := range last.Gates {
		if one.Name == g.Name && one.Policy == g.Policy && one.State == rollouts.GatePassed {
			return one.Message
		}
	}
	return ""
}

// approvedBy tells which client approved a gate for a rollout.
func approvedBy(gate, rollout string, objects []client.Object) string {
	objects = having(objects, func(annotations map[string]string) bool {
		_, approved := approval.Of(gate, rollout, annotations)
		return approved
	})
	by, at := settings.SetBy(approval.Annotation, objects...)
	text := "approved by client " + cmp.Or(by, "unknown")
	if !at.IsZero() {
		text += " at " + at.UTC().Format(time.RFC3339)
	}
	for _, o := range objects {
		if a, _ := approval.Of(gate, rollout, o.GetAnnotations()); a.By != "" {
			return fmt.Sprintf("%s (%s: %s)", text, approval.ByAnnotation, a.By)
		}
	}
	return text
}

// having returns the objects with certain annotations.
func having(objects []client.Object, has func(map[string]string) bool) []client.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o client.Object) bool { return !has(o.GetAnnotations()) })
}

// read reads the infrastructure object and its MachinePool from the API server, as far as it returns them.
func (c clients[O]) read(ctx context.Context, s scope[O]) (found []client.Object) {
	if o := c.new(); c.live.Get(ctx, client.ObjectKeyFromObject(s.object), o) == nil {
		found = append(found, o)
	}
	if s.machinePool == nil {
		return found
	}
	if mp := (&clusterv1.MachinePool{}); c.live.Get(ctx, client.ObjectKeyFromObject(s.machinePool), mp) == nil {
		found = append(found, mp)
	}
	return found
}
