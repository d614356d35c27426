package machines

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// CauseAnnotation on a Machine is why the pool has deleted it, as REASON: MESSAGE.
	CauseAnnotation = "muster.dev/removal-cause"
	// HoldAnnotation is a hook of Cluster API's that holds the deletion of a Machine before its drain while it has no infrastructure machine.
	HoldAnnotation = clusterv1.PreDrainDeleteHookAnnotationPrefix + "/muster-infrastructure-machine"
	// DetachedAnnotation marks a Machine or an infrastructure machine that is deleted without its instance, because the pool has no Machines
	// any more. It is set before anything else is done.
	DetachedAnnotation = "muster.dev/detached"
	// machineDeleted is the reason of an instance whose Machine another client has deleted.
	machineDeleted = "MachineDeleted"
	// InstanceUIDAnnotation on an infrastructure machine is the UID of the instance that it stands for, where the cloud gives an
	// instance's ID to another one when its group is deleted and created again.
	InstanceUIDAnnotation = "muster.dev/instance-uid"
)

// Machine describes one Machine of the pool.
type Machine struct {
	Object *clusterv1.Machine
	// Infra is the name of its infrastructure machine.
	Infra string
	// Deleting is true if it is being deleted, Detached if this is without its instance, Paused if it must not be changed.
	Deleting, Detached, Paused bool
	// Held is true if a hook holds its deletion until its infrastructure machine exists.
	Held bool
	// ReusedID is true if the cloud gives its provider ID to another instance when the group is created again (Kind.ReusesID).
	ReusedID bool
	// Marked is true if its instance is removed before others.
	Marked bool
}

// Infra describes one infrastructure machine of the pool.
type Infra struct {
	Object client.Object
	// Key is the provider key of its instance, empty when it names none.
	Key string
	// UID is that of its instance, empty when it is not known. Place is true if it stands for whichever instance has its ID.
	UID   string
	Place bool
	// ReusedID is true if the cloud gives its provider ID to another instance when the group is created again (Kind.ReusesID).
	ReusedID bool
	// Machine is the Machine that it belongs to; nil when there is none, or none yet.
	Machine                    *Machine
	Deleting, Detached, Paused bool
	// Marked is true if its instance is removed before others.
	Marked bool
	// Finalized is true if the finalizer of the kind keeps it.
	Finalized bool
	// Orphaned is true if no owner reference names the pool as it is now: it was dropped, or names the pool as it was before a restore.
	Orphaned bool
}

// Index holds the machines of one pool, as the management cluster has them.
type Index struct {
	Infras []Infra
	// Alone are Machines whose infrastructure machine does not exist.
	Alone []*Machine
}

// BuildIndex joins infrastructure machines and Machines of the pool whose infrastructure object has the UID. Machines of other kinds do not
// belong to the pool.
func BuildIndex(k Kind, owner types.UID, infras []client.Object, list []clusterv1.Machine) Index {
	byInfra := map[string]*Machine{}
	var names []string
	for i := range list {
		m := machineOf(&list[i])
		m.ReusedID = k.reuses(list[i].Spec.ProviderID)
		if !k.is(list[i].Spec.InfrastructureRef) {
			continue
		}
		byInfra[m.Infra] = m
		names = append(names, m.Infra)
	}
	var out Index
	for _, o := range infras {
		out.Infras = append(out.Infras, Infra{
			Object: o, Key: cloud.ProviderKey(k.ProviderID(o)), UID: k.uidOf(o), Place: k.Places, ReusedID: k.reuses(k.ProviderID(o)),
			Machine:  byInfra[o.GetName()],
			Deleting: going(o), Detached: detached(o), Paused: annotations.HasPaused(o), Marked: marked(o), Finalized: k.Holds(o),
			Orphaned: !ownedBy(o, owner),
		})
		delete(byInfra, o.GetName())
	}
	slices.SortFunc(out.Infras, func(a, b Infra) int { return strings.Compare(a.Object.GetName(), b.Object.GetName()) })
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if m, ok := byInfra[name]; ok {
			out.Alone = append(out.Alone, m)
		}
	}
	return out
}

// uidOf is the UID of the instance that an object stands for, where it stands for that one alone.
func (k Kind) uidOf(o client.Object) string {
	if k.Places {
		return ""
	}
	return o.GetAnnotations()[InstanceUIDAnnotation]
}

func machineOf(m *clusterv1.Machine) *Machine {
	return &Machine{
		Object: m, Infra: m.Spec.InfrastructureRef.Name, Marked: marked(m),
		Deleting: going(m), Detached: detached(m), Paused: annotations.HasPaused(m) && !detached(m), Held: onHold(m),
	}
}

