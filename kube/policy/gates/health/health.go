// Package health reads the health or a condition of an object of any kind. It tells of an object nothing but the type and the status of one
// condition, or one word of health: what it tells reaches users who may not be able to read the object.
package health

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/kube/policy/gates"
)

// application is the kind whose health is a word and not a condition.
var application = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// readyTypes lists the conditions that report the health of an object. The first one that the object has counts.
var readyTypes = []string{"Ready", "Healthy", "Available"}

// unknownStatus is the status of a condition that its controller does not know.
const unknownStatus = string(metav1.ConditionUnknown)

// Of returns what an object means to a gate.
//
// healthy reads status.health.status of an Application: Healthy is positive, Degraded and Missing are negative, anything else (Progressing,
// Suspended) decides nothing. Of any other kind it reads the first of the conditions Ready, Healthy and Available.
func Of(o *unstructured.Unstructured, want gates.Condition) gates.Sample {
	name := want.Kind + " " + want.Name
	if behind(o.Object, o.GetGeneration(), "status", "observedGeneration") {
		return gates.UndecidedSample(name + ": its controller has not observed its current generation yet")
	}
	if !want.Healthy {
		return byCondition(o, name, want.Type, want.Status)
	}
	if o.GroupVersionKind().GroupKind() == application {
		return byWord(o, name)
	}
	for _, kind := range readyTypes {
		if conditionOf(o, kind) != nil {
			return byCondition(o, name, kind, string(metav1.ConditionTrue))
		}
	}
	return gates.UndecidedSample(name + ": has none of the conditions " + strings.Join(readyTypes, ", "))
}

// byWord judges the health of an Application.
func byWord(o *unstructured.Unstructured, name string) gates.Sample {
	word, _, err := unstructured.NestedString(o.Object, "status", "health", "status")
	if err != nil {
		word = ""
	}
	verdict := gates.Undecided
	switch word {
	case "Healthy":
		verdict = gates.Positive
	case "Degraded", "Missing":
		verdict = gates.Negative
	case "Progressing", "Suspended":
	default:
		return gates.UndecidedSample(name + ": its health is not known")
	}
	return gates.Sample{Verdict: verdict, Value: word, Message: name + ": its health is " + word}
}

// byCondition judges one condition.
func byCondition(o *unstructured.Unstructured, name, kind, want string) gates.Sample {
	found := conditionOf(o, kind)
	if found == nil {
		return gates.UndecidedSample(name + ": has no condition " + kind)
	}
	if behind(found, o.GetGeneration(), "observedGeneration") {
		return gates.UndecidedSample(name + ": condition " + kind + " is that of an older generation")
	}
	status, ok := found["status"].(string)
	if !ok || !oneOf(status) {
		return gates.UndecidedSample(name + ": condition " + kind + " has no status")
	}
	sample := gates.Sample{Verdict: gates.Negative, Value: status, Message: name + ": condition " + kind + " is " + status}
	switch status {
	case want:
		sample.Verdict = gates.Positive
	case unknownStatus:
		sample.Verdict = gates.Undecided
	}
	return sample
}

// oneOf reports whether a status is one that conditions have.
func oneOf(status string) bool {
	return status == string(metav1.ConditionTrue) || status == string(metav1.ConditionFalse) || status == unknownStatus
}

// conditionOf returns the condition of a type; nil if the object has none.
func conditionOf(o *unstructured.Unstructured, kind string) map[string]any {
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return nil
	}
	for _, one := range all {
		if c, ok := one.(map[string]any); ok && c["type"] == kind {
			return c
		}
	}
	return nil
}

// behind reports whether the observed generation at a path is older than the generation of the object. An object without one is not.
func behind(from map[string]any, generation int64, path ...string) bool {
	observed, found, err := unstructured.NestedInt64(from, path...)
	return err == nil && found && observed < generation
}
