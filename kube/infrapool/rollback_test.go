package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
)

// canary watches the first new machine for an hour.
func canary(o *awsv1.AWSMachinePool) {
	o.Spec.Strategy = &awsv1.Strategy{Pace: common.Pace{Waves: []intstr.IntOrString{intstr.FromInt32(1)},
		Soak: common.Soak{First: &metav1.Duration{Duration: time.Hour}}}}
}

// rollsBack is a pool whose failed rollouts are rolled back, if so is asked for.
func rollsBack(t *testing.T, action musterv1.RolloutFailureAction) *world {
	t.Helper()
	return running(t, machinePool(), awsMachinePool(canary), cluster(), place(), data(), definition(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other"}, Data: data().Data},
		&musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: musterv1.RolloutPolicySpec{OnFailure: action}})
}

// edit sets another instance type, and lets the first machine of it join.
func (w *world) edit(also ...func(*clusterv1.MachinePool)) {
	w.t.Helper()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.bad" })
	for _, f := range also {
		change(w, machinePool(), f)
	}
	w.roll(12)
	if got := w.condition(report.UpToDate); got.Reason != "Soaking" {
		w.t.Fatalf("want the first machine watched:\n%s", w.say())
	}
}

// fail turns the nodes of the machines with the edited template unready.
func (w *world) fail() {
	w.t.Helper()
	w.turn(corev1.ConditionFalse)
}

// turn gives the nodes of the machines with the edited template a state.
func (w *world) turn(ready corev1.ConditionStatus) {
	w.t.Helper()
	for _, i := range w.account.boot() {
		if !strings.Contains(i.Template.Content, "m5.bad") {
			continue
		}
		n := &corev1.Node{}
		if err := w.workload.Get(w.t.Context(), client.ObjectKey{Name: "node-" + i.ID}, n); err != nil {
			w.t.Fatal(err)
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready,
			LastTransitionTime: metav1.NewTime(w.now)}}
		if err := w.workload.Status().Update(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
	}
	w.pass()
}

// templates returns the contents of the templates that machines have.
func (w *world) templates() []string {
	var all []string
	for _, i := range w.account.boot() {
		all = append(all, i.Template.Content)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestRollback holds that a failed rollout goes back to the last template whose rollout ended, once, and what it takes to try again.
func TestRollback(t *testing.T) {
	t.Parallel()
	w := rollsBack(t, musterv1.FailureRollback)
	before := w.templates()
	if r := w.get().Status.Revision; r == nil || r.Number != 1 {
		t.Fatalf("want the template kept, got %+v", r)
	}
	w.edit(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v1.37.0" })
	w.fail()
	if got := w.condition(report.UpToDate); got.Reason != "RolloutHalted" {
		t.Errorf("want the rollout halted first:\n%s", w.say())
	}
	failed := w.get().Status.Rollout.ID
	w.now = w.now.Add(time.Minute)
	w.pass()
	w.restart()
	w.roll(30)
	if got := w.templates(); !slices.Equal(got, before) {
		t.Errorf("want all machines of %q, got %q\n%s", before, got, w.say())
	}
	got := w.condition(report.UpToDate)
	if got.Reason != "RolledBack" || got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, "was Ready and is not any more") {
		t.Errorf("want the cause in UpToDate, got %+v", got)
	}
	if events := w.happened(); !contains(events, "Warning RolledBack") {
		t.Errorf("want an event, got %q", events)
	}
	o := w.get()
	if b := o.Status.Rollback; b == nil || b.Rollout != failed || b.To == nil || b.To.Number != 1 {
		t.Errorf("want rollout %s rolled back to revision 1, got %+v", failed, b)
	}
	if o.Spec.AWSLaunchTemplate.InstanceType != "m5.bad" || o.Status.Version != "v1.36.3" {
		t.Errorf("want the specification left alone, and the version that runs: %+v", o.Status)
	}
	w.settle()
	w.writes = nil
	if w.passes(3); len(w.writes) > 0 {
		t.Errorf("want no write while nothing changes, got %q", w.writes)
	}
	registry := measure(w)
	if w.pass(); samples(t, registry)["muster_pool_rolled_back"] != 1 {
		t.Errorf("want the return measured, got %v", samples(t, registry))
	}
	w.restart()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.RetryAnnotation] = failed })
	w.roll(12)
	w.fail()
	w.now = w.now.Add(time.Hour)
	w.roll(12)
	if got := w.condition(report.UpToDate); got.Reason != "RolloutHalted" || w.get().Status.Rollback != nil {
		t.Errorf("want the second try halted and not rolled back again:\n%s", w.say())
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.good" })
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.Strategy = &awsv1.Strategy{} })
	w.roll(40)
	if r := w.get().Status.Revision; r == nil || r.Number != 2 || w.condition(report.UpToDate).Status != metav1.ConditionTrue {
		t.Errorf("want the corrected template rolled out and kept as revision 2, got %+v\n%s", r, w.say())
	}
}