func going(o client.Object) bool { return !o.GetDeletionTimestamp().IsZero() }

func marked(o client.Object) bool {
	_, ok := o.GetAnnotations()[clusterv1.DeleteMachineAnnotation]
	return ok
}

func detached(o client.Object) bool {
	_, ok := o.GetAnnotations()[DetachedAnnotation]
	return ok
}

// Consequences holds, by provider key, the effects of the machines on the decision about their instances.
type Consequences struct {
	// Marked instances go before others.
	Marked map[string]bool
	// DeletionRequested instances are to be removed by name, with the reason.
	DeletionRequested map[string]pool.Cause
	// Guards have to let instances go first.
	Guards map[string]pool.Guard
	// Holds are until when users keep instances from being replaced; zero is without an end.
	Holds map[string]time.Time
	// UIDs are those of the instances in DeletionRequested and Guards, as far as they are known.
	UIDs map[string]string
}

// Evaluate returns what follows from the machines. If guarded is false, nothing is waited for, because no controller could release an
// instance.
func (k Index) Evaluate(kind Kind, on, guarded bool, now time.Time) Consequences {
	out := Consequences{Marked: map[string]bool{}, DeletionRequested: map[string]pool.Cause{}, Guards: map[string]pool.Guard{},
		UIDs: map[string]string{}}
	for _, i := range k.Infras {
		if i.Key == "" {
			continue
		}
		if i.marked() {
			out.Marked[i.Key] = true
		}
		out.hold(i)
		if i.goes() && i.UID != "" {
			out.UIDs[i.Key] = i.UID
		}
		if cause := i.deletionRequested(kind); cause != nil {
			out.DeletionRequested[i.Key] = *cause
		}
		if guarded && i.guards(on) {
			out.Guards[i.Key] = i.guard(now)
		}
	}
	if on {
		k.held(out, guarded, now)
	}
	return out
}

// Former returns the Machines that are being deleted, or whose infrastructure machine is, and whose provider IDs a group that is created
// again gives to other instances. The controller of Machines finds a Node by its provider ID: it would drain and delete the new one.
func (k Index) Former() []string {
	var out []string
	for _, i := range k.Infras {
		if i.Machine != nil && i.goes() && i.ReusedID {
			out = append(out, i.Machine.Object.Name)
		}
	}
	for _, m := range k.Alone {
		if m.Deleting && m.ReusedID {
			out = append(out, m.Object.Name)
		}
	}
	return out
}

// Keys returns the provider keys of all machines.
func (k Index) Keys() []string {
	var out []string
	add := func(key string) {
		if key != "" {
			out = append(out, key)
		}
	}
	for _, i := range k.Infras {
		add(i.Key)
	}
	for _, m := range k.Alone {
		add(cloud.ProviderKey(m.Object.Spec.ProviderID))
	}
	return out
}

// marked reports whether the instance is removed before others.
func (i Infra) marked() bool { return i.Marked || i.Machine != nil && i.Machine.Marked }

// goes reports whether it, or its Machine, is being deleted.
func (i Infra) goes() bool { return i.Deleting || i.Machine != nil && i.Machine.Deleting }

// of reports whether it stands for an instance that has its ID. One that is being deleted does not where another instance has been given
// the ID since; one that stays is handed on to it, and so is one that another client deleted when that instance existed already. The pool
// deletes a Machine for the instance that it stands for.
func (i Infra) of(seen *pool.Instance) bool {
	return !i.goes() || sameInstance(i.UID, seen.UID) || !i.deletedByPool() && i.deletedAfter(seen.Created)
}

// deletedByPool reports whether the pool has deleted its Machine.
func (i Infra) deletedByPool() bool {
	return i.Machine != nil && i.Machine.Deleting && i.Machine.Object.Annotations[CauseAnnotation] != ""
}

// deletedAfter reports whether nothing of it was deleted before the moment, which is zero when it is not known. Deletion timestamps are
// whole seconds: in the second of the moment the order is unknown, and the deletion counts as later, because an instance that goes for it
// is drained.
func (i Infra) deletedAfter(moment time.Time) bool {
	before := func(o client.Object) bool {
		return going(o) && o.GetDeletionTimestamp().Time.Before(moment.Truncate(time.Second))
	}
	return !moment.IsZero() && !before(i.Object) && (i.Machine == nil || !before(i.Machine.Object))
}

