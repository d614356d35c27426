package status

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Reasons of events. docs/conditions.md lists them.
const (
	NodeRefsChanged           = "SuccessfulSetNodeRefs"
	BootstrapDataReady        = "BootstrapDataReady"
	InfrastructureProvisioned = "InfrastructureProvisioned"
	BootstrapRefused          = "BootstrapRefused"
	NodesDeleted              = "SuccessfulDeleteNode"
	NodesLeft                 = "NodesLeft"
	MachinesCreated           = "SuccessfulCreateMachine"
	MachinesDeleted           = "SuccessfulDeleteMachine"
	MachineUnhealthy          = "UnhealthyMachine"
)

// Event is one event of a pool that has not been recorded yet.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Message string
	// Related is the first object that the message names, nil if it is about the pool alone. The events API treats two events of one
	// reason as the same, and drops the message of the second, unless they are related to different objects.
	Related *corev1.ObjectReference
}

// WarningEvent returns an event that users may have to act on.
func WarningEvent(reason, format string, args ...any) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// NormalEvent returns an event about the pool alone.
func NormalEvent(reason, format string, args ...any) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// RelatedToNode returns the event with a Node as its related object.
func (e Event) RelatedToNode(name string) Event {
	e.Related = &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name}
	return e
}

// RelatedToMachine returns the event with a Machine as its related object.
func (e Event) RelatedToMachine(namespace, name string) Event {
	e.Related = &corev1.ObjectReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Namespace: namespace, Name: name}
	return e
}

// EventsOf returns the events for what has changed between the stored status of a pool and the one that is about to be written. restored
// is true if the stored status was lost in a move or a restore: what had happened before is not recorded again.
func EventsOf(before, after *clusterv1.MachinePoolStatus, f Facts, o Outcome, restored bool) []Event {
	var all []Event
	if !restored && becameTrue(before.Initialization.BootstrapDataSecretCreated, after.Initialization.BootstrapDataSecretCreated) {
		all = append(all, NormalEvent(BootstrapDataReady, "Bootstrap data is ready"))
	}
	if !restored && becameTrue(before.Initialization.InfrastructureProvisioned, after.Initialization.InfrastructureProvisioned) {
		all = append(all, NormalEvent(InfrastructureProvisioned, "%s is provisioned", o.Infrastructure))
	}
	if problem := f.BootstrapProblem; problem != nil && reasonOf(before, clusterv1.BootstrapConfigReadyCondition) != problem.Reason {
		all = append(all, WarningEvent(BootstrapRefused, "%s", problem.Message))
	}
	if slices.Equal(after.NodeRefs, before.NodeRefs) {
		return all
	}
	joined, left := added(before.NodeRefs, after.NodeRefs), added(after.NodeRefs, before.NodeRefs)
	if o.Nodes != nil {
		joined = slices.DeleteFunc(joined, func(name string) bool { return o.Nodes.BeforePool[name] })
	}
	if len(joined)+len(left) == 0 {
		return all
	}
	first := append(slices.Clone(joined), left...)[0]
	return append(all, NormalEvent(NodeRefsChanged, "%s; nodes now: %d", describe(joined, left), len(after.NodeRefs)).RelatedToNode(first))
}

func becameTrue(before, after *bool) bool {
	return after != nil && *after && (before == nil || !*before)
}

func reasonOf(s *clusterv1.MachinePoolStatus, conditionType string) string {
	for i := range s.Conditions {
		if s.Conditions[i].Type == conditionType {
			return s.Conditions[i].Reason
		}
	}
	return ""
}

// added returns the sorted names of the references in after that are not in before.
func added(before, after []corev1.ObjectReference) []string {
	have := make(map[string]bool, len(before))
	for i := range before {
		have[before[i].Name+string(before[i].UID)] = true
	}
	var names []string
	for i := range after {
		if !have[after[i].Name+string(after[i].UID)] {
			names = append(names, after[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

func describe(joined, left []string) string {
	var parts []string
	if len(joined) > 0 {
		parts = append(parts, FirstNames(joined)+" joined")
	}
	if len(left) > 0 {
		parts = append(parts, FirstNames(left)+" left")
	}
	return strings.Join(parts, ", ")
}

// NoteLimit is the limit of the API for the text of an event, in bytes. It rejects longer ones.
const NoteLimit = 1024

// eventAction is the action of all events, which the events API requires.
const eventAction = "Reconcile"

// RecordEvents records events of a pool, also of one that has been deleted meanwhile. A recorder of nil records none.
func RecordEvents(recorder events.EventRecorder, pool *clusterv1.MachinePool, all []Event) {
	if recorder == nil {
		return
	}
	for _, e := range all {
		note := e.Message
		if len(note) > NoteLimit {
			note = strings.ToValidUTF8(note[:NoteLimit-len("...")], "") + "..."
		}
		var related runtime.Object
		if e.Related != nil {
			related = e.Related
		}
		recorder.Eventf(pool, related, e.Type, e.Reason, eventAction, "%s", note)
	}
}
