package world

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/oracle"
)

const (
	// restLeast is how long nothing must have been written for all to be quiet: longer than what only Muster changes is
	// taken as read, and than what everybody looks at again.
	restLeast = 11 * time.Minute
	// quietSpells of quietSpell are looked at after that: nothing is written in them, and all of them say the same. In each
	// everybody looks at the cloud once.
	quietSpells, quietSpell = 2, 130 * time.Second
	// restMost is how long it may take until all is quiet.
	restMost = 2 * time.Hour
)

// peace ends all faults and brings the pool into a shape that can be followed.
func (w *World) peace() {
	w.calm()
	w.meeting = nil
	w.Workload.Users.Uncordon()
	for _, p := range w.processes {
		p.crash, p.lagging, p.deafUntil = 0, 0, time.Time{}
	}
	w.own()
	w.dropForeign()
	w.dropCopy()
	w.giveUpAdoption()
	if w.pool.Appease != nil {
		w.pool.Appease()
	}
	if w.Bootstrap() == nil {
		w.rotate()
	}
	w.pause(false)
	w.Annotate(0, rolloutAnnotation, "")
	w.Annotate(1, rolloutAnnotation, "")
	w.EditObject(w.pool.Mend)
	w.within()
	if w.pool.Settle != nil {
		w.pool.Settle()
	}
	w.Trace("event", "peace")
}

// rest waits until nothing is written any more, and no autoscaler has changed the size. Where a drain kept users from taking back a cordon,
// they do so once it has ended.
func (w *World) rest() {
	began := time.Now()
	quiet := began
	for time.Since(began) < restMost && !w.gone {
		w.until(quiet.Add(restLeast))
		switch {
		case w.written.After(quiet):
			quiet = w.written
		case w.account.moved.After(quiet):
			quiet = w.account.moved
		case w.Workload.Users.Uncordon() || w.unjoined() || w.unrolled() || w.busy():
			quiet = time.Now()
		default:
			return
		}
	}
}

// unjoined reports whether a machine is still to join, for as long as that may take.
func (w *World) unjoined() bool {
	return w.pool.Unjoined() && time.Since(w.trace.Began) < w.Scenario.Ends+restMost/2
}

// busy reports whether the cloud is at work on the group by itself, for as long as that may take.
func (w *World) busy() bool {
	return time.Since(w.trace.Began) <= w.Scenario.Ends+restMost && w.pool.Busy != nil && w.pool.Busy()
}

// unrolled reports whether a machine is still to be replaced.
func (w *World) unrolled() bool {
	stale, old := w.Left()
	return stale+old > 0 && time.Since(w.trace.Began) < w.Scenario.Ends+restMost
}

// settledDown looks at what is there once all is quiet, and at a while more.
func (w *World) settledDown() {
	want, is := w.want(), w.pool.Is()
	if size, err := strconv.Atoi(is["size"]); err == nil && want["max"] != "" && w.External() && strconv.Itoa(size) > want["max"] &&
		strings.Contains(w.Says(), "MaxSizePending") {
		delete(want, "max")
		want["ready"] = "False" // the autoscaler has to lower it first, which the condition says
	}
	if w.pool.Forgive != nil {
		w.pool.Forgive(want, is)
	}
	w.leaveOthersTags(want)
	if w.Scenario.Denied != "" {
		delete(want, "exposed") // which machines are protected may be what can't be read
		delete(want, "ready")   // a part that is unknown may be reported there: what is there is counted all the same
	}
	w.Trace("rest", "%s", w.Says())
	w.blameAll("as desired", oracle.AsDesired(want, is))
	var spells []oracle.Pass
	w.since()
	for range quietSpells {
		w.until(time.Now().Add(quietSpell))
		spells = append(spells, oracle.Pass{Writes: w.since(), Said: w.Says()})
	}
	w.blameAll("quiet", oracle.Quiet(spells))
}

