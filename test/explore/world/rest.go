package world

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
)

const (
	// restLeast is the time without writes after which all is quiet. It is longer than the periods of all caches and looks.
	restLeast = 11 * time.Minute
	// After that, quietSpells periods of quietSpell are watched. No write may come in them, and the statuses must not change. During one, each
	// client reads the cloud once.
	quietSpells, quietSpell = 2, 130 * time.Second
	// restMost bounds the time until all is quiet.
	restMost = 2 * time.Hour
)

// rest ends a scenario: all faults end, and the pool must reach the wanted state.
type rest struct {
	world *World
	// reported is true if a condition has reported a change without effect.
	reported bool
	// calmed is the time when all faults ended.
	calmed time.Time
}

// peace ends all faults and brings the pool into a shape that can be followed.
func (r *rest) peace() {
	w := r.world
	w.calm()
	r.calmed = time.Now()
	w.managers.meeting, w.managers.amid = nil, nil
	w.Workload.Users.Uncordon()
	for _, p := range w.managers.list {
		p.crash, p.lagging, p.deafUntil = 0, 0, time.Time{} // a watch that has expired lists again
	}
	w.users.holdCluster(false)
	w.each(r.ease)
	w.Trace("event", "peace")
}

// ease brings one pool into a shape that can be followed.
func (r *rest) ease() {
	w := r.world
	w.users.own()
	w.users.dropForeign()
	w.backup.dropCopy()
	w.adoption.giveUp()
	w.setup.disclaim()
	if w.pool.ClearBlockers != nil {
		w.pool.ClearBlockers()
	}
	if w.Objects.Bootstrap() == nil {
		w.Objects.rotate()
	}
	w.users.pause(false)
	w.Objects.Annotate(0, rolloutAnnotation, "")
	w.Objects.Annotate(1, rolloutAnnotation, "")
	w.Objects.EditObject(func(o client.Object) {
		if w.pool.Type(o) == w.Scenario.Kind.BadType {
			w.pool.Back(o)
		}
	})
	w.users.within()
	if w.pool.Settle != nil {
		w.pool.Settle()
	}
}

// wait waits until nothing is written any more, and no autoscaler has changed the size. Where a drain kept users from taking back a cordon,
// they do so once it has ended.
func (r *rest) wait() {
	w := r.world
	began := time.Now()
	quiet := began
	for time.Since(began) < restMost && !w.over() {
		w.until(quiet.Add(restLeast))
		switch {
		case w.written.After(quiet):
			quiet = w.written
		case r.moved().After(quiet):
			quiet = r.moved()
		case w.Workload.Users.Uncordon() || w.any(func() bool { return r.unjoined() || r.unrolled() || r.busy() }):
			quiet = time.Now()
		default:
			return
		}
	}
}

// moved is when a user or an autoscaler last changed the size of a group.
func (r *rest) moved() (last time.Time) {
	for _, m := range r.world.members {
		if m.Notes.moved.After(last) {
			last = m.Notes.moved
		}
	}
	return last
}

// unjoined reports whether a machine is still to join, for as long as that may take.
func (r *rest) unjoined() bool {
	w := r.world
	return w.pool.Unjoined() && time.Since(w.trace.Began) < w.Scenario.Ends+restMost/2
}

// busy reports whether the cloud is at work on the group by itself, for as long as that may take.
func (r *rest) busy() bool {
	w := r.world
	return time.Since(w.trace.Began) <= w.Scenario.Ends+restMost && w.pool.Busy != nil && w.pool.Busy()
}

// unrolled reports whether a machine is still to be replaced.
func (r *rest) unrolled() bool {
	w := r.world
	stale, old := w.Rollout.Left()
	return stale+old > 0 && time.Since(w.trace.Began) < w.Scenario.Ends+restMost
}

// settledDown checks the state once all is quiet, and for a while longer.
func (r *rest) settledDown() {
	w := r.world
	w.each(r.asDesired)
	var spells []oracle.Pass
	w.since()
	for range quietSpells {
		w.until(time.Now().Add(quietSpell))
		spells = append(spells, oracle.Pass{Writes: w.since(), Status: r.statusText()})
	}
	w.blameAll("quiet", oracle.Quiet(spells))
	r.hours()
}

// statusText returns the statuses of all pools.
func (r *rest) statusText() string {
	var all []string
	r.world.each(func() { all = append(all, r.world.Objects.StatusText()) })
	return strings.Join(all, "; ")
}

// asDesired checks the state of one pool once all is quiet.
func (r *rest) asDesired() {
	w := r.world
	if w.Objects.deleted() {
		w.Blame("progress", "the pool is being deleted and is not gone after %s: %s", restMost, w.Objects.StatusText())
		return
	}
	want, is := r.want(), w.pool.Is()
	if size, err := strconv.Atoi(is["size"]); err == nil && want["max"] != "" && w.Objects.External() && strconv.Itoa(size) > want["max"] &&
		strings.Contains(w.Objects.StatusText(), "MaxSizePending") {
		delete(want, "max")
		want["ready"] = "False" // the autoscaler has to lower it first, which the condition says
	}
	if w.pool.Forgive != nil {
		w.pool.Forgive(want, is)
	}
	w.adoption.leaveOthersTags(want)
	if w.Scenario.Denied != "" {
		delete(want, "exposed") // which machines are protected may be what can't be read
		delete(want, "ready")   // a part that is unknown may be reported there: what is there is counted all the same
	}
	w.Trace("rest", "%s", w.Objects.StatusText())
	name := "as desired"
	if w.several() && w.wrote.Before(r.calmed) {
		name = "starved" // nothing was done for the pool since all faults ended
	}
	w.blameAll(name, oracle.AsDesired(want, is))
}