// deletionRequested returns why the removal of the instance was requested, or nil.
func (i Infra) deletionRequested(kind Kind) *pool.Cause {
	switch m := i.Machine; {
	case m != nil && m.Deleting && !m.Detached:
		return m.cause()
	case i.Deleting && !i.Detached && !i.abandoned():
		return &pool.Cause{Reason: kind.Name + "Deleted", Message: fmt.Sprintf("%s %s is being deleted", kind.Name, i.Object.GetName())}
	}
	return nil
}

// guards reports whether its Machine has to let the instance go first. on is true in a pool that has Machines; in another only those do
// that are being deleted.
func (i Infra) guards(on bool) bool {
	m := i.Machine
	return m != nil && (on || m.Deleting) && !m.Detached && !i.deletedAlone() && !i.drainSkipped()
}

// cause is why the Machine was deleted.
func (m *Machine) cause() *pool.Cause {
	if reason, message, ok := strings.Cut(m.Object.Annotations[CauseAnnotation], ": "); ok {
		return &pool.Cause{Reason: reason, Message: message}
	}
	return &pool.Cause{Reason: machineDeleted, Message: fmt.Sprintf("Machine %s is being deleted", m.Object.Name)}
}

// guard is the Machine as the one that releases its instance. It has done so when its controller has deleted the infrastructure machine.
// An infrastructure machine that a user deleted proves nothing before the controller has seen it: its condition does.
func (i Infra) guard(now time.Time) pool.Guard {
	m := i.Machine
	g := pool.Guard{Requested: m.Deleting, Released: m.Deleting && i.Deleting && m.pastDrain(), WaitReasons: m.waits(now)}
	if g.Released && !m.drainExcluded() {
		g.DrainEnded = i.releasedAt()
	}
	return g
}

func (m *Machine) pausedText() string {
	return fmt.Sprintf("Machine %s, which has the annotation %s", m.Object.Name, clusterv1.PausedAnnotation)
}

// times matches the start times in messages of Cluster API.
var times = regexp.MustCompile(` ?\((started at|since) [^)]*\)`)

// waitsLimit bounds the number of lines that are reported of one Machine.
const waitsLimit = 3

// waits returns what keeps the Machine's deletion from going on. A pod that terminates is progress, until the drain has taken longDrain.
func (m *Machine) waits(now time.Time) []string {
	if m.Paused {
		return []string{m.pausedText()}
	}
	messages := lines(m.Object)
	if d := m.Object.Status.Deletion; d == nil || d.NodeDrainStartTime.IsZero() || now.Sub(d.NodeDrainStartTime.Time) < longDrain {
		messages = slices.DeleteFunc(messages, progresses)
	}
	return bounded(m.Object, messages)
}

// longDrain is the duration of a drain after which terminating pods are reported as its obstacle. The controller of Machines reports a
// deletion as delayed after the same time.
const longDrain = 15 * time.Minute

// progresses reports whether a line of the Machine's condition Deleting reports only that evicted pods terminate, or what follows then.
func progresses(line string) bool {
	return strings.HasSuffix(line, "deletionTimestamp set, but still not removed from the Node") ||
		strings.HasPrefix(line, "After above Pods have been removed from the Node")
}

// WaitReasons returns what the deletion of a Machine waits for, as its own controller reports it, without times; nothing if it reports
// none.
func WaitReasons(m *clusterv1.Machine) []string { return bounded(m, lines(m)) }

// lines returns the lines of the condition Deleting of a Machine.
func lines(m *clusterv1.Machine) []string {
	c := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineDeletingCondition)
	if c == nil || m.DeletionTimestamp.IsZero() || c.Reason == clusterv1.MachineDeletingReason || c.Message == "" {
		return nil
	}
	if c.Reason != clusterv1.MachineDeletingDrainingNodeReason {
		return []string{fmt.Sprintf("Machine %s: %s", m.Name, times.ReplaceAllString(c.Message, ""))}
	}
	var out []string
	messages := strings.Split(times.ReplaceAllString(c.Message, ""), "\n")
	if len(messages) > 1 {
		messages = messages[1:]
	}
	for _, line := range messages {
		if line = strings.TrimSpace(strings.TrimLeft(line, "* ")); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// bounded returns the first few lines, and how many more there are.
func bounded(m *clusterv1.Machine, list []string) []string {
	if len(list) == 0 {
		return nil
	}
	if len(list) > waitsLimit {
		return append(list[:waitsLimit:waitsLimit], fmt.Sprintf("%d more lines of condition Deleting of Machine %s", len(list)-waitsLimit,
			m.Name))
	}
	return list
}
