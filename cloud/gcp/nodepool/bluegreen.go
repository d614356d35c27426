package nodepool

import (
	"reflect"
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// blueGreen returns what GKE tells of a blue-green upgrade; nil where none is under way.
func blueGreen(n *container.NodePool) *container.BlueGreenInfo {
	if n == nil || n.UpdateInfo == nil {
		return nil
	}
	return n.UpdateInfo.BlueGreenInfo
}

// greenVersion returns the version that a blue-green upgrade leads to; zero without one.
func greenVersion(n *container.NodePool) upgrade.Version {
	if info := blueGreen(n); info != nil {
		return reported(info.GreenPoolVersion)
	}
	return upgrade.Version{}
}

// The phases of a blue-green upgrade that code depends on.
const (
	phaseDeleting = "DELETING_BLUE_POOL"
	phaseRollback = "ROLLBACK_STARTED"
)

// paused reports whether a blue-green upgrade was cancelled or has failed. GKE changes nothing else of the node pool before the upgrade is
// resumed or rolled back.
func (r poolRead) paused() bool {
	return blueGreen(r.pool) != nil && r.pool.Status != statusReconciling && r.pool.Status != statusStopping
}

// blue and green return the groups of the older and of the newer nodes of a blue-green upgrade.
func (r poolRead) blue() []groups.Group {
	return groups.Among(r.groups, blueGreen(r.pool).BlueInstanceGroupUrls)
}
func (r poolRead) green() []groups.Group {
	return groups.Among(r.groups, blueGreen(r.pool).GreenInstanceGroupUrls)
}

// isBlue reports whether a machine is one of the older ones of a blue-green upgrade.
func (r poolRead) isBlue(m groups.Instance) bool {
	return blueGreen(r.pool) != nil && slices.ContainsFunc(groups.Machines(r.blue()),
		func(o groups.Instance) bool { return o.Key() == m.Key() })
}

// phases are the states of a rollout in the phases of a blue-green upgrade; it runs in all others.
var phases = map[string]pool.ProviderRolloutState{
	"NODE_POOL_SOAKING": pool.ProviderRolloutBaking, phaseRollback: pool.ProviderRolloutReverting,
}

// phase returns the state of a rollout that runs, and how far a blue-green upgrade is, in GKE's word; empty without one.
func phase(is *container.NodePool) (pool.ProviderRolloutState, string) {
	info := blueGreen(is)
	if info == nil || info.Phase == "" {
		return pool.ProviderRolloutRunning, ""
	}
	reason := "blue-green upgrade in phase " + info.Phase
	if state, ok := phases[info.Phase]; ok {
		return state, reason
	}
	return pool.ProviderRolloutRunning, reason
}

// members divides the machines: those that count, and others. A blue-green upgrade that is paused has two machines for each that is wanted:
// those count that go when it is resumed or taken back, and the others serve beside them meanwhile. For each of the former that is not
// there, or not any more, one of the latter counts: those stay.
func (w desired) members(read poolRead) (counted, others []groups.Instance) {
	if !read.paused() {
		return read.machines(), nil
	}
	leave, stay := groups.Machines(read.blue()), groups.Machines(read.green())
	if w.reverts {
		leave, stay = stay, leave
	}
	places := read.size()
	for _, m := range leave {
		if m.State() != pool.Terminating {
			places--
		}
	}
	places = min(max(0, places), len(stay))
	return slices.Concat(leave, stay[:places]), stay[places:]
}

// unfinished returns what a blue-green upgrade that is paused keeps from being changed; nil if none is.
func (r poolRead) unfinished() *pool.Cause {
	if !r.paused() {
		return nil
	}
	return &pool.Cause{Reason: "UpgradeUnfinished", Message: "a blue-green upgrade has stopped in phase " + blueGreen(r.pool).Phase +
		": GKE changes nothing else of the node pool before the upgrade is resumed or rolled back"}
}

// conclude decides how a blue-green upgrade that is paused ends: it is resumed if it leads on to what is wanted and nothing goes before it,
// and rolled back otherwise: nodes that have what is not wanted any more may never join.
func (w *desired) conclude(read poolRead) {
	if w.leadsOn(read) && read.inTurn(w) {
		w.resume(read)
		return
	}
	w.reverts, w.upgrade.Next = true, w.launched.version
}

// inTurn reports whether a blue-green upgrade changes what goes before all that is still to be changed, or can't be rolled back any more.
func (r poolRead) inTurn(w *desired) bool {
	others := request.Parts.Differing(w.pool, r.pool, fields.Rolls).Without(request.ImageType)
	if len(others) == 0 || blueGreen(r.pool).Phase == phaseDeleting {
		return true
	}
	before := w.before(r)
	for part, value := range w.launched.rolls {
		if !reflect.DeepEqual(value, before[part]) && request.Parts.Ahead(part, others[0].Name) {
			return true
		}
	}
	return false
}

// resume has a blue-green upgrade go on as it began: GKE changes nothing else of the node pool before its end.
func (w *desired) resume(read poolRead) {
	w.resumes, w.upgrade.Next = true, w.launched.version
	if to := greenVersion(read.pool); to.Known() {
		w.upgrade.Next = to
	}
}

// leadsOn reports whether all that a blue-green upgrade changes is wanted, or was so before. What an automatic upgrade brings is kept.
func (w *desired) leadsOn(read poolRead) bool {
	switch blueGreen(read.pool).Phase {
	case phaseRollback:
		return false
	case phaseDeleting:
		return true // there is nothing left to go back to
	}
	to := greenVersion(read.pool)
	if w.kubernetes.Known() && to.Compare(w.kubernetes) > 0 && to.Compare(w.launched.version) != 0 && !w.byService(to) {
		return false
	}
	return w.onTheWay(w.before(read))
}

// before returns the parts that roll as they were before the blue-green upgrade: as the blue machines have them, as far as that is known,
// and as is remembered where there are none.
func (w *desired) before(read poolRead) map[string]any {
	blue, remembered := groups.Machines(read.blue()), w.last.rolls()
	if len(blue) == 0 {
		if remembered {
			return w.last.from.rolls
		}
		return nil
	}
	out := w.configurationOf(blue[0], read).rolls
	if !remembered {
		w.launched.correctHiddenParts(out)
	}
	return out
}

// correctHiddenParts corrects the parts of blue machines that no template shows, after an upgrade whose earlier configuration is not
// stored: they are unknown, unless the templates show that another part changes. A request of Muster that changes a part of the template
// changes nothing else.
func (c configuration) correctHiddenParts(rolls map[string]any) {
	templatesDiffer := slices.ContainsFunc(partsOfTemplates, func(part string) bool { return !reflect.DeepEqual(rolls[part], c.rolls[part]) })
	for part := range rolls {
		switch {
		case slices.Contains(partsOfTemplates, part):
		case templatesDiffer:
			rolls[part] = c.rolls[part]
		default:
			delete(rolls, part)
		}
	}
}