// Says is what both objects tell, with times left out.
func (w *World) Says() string {
	mp, o := w.Objects()
	var text []string
	if o != nil {
		text = append(text, w.kind+" "+w.pool.Status(o).State)
		for _, c := range w.pool.Status(o).Conditions {
			text = append(text, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	if mp != nil {
		text = append(text, "MachinePool "+mp.Status.Phase)
		for _, c := range mp.Status.Conditions {
			text = append(text, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	return strings.Join(text, "; ")
}

// readiness is the condition Ready of the infrastructure object.
func (w *World) readiness() []oracle.Readiness {
	_, o := w.Objects()
	if o == nil {
		return []oracle.Readiness{{}}
	}
	c := meta.FindStatusCondition(w.pool.Status(o).Conditions, clusterv1.ReadyCondition)
	if c == nil {
		return []oracle.Readiness{{}}
	}
	return []oracle.Readiness{{Object: w.kind, Status: string(c.Status), Reason: c.Reason, Message: c.Message}}
}

// observed is what the objects say of the group where the cloud decides: its ID, its instances, and the size that the autoscaler has set.
func (w *World) observed() string {
	mp, o := w.Objects()
	if o == nil {
		return ""
	}
	text := ""
	if lists, ok := o.(infrapool.WrittenFields); ok {
		text = fmt.Sprint(lists.GetProviderID(), lists.GetProviderIDList())
	}
	if mp != nil && sizedElsewhere(mp) {
		text += fmt.Sprint(ptr.Deref(mp.Spec.Replicas, 1))
	}
	return text
}

// want is what the objects ask for, in words that nothing of the driver was used for.
func (w *World) want() map[string]string {
	mp, o := w.Objects()
	if mp == nil || o == nil {
		return nil
	}
	want := w.pool.Want(mp, o)
	maps.Copy(want, w.account.notes)
	return want
}

// Told is what the objects' statuses say, beside what there is.
func (w *World) Told(is map[string]string) {
	mp, o := w.Objects()
	if mp == nil || o == nil {
		return
	}
	is["ready nodes"] = Itoa(w.pool.Status(o).ReadyReplicas)
	is["pool ready nodes"], is["pool replicas"] = Itoa(mp.Status.ReadyReplicas), Itoa(mp.Status.Replicas)
	is["pool"] = mp.Status.Phase
	if c := meta.FindStatusCondition(w.pool.Status(o).Conditions, clusterv1.ReadyCondition); c != nil {
		is["ready"] = string(c.Status)
	}
}

// end is what there is at the end, without what differs between two runs that did the same.
func (w *World) end() map[string]string {
	if w.gone {
		return map[string]string{"gone": "true"}
	}
	is := w.pool.Is()
	delete(is, "owner")
	is["says"] = named.ReplaceAllString(w.Says(), "$1-…")
	if w.Scenario.Has(Back) {
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
	if w.gone {
		return
	}
	if w.User.Get(ctx, InfraKey, o) == nil {
		w.released = false
		return
	}
	if !w.released {
		w.released, w.leftovers = true, nil
		if !recent(w.account.owned) {
			w.leftovers = oracle.Left(w.Snapshot(), w.account.owner.ID)
		}
	}
	if w.User.Get(ctx, poolKey, mp) == nil {
		return
	}
	w.gone = true
	w.Trace("gone", "")
	w.blameAll("left", w.leftovers)
}

// knows is what the pool asks for as a process knows it, in the oracles' words.
func (p *process) knows() oracle.Wanted {
	mp, o := p.world.objects(p.cached)
	wanted := oracle.Wanted{Owner: p.world.Owner().ID}
	if o != nil {
		if named, ok := o.(infrapool.WrittenFields); ok {
			wanted.Named = p.world.Scenario.Kind.groupOf(named.GetProviderID())
		}
		wanted.Adopt, wanted.Kept = annotated(mp, o, pool.AdoptAnnotation), p.world.kept()
		least, most := p.world.pool.Bounds(o)
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
	wanted.Condemned = p.world.allCondemned()
	p.asks(mp, o, &wanted)
	return wanted
}

// asks says how machines are to be replaced.
func (p *process) asks(mp *clusterv1.MachinePool, o client.Object, wanted *oracle.Wanted) {
	w := p.world
	if o != nil {
		w.pool.Asks(mp, o, wanted)
	}
	if at := w.account.rewritten; !at.IsZero() && time.Since(at) <= restLeast {
		wanted.Keep = 0 // versions are read again later
	}
	wanted.SkipModel = w.Scenario.SkipModel
	wanted.Paused = annotated(mp, o, rolloutAnnotation) == "paused"
	if annotated(mp, o, restartAnnotation) != "" {
		wanted.Restart = w.asked()
	}
}

// ByHand tells the oracles of machines that our hand replaces, within the limits of a strategy.
func ByHand(s *common.Strategy, wanted *oracle.Wanted) {
	wanted.ByHand = true
	wanted.Surge, wanted.Unavailable = Share(s.RollingUpdate.MaxSurge), Share(s.RollingUpdate.MaxUnavailable)
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
