package nodepool

import (
	"maps"
	"reflect"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/pool/upgrade"
)

// desired is the desired node pool, compared with the existing one.
type desired struct {
	// pool is the specified node pool, step the node pool after the next step: GKE replaces nodes for one change after another.
	pool, step *container.NodePool
	upgrade    upgrade.Step
	// kubernetes is the version of the MachinePool.
	kubernetes upgrade.Version
	// changed lists the parts that the next step changes and whose change replaces nodes, in addition to the version.
	changed request.Table
	// next is the configuration that the next step leads to, launched the one that the node pool has now.
	next, launched configuration
	// reverts is true if the next step reverts an upgrade that has not ended, resumes if it continues a blue-green upgrade with its original
	// target.
	reverts, resumes bool
	// drift lists the differing parts that GKE changes in place, unchangeable the fields of those that it refuses to change.
	drift        request.Table
	unchangeable []string
	// named lists the zones of the specification, leaving those that it no longer contains and that still have machines.
	named   []string
	leaving map[string]bool
	// last is the last operation as far as it is known. byTemplate holds the known configurations of machines, by their template.
	last       lastOperation
	byTemplate map[string]configuration
	// status is the node pool's.
	status string
}

// desired translates the specification and compares it with the existing node pool.
func (r *reader) desired() (desired, error) {
	read := r.memory.read
	want := desired{last: r.memory.last, byTemplate: r.memory.byTemplate, pool: request.NodePool(r.t.Spec.Pool, r.t.labels())}
	want.step = want.pool
	var current, controlPlane upgrade.Version
	if read.pool != nil {
		current, want.status = reported(read.pool.Version), read.pool.Status
		want.launched = configuration{
			version: current, rolls: request.Parts.Rolling(want.pool, read.pool), machineType: machineTypeOf(read.pool),
		}
	}
	if read.cluster != nil {
		controlPlane = reported(read.cluster.CurrentMasterVersion)
	}
	var err error
	if want.kubernetes, err = versionOf(fieldVersion, r.t.KubernetesVersion); err != nil {
		want.next = want.launched
		return want, err
	}
	want.upgrade = upgrade.Of(current, want.kubernetes, controlPlane)
	switch {
	case read.paused():
		want.conclude(read)
	case blueGreen(read.pool) != nil && want.leadsOn(read):
		want.resume(read)
	default:
		want.revert(read)
	}
	if read.pool != nil {
		want.keepZones(read)
		want.compare(read)
	}
	want.next = configuration{version: want.upgrade.Next, rolls: request.Parts.Rolling(want.pool, want.step),
		machineType: machineTypeOf(want.step)}
	if want.next.machineType == "" {
		want.next.machineType = want.launched.machineType
	}
	return want, nil
}

// compare fills in what differs between the wanted node pool and the one that there is, and what the next step changes of it. The machine
// type goes first, with the disk; then the rest; then the version, with the image: nodes of a new version that have what is not wanted any
// more may never join.
func (w *desired) compare(read poolRead) {
	is := read.pool
	rolls := request.Parts.Differing(w.pool, is, fields.Rolls)
	others := rolls.Without(request.ImageType)
	switch versioned := w.upgrade.Next != w.launched.version; {
	case w.reverts:
		w.changed = rolls
	case w.resumes:
		w.changed = nil // the upgrade goes on as it began
	case versioned && w.changesParts():
		w.upgrade.Next = w.launched.version // the version follows
	case versioned && len(others) > 0 && !w.changesVersion():
		w.upgrade.Next, w.changed = w.launched.version, others.Together()
	case versioned:
		w.changed = rolls // the image goes with the version
	case len(rolls) > 0:
		w.changed = rolls.Together()
	}
	w.step = request.WithRolling(w.pool, is, w.changed)
	w.drift = request.Parts.Differing(w.pool, is, fields.InPlace)
	w.unchangeable = request.Parts.Differing(w.pool, is, fields.Fixed).Specs()
}

// changesVersion reports whether GKE replaces nodes for another version at Muster's request: other parts that change meanwhile wait for its
// end.
func (w *desired) changesVersion() bool {
	return w.status == statusReconciling && w.last.rolls() && w.last.to.version != w.last.from.version
}

// changesParts reports whether GKE replaces nodes for other parts than the version, all of which are wanted.
func (w *desired) changesParts() bool {
	return w.status == statusReconciling && w.last.rolls() && w.last.to.version == w.launched.version &&
		!w.last.to.template().Same(w.last.from.template()) && w.onTheWay(w.last.from.rolls)
}

// onTheWay reports whether the node pool has each part that rolls as it is wanted, or as it was before.
func (w *desired) onTheWay(before map[string]any) bool {
	want := request.Parts.Rolling(w.pool, w.pool)
	for part, value := range w.launched.rolls {
		if !reflect.DeepEqual(value, want[part]) && !reflect.DeepEqual(value, before[part]) {
			return false
		}
	}
	return true
}

// revert leads back to the configuration that an upgrade came from which has not ended, where the specification asks for that one again.
// What an automatic upgrade brings is kept.
func (w *desired) revert(read poolRead) {
	former := w.former(read)
	if !former.known() || !w.kubernetes.Known() || w.byService(greenVersion(read.pool)) {
		return
	}
	// Fields that the specification did not name when the upgrade began have the values of the node pool.
	for part, value := range w.launched.rolls {
		if _, named := former.rolls[part]; !named {
			former.rolls[part] = value
		}
	}
	maps.DeleteFunc(former.rolls, func(part string, _ any) bool { _, named := w.launched.rolls[part]; return !named })
	want := configuration{version: w.kubernetes, rolls: request.Parts.Rolling(w.pool, w.pool)}
	if want.version.Compare(former.version) == 0 {
		want.version = former.version
	}
	if want.template().Same(former.template()) {
		w.upgrade, w.reverts = upgrade.Step{Next: former.version}, true
	}
}

// former returns the configuration that an upgrade came from which has not ended; zero where none is under way.
func (w *desired) former(read poolRead) configuration {
	unfinished := w.status == statusReconciling || w.last.unfinished()
	green := greenVersion(read.pool)
	switch {
	case w.last.rolls() && unfinished && !w.last.from.template().Same(w.last.to.template()):
		return configuration{version: w.last.from.version, rolls: maps.Clone(w.last.from.rolls), machineType: w.last.from.machineType}
	case green.Known() && green.Compare(w.launched.version) != 0:
		return w.launched
	}
	return configuration{}
}
