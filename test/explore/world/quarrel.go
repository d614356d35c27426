package world

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/memapi"
)

const (
	// quarrelMost is how often within quarrelSpell two managers may write what the objects say of the cloud back to what it was before.
	quarrelMost  = 8
	quarrelSpell = 5 * time.Minute
)

// quarrel is how often what the objects say of the cloud was written back to what it was before the last change.
type quarrel struct {
	before, last string
	backs        []time.Time
}

// check looks at what a write of Muster has left in both objects.
func (q *quarrel) check(w *World, op memapi.Op) {
	if op.Subresource != "" || op.Verb == "delete" || op.Kind != w.kind && op.Kind != "MachinePool" {
		return
	}
	said := w.observed()
	if said == q.last {
		return
	}
	now, back := time.Now(), said == q.before
	q.before, q.last = q.last, said
	if !back || len(w.processes) == 1 || slices.ContainsFunc(w.account.inForce(), func(f sim.PlayedFault) bool { return f.Kind == sim.Stale }) {
		return // each read that is behind may take the objects back
	}
	q.backs = append(slices.DeleteFunc(q.backs, func(at time.Time) bool { return now.Sub(at) > quarrelSpell }), now)
	if len(q.backs) == quarrelMost {
		w.Blame("busy", "what the objects say of the group was written back to what it was before %d times within %s", quarrelMost, quarrelSpell)
		q.backs = nil
	}
}

// observed is what the objects say of the group where the cloud decides: its ID, its instances, and the size that the autoscaler has set.
func (w *World) observed() string {
	mp, o := w.Objects()
	if o == nil {
		return ""
	}
	text := ""
	if lists, ok := o.(infrapool.Lists); ok {
		text = fmt.Sprint(lists.GetProviderID(), lists.GetProviderIDList())
	}
	if mp != nil && sizedElsewhere(mp) {
		text += fmt.Sprint(ptr.Deref(mp.Spec.Replicas, 1))
	}
	return text
}
