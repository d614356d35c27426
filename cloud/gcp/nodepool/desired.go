package nodepool

import (
	"maps"
	"reflect"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/pool"
)

// wanted is the node pool that the specification asks for now, compared with the one that exists.
type wanted struct {
	// pool is the node pool that it asks for, and step that of the next step: GKE replaces nodes for one change after another.
	pool, step *container.NodePool
	upgrade    pool.Upgrade
	// asked is the version that the MachinePool names.
	asked pool.Version
	// changed are the parts whose change rolls and that the next step changes, beside the version.
	changed request.Table
	// next is the configuration that the next step leads to, launched the one that the node pool has now.
	next, launched configuration
	// reverts is true if the next step takes back an upgrade that has not ended, resumes if it leads on with a blue-green upgrade as that
	// began.
	reverts, resumes bool
	// drift are the parts that GKE changes in place and that differ; unchangeable the fields of those that it refuses to change.
	drift        request.Table
	unchangeable []string
	// named are the zones that the specification names, leaving those that it names no more and that still have machines.
	named   []string
	leaving map[string]bool
	// last is the last operation, as it is known, and told what is remembered of the machines of templates.
	last lastOperation
	told map[string]configuration
	// status is the node pool's.
	status string
}

// want translates the specification against what is there.
func (r *reader) want() (wanted, error) {
	read := r.memory.read
	want := wanted{last: r.memory.last, told: r.memory.told, pool: request.Wanted(r.t.Spec.Pool, r.t.labels())}
	want.step = want.pool
	var current, controlPlane pool.Version
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
	if want.asked, err = versionOf(fieldVersion, r.t.KubernetesVersion); err != nil {
		want.next = want.launched
		return want, err
	}
	want.upgrade = pool.UpgradeOf(current, want.asked, controlPlane)
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
func (w *wanted) compare(read poolRead) {
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
func (w *wanted) changesVersion() bool {
	return w.status == statusReconciling && w.last.rolls() && w.last.to.version != w.last.from.version
}

// changesParts reports whether GKE replaces nodes for other parts than the version, all of which are wanted.
func (w *wanted) changesParts() bool {
	return w.status == statusReconciling && w.last.rolls() && w.last.to.version == w.launched.version &&
		!w.last.to.template().Same(w.last.from.template()) && w.onTheWay(w.last.from.rolls)
}

// onTheWay reports whether the node pool has each part that rolls as it is wanted, or as it was before.
func (w *wanted) onTheWay(before map[string]any) bool {
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
func (w *wanted) revert(read poolRead) {
	former := w.former(read)
	if !former.known() || !w.asked.Known() || w.byService(greenVersion(read.pool)) {
		return
	}
	// Fields that the specification did not name when the upgrade began have the values of the node pool.
	for part, value := range w.launched.rolls {
		if _, named := former.rolls[part]; !named {
			former.rolls[part] = value
		}
	}
	maps.DeleteFunc(former.rolls, func(part string, _ any) bool { _, named := w.launched.rolls[part]; return !named })
	want := configuration{version: w.asked, rolls: request.Parts.Rolling(w.pool, w.pool)}
	if want.version.Compare(former.version) == 0 {
		want.version = former.version
	}
	if want.template().Same(former.template()) {
		w.upgrade, w.reverts = pool.Upgrade{Next: former.version}, true
	}
}

// former returns the configuration that an upgrade came from which has not ended; zero where none is under way.
func (w *wanted) former(read poolRead) configuration {
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