// TestNoRollback holds when a failed rollout stays where it is, and what is said.
func TestNoRollback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why    string
		action musterv1.RolloutFailureAction
		// edits are made with the edit of the template, before it fails.
		edits  func(*clusterv1.MachinePool)
		before func(w *world)
		reason string
		words  string
	}{
		"halt": {why: "rollouts halt unless a policy asks for more", reason: "RolloutHalted", words: "was Ready"},
		"another bootstrap configuration": {why: "the former one is not known any more", action: musterv1.FailureRollback,
			edits:  func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Bootstrap.DataSecretName = new("other") },
			reason: "RollbackImpossible", words: "template of revision 1 can't be made again"},
		"nothing rolled out before": {why: "there is nothing to return to", action: musterv1.FailureRollback,
			before: func(w *world) {
				o := w.get()
				o.Status.Revision = nil
				if err := w.management.Status().Update(w.t.Context(), o); err != nil {
					w.t.Fatal(err)
				}
			}, reason: "RollbackImpossible", words: "no rollout of the pool has ended before"},
		"a revision that was deleted": {why: "its template is lost", action: musterv1.FailureRollback, before: func(w *world) {
			if err := w.management.DeleteAllOf(w.t.Context(), &appsv1.ControllerRevision{}, client.InNamespace("default")); err != nil {
				w.t.Fatal(err)
			}
		}, reason: "RollbackImpossible", words: "does not exist any more"},
		"a revision with other content": {why: "a user who may write revisions would choose what runs", action: musterv1.FailureRollback,
			before: func(w *world) {
				r := &appsv1.ControllerRevision{}
				if err := w.management.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: w.get().Status.Revision.Name}, r); err != nil {
					w.t.Fatal(err)
				}
				r.Data.Raw = []byte(strings.ReplaceAll(string(r.Data.Raw), "m5.large", "p5.48xlarge"))
				if err := w.management.Update(w.t.Context(), r); err != nil {
					w.t.Fatal(err)
				}
			}, reason: "RollbackImpossible", words: "name is not that of its content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := rollsBack(t, c.action)
			if c.edits == nil {
				c.edits = func(*clusterv1.MachinePool) {}
			}
			w.edit(c.edits)
			if c.before != nil {
				c.before(w)
			}
			w.fail()
			w.now = w.now.Add(2 * time.Minute)
			w.account.take()
			w.roll(8)
			if got := w.condition(report.UpToDate); got.Reason != c.reason || !strings.Contains(got.Message, c.words) {
				t.Errorf("%s: want UpToDate %s with %q, got %+v", c.why, c.reason, c.words, got)
			}
			if got := only(w.account.take(), replacing...); len(got) > 0 {
				t.Errorf("%s: want nothing replaced, got %q", c.why, got)
			}
			w.writes = nil
			if w.passes(2); len(w.writes) > 0 {
				t.Errorf("%s: want no write while nothing changes, got %q", c.why, w.writes)
			}
			if c.reason != "RollbackImpossible" {
				return
			}
			w.turn(corev1.ConditionTrue)
			w.now = w.now.Add(2 * time.Hour)
			w.roll(8)
			if got := only(w.account.take(), replacing...); len(got) > 0 {
				t.Errorf("%s: want nothing replaced when the machine turns Ready again, got %q", c.why, got)
			}
		})
	}
}

// TestAbort holds that a user ends a rollout, which goes back, and lets it begin again.
func TestAbort(t *testing.T) {
	t.Parallel()
	w := rollsBack(t, "")
	before := w.templates()
	w.edit()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.RolloutAnnotation] = settings.RolloutAborted })
	w.roll(25)
	if got := w.condition(report.UpToDate); got.Reason != "RolledBack" || !strings.Contains(got.Message, "was aborted") {
		t.Errorf("want the rollout rolled back:\n%s", w.say())
	}
	if got := w.templates(); !slices.Equal(got, before) {
		t.Errorf("want all machines of %q, got %q", before, got)
	}
	aborted := w.get().Status.Rollback.Rollout
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, settings.RolloutAnnotation) })
	w.roll(12)
	if got := w.condition(report.UpToDate); got.Reason != "Soaking" || w.get().Status.Rollback != nil {
		t.Errorf("want the rollout begun again:\n%s", w.say())
	}
	// An abort counts although the user has requested another try before.
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
		o.Annotations[settings.RolloutAnnotation], o.Annotations[settings.RetryAnnotation] = settings.RolloutAborted, aborted
	})
	w.roll(25)
	w.settle()
	w.writes = nil
	if w.passes(3); len(w.writes) > 0 || w.condition(report.UpToDate).Reason != "RolledBack" || !slices.Equal(w.templates(), before) {
		t.Errorf("want the rollout rolled back again, and no write after it, got %q\n%s", w.writes, w.say())
	}
	// While it is rolled back, a restart keeps the strategy.
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.RestartAnnotation] = "kernel" })
	w.roll(12)
	if r := w.get().Status.Rollout; r.State != "Soaking" || r.Of != 2 {
		t.Errorf("want the restart in waves, got %+v\n%s", r, w.say())
	}
	// The template of the machines is lost: nothing is done with that of the specification.
	if err := w.management.DeleteAllOf(t.Context(), &appsv1.ControllerRevision{}, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	w.account.take()
	w.roll(5)
	if got := w.account.take(); len(got) > 0 || !strings.Contains(w.say(), "does not exist any more") {
		t.Errorf("want nothing done without the template, got %q\n%s", got, w.say())
	}
}