// want returns the wanted state. It shares no code with the driver.
func (r *rest) want() map[string]string {
	w := r.world
	mp, o := w.Objects.Both()
	if mp == nil || o == nil {
		return nil
	}
	want := w.pool.Want(mp, o)
	maps.Copy(want, w.Notes.notes)
	return want
}

// end returns the state at the end, without values that differ between two equal runs.
func (r *rest) end() map[string]string {
	w := r.world
	if w.gone {
		return map[string]string{"gone": "true"}
	}
	is := w.pool.Is()
	delete(is, "owner")
	is["says"] = named.ReplaceAllString(w.Objects.StatusText(), "$1-…")
	if w.Scenario.Has(script.Back) {
		// A change that was soon reverted may never have been made.
		is["says"] = numbered.ReplaceAllString(is["says"], "lt-…")
		return is
	}
	for _, t := range w.Snapshot().Templates {
		is["versions"] = t.Print
	}
	return is
}

// numbered are versions of a launch template.
var numbered = regexp.MustCompile(`lt-…:\d+`)

// named are identifiers that the cloud makes up, which another course of events makes others.
var named = regexp.MustCompile(`\b(i|lt)-[0-9a-f]{17}\b`)

// look sees whether the pool is gone, and that nothing of it was left when its infrastructure object went: what others do to the rest later
// changes nothing.
func (w *World) look() {
	mp, o := &clusterv1.MachinePool{}, w.pool.New()
	ctx := w.t.Context()
	if w.gone || w.absent {
		return
	}
	if w.Objects.User.Get(ctx, w.key, o) == nil {
		w.released = false
		return
	}
	if !w.released {
		w.released, w.leftovers = true, nil
		if !recent(w.Notes.owned) {
			w.leftovers = oracle.Left(w.Snapshot(), w.Objects.owner.ID)
		}
	}
	if w.Objects.User.Get(ctx, w.poolKey, mp) == nil {
		return
	}
	w.gone = true
	w.Trace("gone", "")
	w.blameAll("left", w.leftovers)
}

// knows returns the specification as a process knows it, in the form of the oracles.
func (p *process) knows() oracle.Desired {
	w := p.world
	mp, o := w.Objects.read(p.cached)
	desired := oracle.Desired{Owner: w.Objects.Owner().ID}
	if o != nil {
		if named, ok := o.(infrapool.WrittenFields); ok {
			desired.Named = w.Scenario.Kind.NamedGroup(named.GetProviderID())
		}
		desired.Adopt, desired.Kept = annotated(mp, o, pool.AdoptAnnotation), w.adoption.kept()
		least, most := w.pool.Bounds(o)
		desired.Min, desired.Max = int(least), int(most)
		desired.Deleting = !o.GetDeletionTimestamp().IsZero()
		if id := o.GetAnnotations()[ownership.Annotation]; id != "" {
			desired.Owner = id
		}
	}
	if mp != nil {
		desired.Replicas = int(ptr.Deref(mp.Spec.Replicas, 1))
		desired.External = sizedElsewhere(mp)
		desired.Surge, desired.Unavailable = oracle.Share{N: 1}, oracle.Share{}
		desired.DrainTimeout = time.Duration(ptr.Deref(mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds, 0)) * time.Second
	}
	desired.DeletionRequested, desired.Quarantined = w.Instances.allDeletionRequested(), w.Rollout.quarantine(o)
	p.setRollout(mp, o, &desired)
	return desired
}

// setRollout sets how machines are to be replaced.
func (p *process) setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	w := p.world
	if o != nil {
		w.pool.SetRollout(mp, o, desired)
	}
	if at := w.Notes.rewritten; !at.IsZero() && time.Since(at) <= restLeast {
		desired.Keep = 0 // versions are read again later
	}
	desired.SkipModel = w.Scenario.SkipModel
	desired.Paused = annotated(mp, o, rolloutAnnotation) == "paused"
	if annotated(mp, o, restartAnnotation) != "" {
		desired.Restart = w.Rollout.restartRequested()
	}
}

// SetReplacedByMuster tells the oracles that Muster itself replaces machines, within the limits of a strategy.
func SetReplacedByMuster(r *common.RollingUpdate, desired *oracle.Desired) {
	desired.ReplacedByMuster = true
	desired.Surge, desired.Unavailable = Share(r.MaxSurge), Share(r.MaxUnavailable)
}

// Share returns a limit in the oracles' words.
func Share(v *intstr.IntOrString) oracle.Share {
	if v.Type == intstr.Int {
		return oracle.Share{N: v.IntValue()}
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return oracle.Share{N: n, Percent: true}
}

func sizedElsewhere(o client.Object) bool {
	value, on := o.GetAnnotations()[clusterv1.ReplicasManagedByAnnotation]
	return on && value != "false"
}

// Itoa formats a number, as an empty text if it is nil.
func Itoa(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}
