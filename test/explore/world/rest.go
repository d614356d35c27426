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
	// restLeast is how long nothing must have been written for all to be quiet: longer than what only Muster changes is
	// taken as read, and than what all clients look at again.
	restLeast = 11 * time.Minute
	// quietSpells of quietSpell are looked at after that: nothing is written in them, and all of them say the same. During one
	// each client looks at the cloud once.
	quietSpells, quietSpell = 2, 130 * time.Second
	// restMost is how long it may take until all is quiet.
	restMost = 2 * time.Hour
)

// rest is how a scenario ends: in peace, with all that is wanted there.
type rest struct {
	world *World
	// reported is true if a condition reported that a change shows no effect.
	reported bool
	// calmed is when all faults ended.
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
	if w.pool.Appease != nil {
		w.pool.Appease()
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

// settledDown looks at what is there once all is quiet, and at a while more.
func (r *rest) settledDown() {
	w := r.world
	w.each(r.asDesired)
	var spells []oracle.Pass
	w.since()
	for range quietSpells {
		w.until(time.Now().Add(quietSpell))
		spells = append(spells, oracle.Pass{Writes: w.since(), Said: r.said()})
	}
	w.blameAll("quiet", oracle.Quiet(spells))
	r.hours()
}

// said is what the objects of all pools say.
func (r *rest) said() string {
	var all []string
	r.world.each(func() { all = append(all, r.world.Objects.Says()) })
	return strings.Join(all, "; ")
}

// asDesired looks at what is there of one pool once all is quiet.
func (r *rest) asDesired() {
	w := r.world
	if w.Objects.deleted() {
		w.Blame("progress", "the pool is being deleted and is not gone after %s: %s", restMost, w.Objects.Says())
		return
	}
	want, is := r.want(), w.pool.Is()
	if size, err := strconv.Atoi(is["size"]); err == nil && want["max"] != "" && w.Objects.External() && strconv.Itoa(size) > want["max"] &&
		strings.Contains(w.Objects.Says(), "MaxSizePending") {
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
	w.Trace("rest", "%s", w.Objects.Says())
	name := "as desired"
	if w.several() && w.wrote.Before(r.calmed) {
		name = "starved" // nothing was done for the pool since all faults ended
	}
	w.blameAll(name, oracle.AsDesired(want, is))
}

// want is what the objects ask for, in words that nothing of the driver was used for.
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

// end is what there is at the end, without what differs between two runs that did the same.
func (r *rest) end() map[string]string {
	w := r.world
	if w.gone {
		return map[string]string{"gone": "true"}
	}
	is := w.pool.Is()
	delete(is, "owner")
	is["says"] = named.ReplaceAllString(w.Objects.Says(), "$1-…")
	if w.Scenario.Has(script.Back) {
		// What is taken back soon may never have been made.
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

// knows is what the pool asks for as a process knows it, in the oracles' words.
func (p *process) knows() oracle.Wanted {
	w := p.world
	mp, o := w.Objects.read(p.cached)
	wanted := oracle.Wanted{Owner: w.Objects.Owner().ID}
	if o != nil {
		if named, ok := o.(infrapool.WrittenFields); ok {
			wanted.Named = w.Scenario.Kind.NamedGroup(named.GetProviderID())
		}
		wanted.Adopt, wanted.Kept = annotated(mp, o, pool.AdoptAnnotation), w.adoption.kept()
		least, most := w.pool.Bounds(o)
		wanted.Min, wanted.Max = int(least), int(most)
		wanted.Deleting = !o.GetDeletionTimestamp().IsZero()
		if id := o.GetAnnotations()[ownership.Annotation]; id != "" {
			wanted.Owner = id
		}
	}
	if mp != nil {
		wanted.Replicas = int(ptr.Deref(mp.Spec.Replicas, 1))
		wanted.External = sizedElsewhere(mp)
		wanted.Surge, wanted.Unavailable = oracle.Share{N: 1}, oracle.Share{}
		wanted.DrainTimeout = time.Duration(ptr.Deref(mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds, 0)) * time.Second
	}
	wanted.Condemned = w.Instances.allCondemned()
	p.asks(mp, o, &wanted)
	return wanted
}

// asks says how machines are to be replaced.
func (p *process) asks(mp *clusterv1.MachinePool, o client.Object, wanted *oracle.Wanted) {
	w := p.world
	if o != nil {
		w.pool.Asks(mp, o, wanted)
	}
	if at := w.Notes.rewritten; !at.IsZero() && time.Since(at) <= restLeast {
		wanted.Keep = 0 // versions are read again later
	}
	wanted.SkipModel = w.Scenario.SkipModel
	wanted.Paused = annotated(mp, o, rolloutAnnotation) == "paused"
	if annotated(mp, o, restartAnnotation) != "" {
		wanted.Restart = w.Rollout.asked()
	}
}

// ByHand tells the oracles of machines that our hand replaces, within the limits of a strategy.
func ByHand(r *common.RollingUpdate, wanted *oracle.Wanted) {
	wanted.ByHand = true
	wanted.Surge, wanted.Unavailable = Share(r.MaxSurge), Share(r.MaxUnavailable)
}

// Share is a limit in the oracles' words.
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

// Itoa is a number as a text, empty where there is none.
func Itoa(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}
