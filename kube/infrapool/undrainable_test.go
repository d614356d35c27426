package infrapool_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/nodes"
)

// undrainable has nodes that can't be drained within half an hour treated by an action.
func undrainable(action common.UndrainableAction) func(o *awsv1.AWSMachinePool) {
	return func(o *awsv1.AWSMachinePool) {
		rolling(o)
		o.Spec.Strategy.Undrainable = &common.Undrainable{Action: action, After: &metav1.Duration{Duration: 30 * time.Minute}}
	}
}

// stays puts a pod onto the node of an instance that no drain evicts.
func (w *world) stays(pod, instance string) *corev1.Pod {
	w.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod,
		Labels: map[string]string{clusterv1.PodDrainLabel: "wait-completed"}},
		Spec: corev1.PodSpec{NodeName: "node-" + instance}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	if err := w.workload.Create(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// drainsFor rolls until a moment after the start of the drain of an instance.
func (w *world) drainsFor(instance string, after time.Duration) {
	w.t.Helper()
	for range 400 {
		n := w.node("node-" + instance)
		at, err := time.Parse(time.RFC3339, n.Annotations[nodes.DrainStartedAnnotation])
		if err == nil && !w.now.Before(at.Add(after)) {
			return
		}
		w.pass()
		w.now = w.now.Add(min(max(w.again, time.Second), 30*time.Second))
		if err == nil {
			w.now = minTime(w.now, at.Add(after))
		}
		w.account.boot()
	}
	w.t.Fatalf("%s was not drained for %s", instance, after)
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// stuckRollout has begun to replace two machines, of which the first can't be drained.
func stuckRollout(t *testing.T, action common.UndrainableAction) (*world, *corev1.Pod) {
	w := running(t, machinePool(), awsMachinePool(undrainable(action)), cluster(), place(), data(), definition())
	pod := w.stays("batch", "i-1")
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
	w.account.take()
	w.roll(8)
	return w, pod
}

// TestQuarantine holds that a rollout goes on beside a node that can't be drained, that a restart changes nothing, and that the machine
// goes when its pod does.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	w, pod := stuckRollout(t, common.UndrainableQuarantine)
	w.drainsFor("i-1", 29*time.Minute)
	w.pass()
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Resize"}) || nodes.Quarantined(w.node("node-i-1")) {
		t.Fatalf("want one launched and the other waited for, got %q and %+v", got, w.node("node-i-1").Labels)
	}
	w.happened()
	w.drainsFor("i-1", 30*time.Minute)
	w.roll(25)
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Replace i-2"}) {
		t.Errorf("want the other replaced, got %q\n%s", got, w.say())
	}
	if n := w.node("node-i-1"); !nodes.Quarantined(n) || !n.Spec.Unschedulable {
		t.Errorf("want the node cordoned and labelled, got %+v of %+v", n.Labels, n.Spec)
	}
	if events := w.happened(); !contains(events, "Warning NodeQuarantined") {
		t.Errorf("want an event, got %q", events)
	}
	r, c := w.get().Status.Rollout, w.condition(report.UpToDate)
	if r == nil || !slices.Equal(r.Quarantined, []string{"node-i-1"}) || r.State != "Ended" || c.Reason != "Quarantined" {
		t.Errorf("want the rollout ended beside the node, got %+v and %+v", r, c)
	}
	if c := w.condition(report.Draining); c.Reason != "Quarantined" {
		t.Errorf("want the condition to tell what keeps the node, got %+v", c)
	}
	w.restart()
	w.roll(3)
	writes := len(w.writes)
	if w.pass(); len(w.writes) != writes || len(only(w.account.take(), replacing...)) > 0 {
		t.Errorf("want nothing done while nothing changes, got %q", w.writes[writes:])
	}
	if err := w.workload.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	w.roll(12)
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Remove i-1"}) {
		t.Errorf("want the machine removed with the surge, got %q\n%s", got, w.say())
	}
	if events := w.happened(); !contains(events, "Normal NodeReleased") {
		t.Errorf("want an event of the release, got %q", events)
	}
	if r := w.get().Status.Rollout; len(r.Quarantined) > 0 {
		t.Errorf("want nothing quarantined any more, got %+v", r)
	}
}

// TestQuarantineIsGivenUp holds that a machine that is wanted again serves again, without the label.
func TestQuarantineIsGivenUp(t *testing.T) {
	t.Parallel()
	w, _ := stuckRollout(t, common.UndrainableQuarantine)
	w.drainsFor("i-1", 30*time.Minute)
	w.roll(3)
	if !nodes.Quarantined(w.node("node-i-1")) {
		t.Fatalf("want the node quarantined\n%s", w.say())
	}
	w.happened()
	before := awsMachinePool().Spec.AWSLaunchTemplate.InstanceType
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = before })
	w.roll(4)
	if n := w.node("node-i-1"); n.Spec.Unschedulable || n.Labels[nodes.QuarantinedLabel] != "" {
		t.Errorf("want the node open and without the label, got %+v of %+v", n.Labels, n.Spec)
	}
	if events := w.happened(); !contains(events, "Normal NodeReleased") {
		t.Errorf("want an event of the release, got %q", events)
	}
}

// TestForce holds that a machine whose pod stays is removed when its time has come, and never before.
func TestForce(t *testing.T) {
	t.Parallel()
	w, _ := stuckRollout(t, common.UndrainableForce)
	w.drainsFor("i-1", 30*time.Minute-time.Second)
	w.pass()
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Resize"}) {
		t.Fatalf("want nothing removed before its time, got %q", got)
	}
	w.happened()
	w.drainsFor("i-1", 30*time.Minute)
	w.pass()
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Replace i-1"}) {
		t.Errorf("want the machine removed at its time, got %q\n%s", got, w.say())
	}
	if events := w.happened(); !contains(events, "Warning DrainTimedOut") {
		t.Errorf("want the pods that were left in an event, got %q", events)
	}
}
