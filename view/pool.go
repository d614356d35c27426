// Package view shows the state of machine pools, live or once, and changes nothing.
package view

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// readyCondition is the summary that every infrastructure kind sets.
const readyCondition = "Ready"

// Pool is one row of the table, and one line of the page. A count that is nil is unknown.
type Pool struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Cluster   string `json:"cluster"`
	// Infrastructure is the infrastructure object, which may not exist.
	Infrastructure Reference `json:"infrastructure"`

	Desired  *int32 `json:"desired,omitempty"`
	Current  *int32 `json:"current,omitempty"`
	Ready    *int32 `json:"ready,omitempty"`
	UpToDate *int32 `json:"upToDate,omitempty"`
	// State is the pool's state in one word.
	State string `json:"state"`
	// Level classifies the state.
	Level Level `json:"level"`
	// Message is the most important sentence about the pool's state: why it is not ready, or that it is.
	Message string `json:"message,omitempty"`
	// Problems are the conditions that should be true and are not, each as "object: type: message".
	Problems []string  `json:"problems,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	// Since is the time of the last change of the condition that Message is of; zero if there is none.
	Since time.Time `json:"since,omitzero"`
	// Settled is true if every machine that the pool asks for is Ready, that there are no others, and that this was
	// observed for what the pool asks for now.
	Settled bool `json:"settled"`
}

// Reference names an object of the pool's namespace.
type Reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// PoolOf reads a pool from its object and its infrastructure object, which is nil as long as there is none.
func PoolOf(mp *clusterv1.MachinePool, infra *unstructured.Unstructured) Pool {
	p := Pool{
		Namespace: mp.Namespace, Name: mp.Name, Cluster: mp.Spec.ClusterName, Created: mp.CreationTimestamp.Time,
		Desired:  mp.Spec.Replicas,
		Current:  first(mp.Status.Replicas, count(infra, "replicas")),
		Ready:    first(mp.Status.ReadyReplicas, count(infra, "readyReplicas")),
		UpToDate: first(mp.Status.UpToDateReplicas, count(infra, "upToDateReplicas")),
		State:    state(mp, infra),
	}
	ref := mp.Spec.Template.Spec.InfrastructureRef
	p.Infrastructure = Reference{Kind: ref.Kind, Name: ref.Name}
	theirs := Conditions(infra)
	cause := Cause(infra)
	if c := summary(mp, theirs, cause); c != nil {
		p.Message, p.Since = OneLine(c.Message), c.LastTransitionTime.Time
	}
	p.Problems = problems(mp, infra, theirs)
	p.Settled = mp.DeletionTimestamp.IsZero() && mp.Status.ObservedGeneration == mp.Generation &&
		equal(p.Desired, p.Current) && equal(p.Desired, p.Ready) && cause == nil
	p.Level = level(mp, p, infra != nil, cause)
	return p
}

// Line returns the pool in one line, for outputs that can't be redrawn.
func (p Pool) Line() string {
	line := fmt.Sprintf("%s/%s: %s ready, %s up to date", p.Namespace, p.Name, p.Readiness(), number(p.UpToDate))
	if p.State != "" {
		line += ", " + p.State
	}
	if p.Message != "" {
		line += ": " + p.Message
	}
	return line
}

// Readiness returns the numbers of Ready and desired machines, as in 2/3.
func (p Pool) Readiness() string { return number(p.Ready) + "/" + number(p.Desired) }

// state returns the state of the infrastructure object if it has one, because that is more specific than the phase of the core object.
func state(mp *clusterv1.MachinePool, infra *unstructured.Unstructured) string {
	if infra != nil {
		if s, _, _ := unstructured.NestedString(infra.Object, "status", "state"); s != "" {
			return s
		}
	}
	return mp.Status.Phase
}

// stateError is the state of a pool that does not go on by itself.
const stateError = "Error"

// Cause returns the condition that explains the failure of a pool's infrastructure object: Ready if that is not True, else, for an object
// in the state Error, the first that is not True, or Ready with the state. It is nil for an object without failure.
func Cause(infra *unstructured.Unstructured) *metav1.Condition {
	if infra == nil {
		return nil
	}
	theirs := Conditions(infra)
	ready := meta.FindStatusCondition(theirs, readyCondition)
	if ready != nil && ready.Status != metav1.ConditionTrue {
		return ready
	}
	if s, _, _ := unstructured.NestedString(infra.Object, "status", "state"); s != stateError {
		return nil
	}
	for _, t := range summed {
		if c := meta.FindStatusCondition(theirs, t); c != nil && c.Status != metav1.ConditionTrue {
			return c
		}
	}
	c := &metav1.Condition{Type: readyCondition, Status: metav1.ConditionFalse, Reason: stateError, Message: "the state is Error"}
	if ready != nil && ready.Message != "" {
		c.LastTransitionTime, c.Message = ready.LastTransitionTime, c.Message+": "+ready.Message
	}
	return c
}

// summed are the conditions that Ready sums up.
var summed = []string{"GroupReady", "TemplateReady", "PrerequisitesReady", "UpToDate", "InstancesReady"}

// summary selects the condition whose sentence is shown, in this order: the progress of deletion, the reason for missing bootstrap data
// (everything else waits for it), the failure of the infrastructure, its summary, the one of the core object.
func summary(mp *clusterv1.MachinePool, theirs []metav1.Condition, cause *metav1.Condition) *metav1.Condition {
	own := mp.Status.Conditions
	if !mp.DeletionTimestamp.IsZero() {
		return firstWithMessage(meta.FindStatusCondition(theirs, clusterv1.DeletingCondition),
			meta.FindStatusCondition(own, clusterv1.DeletingCondition))
	}
	if c := meta.FindStatusCondition(own, clusterv1.BootstrapConfigReadyCondition); c != nil && c.Status == metav1.ConditionFalse &&
		c.Message != "" {
		return c
	}
	return firstWithMessage(cause, meta.FindStatusCondition(theirs, readyCondition),
		meta.FindStatusCondition(own, clusterv1.InfrastructureReadyCondition),
		meta.FindStatusCondition(own, clusterv1.AvailableCondition))
}

func firstWithMessage(conditions ...*metav1.Condition) *metav1.Condition {
	for _, c := range conditions {
		if c != nil && c.Message != "" {
			return c
		}
	}
	return nil
}

// problems lists the conditions that should be true and are not. Conditions about ongoing operations (ScalingUp, Deleting, Paused) are no
// problems by themselves.
func problems(mp *clusterv1.MachinePool, infra *unstructured.Unstructured, theirs []metav1.Condition) []string {
	all := untrue("MachinePool", mp.Status.Conditions, clusterv1.BootstrapConfigReadyCondition, clusterv1.InfrastructureReadyCondition,
		clusterv1.AvailableCondition)
	if infra == nil {
		ref := mp.Spec.Template.Spec.InfrastructureRef
		return append(all, fmt.Sprintf("%s %q does not exist", ref.Kind, ref.Name))
	}
	return append(all, untrue(infra.GetKind(), theirs, readyCondition, "TemplateReady", "PrerequisitesReady", "GroupReady", "InstancesReady",
		"UpToDate")...)
}

// untrue lists those conditions of some types that are not true. Types that say the same share a line.
func untrue(object string, conditions []metav1.Condition, types ...string) []string {
	var lines []string
	shared := map[string][]string{}
	for _, t := range types {
		c := meta.FindStatusCondition(conditions, t)
		if c == nil || c.Status == metav1.ConditionTrue {
			continue
		}
		line := fmt.Sprintf("%s (%s): %s", c.Status, c.Reason, OneLine(c.Message))
		if shared[line] == nil {
			lines = append(lines, line)
		}
		shared[line] = append(shared[line], t)
	}
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%s: %s is %s", object, strings.Join(shared[line], ", "), line)
	}
	return lines
}

// Conditions reads status.conditions in the shape that Kubernetes' own conditions have; nil without an object.
func Conditions(u *unstructured.Unstructured) []metav1.Condition {
	if u == nil {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	all := make([]metav1.Condition, 0, len(list))
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { s, _ := m[key].(string); return s }
		c := metav1.Condition{Type: text("type"), Status: metav1.ConditionStatus(text("status")), Reason: text("reason"),
			Message: text("message")}
		if since, err := time.Parse(time.RFC3339, text("lastTransitionTime")); err == nil {
			c.LastTransitionTime = metav1.NewTime(since)
		}
		all = append(all, c)
	}
	return all
}

// count reads a number of the status; nil when it is not there.
func count(u *unstructured.Unstructured, field string) *int32 {
	if u == nil {
		return nil
	}
	n, ok, err := unstructured.NestedInt64(u.Object, "status", field)
	if !ok || err != nil {
		return nil
	}
	short := int32(min(max(n, 0), 1<<31-1)) // a count beyond what the API's own type holds is not told apart
	return &short
}

func first(a, b *int32) *int32 {
	if a != nil {
		return a
	}
	return b
}

func equal(a, b *int32) bool { return a != nil && b != nil && *a == *b }

// OneLine joins the lines of a message; the items of a list, which cluster-api marks with stars, become parts of the sentence.
func OneLine(s string) string {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "* "), "\n* ", "; ")
	return strings.Join(strings.Fields(s), " ")
}
