package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// rolling gives an object the default strategy.
func rolling(o *awsv1.AWSMachinePool) { o.Spec.Strategy = &awsv1.Strategy{} }

// byCloud leaves machines to the cloud's own roll.
func byCloud(o *awsv1.AWSMachinePool) {
	o.Spec.Strategy = &awsv1.Strategy{Type: awsv1.StrategyInstanceRefresh}
}

// onDelete leaves machines until a user deletes them.
func onDelete(o *awsv1.AWSMachinePool) {
	o.Spec.Strategy = &awsv1.Strategy{Type: awsv1.StrategyOnDelete}
}

// everythingByCloud is everything, with machines that are left to the cloud's own roll.
func everythingByCloud() []client.Object {
	objects := everything()
	byCloud(objects[1].(*awsv1.AWSMachinePool))
	return objects
}

// roll runs passes, and boots what is launched, until nothing more comes of it; it gives the least number of Ready nodes on
// the way.
func (w *world) roll(passes int) int {
	w.t.Helper()
	minReady := 1000
	for range passes {
		w.pass()
		w.now = w.now.Add(max(w.again, time.Second))
		if n := w.get().Status.ReadyReplicas; n != nil {
			minReady = min(minReady, int(*n))
		}
		w.join()
	}
	return minReady
}

// happened are the reasons of the events since the last time, in order.
func (w *world) happened() []string {
	var reasons []string
	for {
		select {
		case e := <-w.recorder.Events:
			reasons = append(reasons, e)
		default:
			return reasons
		}
	}
}

// contains reports whether an event begins with a type and reason.
func contains(list []string, begin string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.HasPrefix(e, begin) })
}

// The kinds of step that replace machines.
var replacing = []pool.StepKind{pool.Resize, pool.Remove, pool.Replace, pool.StartProviderRollout, pool.CancelProviderRollout}

// TestRollout holds how machines of a changed template are replaced, and what the object reports if they are not.
func TestRollout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason string
		object func(*awsv1.AWSMachinePool)
		pool   func(*clusterv1.MachinePool)
		// rolls is the cloud's trait, skipModel the gate.
		rolls, skipModel bool
		// steps begin with these, in order.
		steps []string
		// upToDate is the condition's reason at the end, words are in its message.
		upToDate, words string
	}{
		"strategy": {reason: "one by one, each after another has come", object: rolling,
			steps: []string{"Resize", "Replace i-1", "Remove i-2"}, upToDate: "AllUpToDate", words: "2 of 2"},
		"strategy without surge": {reason: "one may be missing",
			object: func(o *awsv1.AWSMachinePool) {
				o.Spec.Strategy = &awsv1.Strategy{RollingUpdate: &common.RollingUpdate{
					MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromString("50%")), DeletePolicy: common.DeletePolicyNewest}}
			},
			steps: []string{"Replace i-2", "Replace i-1"}, upToDate: "AllUpToDate", words: "2 of 2"},
		"waves": {reason: "the first machine is watched, and no other replaced meanwhile", object: func(o *awsv1.AWSMachinePool) {
			o.Spec.Strategy = &awsv1.Strategy{Pace: common.Pace{Waves: []intstr.IntOrString{intstr.FromInt32(1)},
				Soak: common.Soak{First: &metav1.Duration{Duration: 1000 * time.Hour}}}}
		}, steps: []string{"Resize", "Remove i-1"}, upToDate: "Soaking", words: "wave 1 of 2"},
		"on delete": {reason: "a user deletes machines when it suits", object: onDelete, upToDate: "OnDelete", words: "until they are deleted"},
		"no strategy": {reason: "one by one all the same, where the cloud has a roll of its own too", rolls: true,
			steps: []string{"Resize", "Replace i-1", "Remove i-2"}, upToDate: "AllUpToDate", words: "2 of 2"},
		"limits of preferences": {reason: "what they let be missing may be missing, and no machine is added", rolls: true,
			object: func(o *awsv1.AWSMachinePool) {
				o.Spec.RefreshPreferences = &awsv1.RefreshPreferences{MinHealthyPercentage: new(int64(50)), MaxHealthyPercentage: new(int64(100))}
			},
			steps: []string{"Replace i-1", "Replace i-2"}, upToDate: "AllUpToDate", words: "2 of 2"},
		"the cloud's roll": {reason: "a cloud with a roll of its own is asked for it by name", rolls: true, object: byCloud,
			steps: []string{"StartProviderRollout"}, upToDate: "ProviderRolloutRunning", words: "Running at 0 %"},
		"disabled": {reason: "who disables the refresh is told that nothing replaces old machines", rolls: true,
			object:   func(o *awsv1.AWSMachinePool) { o.Spec.RefreshPreferences = &awsv1.RefreshPreferences{Disable: true} },
			upToDate: "RefreshDisabled", words: "spec.refreshPreferences.disable is true"},
		"disabled, restarted": {reason: "nor does an annotation that has done its work make it look as if the gate did", rolls: true,
			object: func(o *awsv1.AWSMachinePool) {
				o.Spec.RefreshPreferences = &awsv1.RefreshPreferences{Disable: true}
				o.Annotations = map[string]string{settings.RestartAnnotation: "new kernel"}
			},
			upToDate: "RefreshDisabled", words: "spec.refreshPreferences.disable is true"},
		"paused": {reason: "the annotation holds it",
			object: func(o *awsv1.AWSMachinePool) {
				rolling(o)
				o.Annotations = map[string]string{settings.RolloutAnnotation: settings.RolloutPaused}
			},
			upToDate: "RolloutPaused", words: "AWSMachinePool has the annotation"},
		"pool paused": {reason: "the annotation of the MachinePool holds it too", object: rolling,
			pool: func(mp *clusterv1.MachinePool) {
				mp.Annotations = map[string]string{settings.RolloutAnnotation: settings.RolloutPaused}
			},
			upToDate: "RolloutPaused", words: "MachinePool has the annotation"},
		"paused, cloud": {reason: "the cloud's own roll is held as well", rolls: true, object: byCloud,
			pool: func(mp *clusterv1.MachinePool) {
				mp.Annotations = map[string]string{settings.RolloutAnnotation: settings.RolloutPaused}
			},
			upToDate: "RolloutPaused", words: "MachinePool has the annotation"},
		"paused badly": {reason: "a slip of the pen replaces nothing", object: rolling,
			pool: func(mp *clusterv1.MachinePool) {
				mp.Annotations = map[string]string{settings.RolloutAnnotation: "pasued"}
			},
			upToDate: "InvalidAnnotation", words: `is "pasued", allowed is paused`},
		"gate": {reason: "with the gate a changed template replaces nothing", object: rolling, skipModel: true,
			upToDate: "ModelReconciliationSkipped", words: "SkipMachinePoolModelReconciliation"},
		"gate, cloud": {reason: "nor by the cloud's hand", rolls: true, skipModel: true, object: byCloud,
			upToDate: "ModelReconciliationSkipped", words: "SkipMachinePoolModelReconciliation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := everything()
			if c.pool != nil {
				c.pool(objects[0].(*clusterv1.MachinePool))
			}
			if c.object != nil {
				c.object(objects[1].(*awsv1.AWSMachinePool))
			}
			w := newWorld(t, objects...)
			w.account.rolls, w.skipModel = c.rolls, c.skipModel
			w.restart()
			w.settled()
			w.join()
			w.settle()
			w.account.take()
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
			w.roll(25)
			if got := only(w.account.take(), replacing...); !slices.Equal(got, c.steps) {
				t.Errorf("%s: want steps %q, got %q\n%s", c.reason, c.steps, got, w.say())
			}
			if got := w.condition(report.UpToDate); got.Reason != c.upToDate || !strings.Contains(got.Message, c.words) {
				t.Errorf("%s: want UpToDate %s with %q, got %+v", c.reason, c.upToDate, c.words, got)
			}
			events := w.happened()
			if got := contains(events, "Normal RolloutCompleted"); got != (c.upToDate == "AllUpToDate") {
				t.Errorf("%s: want the end of a rollout told if there is one, got %q", c.reason, events)
			}
		})
	}
}

// TestPauseEnds holds that a rollout goes on when the annotation that held it is taken away.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	w := running(t, machinePool(), awsMachinePool(rolling), cluster(), place(), data(), definition())
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
		o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge"
		o.Annotations[settings.RolloutAnnotation] = settings.RolloutPaused
	})
	w.roll(8)
	if got := only(w.account.take(), replacing...); len(got) != 0 {
		t.Fatalf("want nothing replaced while it is paused, got %q", got)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, settings.RolloutAnnotation) })
	if minReady := w.roll(25); minReady < 2 {
		t.Errorf("want 2 Ready machines at all times, got %d", minReady)
	}
	if got := w.condition(report.UpToDate); got.Status != metav1.ConditionTrue {
		t.Errorf("want the rollout completed, got\n%s", w.say())
	}
}

// TestRestart holds that every machine is replaced once for each requested restart, whatever becomes of the
// process meanwhile.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := running(t, machinePool(), awsMachinePool(rolling), cluster(), place(), data(), definition())
	ask := func(reason string) {
		change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
			if o.Annotations[settings.RestartAnnotation] = reason; reason == "" {
				delete(o.Annotations, settings.RestartAnnotation)
			}
		})
	}
	hasRemembered := func() bool { return strings.Contains(w.get().Annotations[stored.Annotation], `"restart"`) }
	want := func(reason string, replaced int) {
		t.Helper()
		for range 14 {
			w.roll(1)
			w.restart()
		}
		n := 0
		for _, call := range only(w.account.take(), pool.Replace, pool.Remove) {
			n += len(strings.Fields(call)) - 1
		}
		if n != replaced {
			t.Errorf("%s: want %d machines replaced, got %d\n%s", reason, replaced, n, w.say())
		}
		if got := w.condition(report.UpToDate); got.Status != metav1.ConditionTrue {
			t.Errorf("%s: want it completed, got %+v", reason, got)
		}
	}
	ask("CVE-1")
	want("a reason replaces all", 2)
	if events := strings.Join(w.happened(), "\n"); !strings.Contains(events, "CVE-1") {
		t.Errorf("want the reason told, got %s", events)
	}
	want("and that once", 0)
	ask("CVE-2")
	want("another reason replaces all again", 2)
	ask("")
	want("none replaces nothing", 0)
	if hasRemembered() {
		t.Errorf("want nothing stored of a restart that is not requested, got %v", w.get().Annotations)
	}
	ask("CVE-2")
	want("what was taken away and comes back is asked anew", 2)
	change(w, machinePool(), func(mp *clusterv1.MachinePool) {
		mp.Annotations = map[string]string{settings.RestartAnnotation: "and again"}
	})
	want("the MachinePool can ask as well", 2)
}

// TestRestartOfDisabled holds that machines are replaced by an explicit request, although a changed template
// replaces none.
func TestRestartOfDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.RefreshPreferences = &awsv1.RefreshPreferences{Disable: true}
	}), cluster(), place(), data(), definition())
	w.account.rolls = true
	w.settled()
	w.join()
	w.settle()
	w.account.take()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.RestartAnnotation] = "CVE-1" })
	w.roll(25)
	if got := only(w.account.take(), replacing...); !slices.Equal(got, []string{"Resize", "Replace i-1", "Remove i-2"}) {
		t.Errorf("want each replaced, got %q\n%s", got, w.say())
	}
}

// TestSettingsAreReported holds that an annotation that means nothing is shown on the object while it is there, and keeps nothing
// from being done.
func TestSettingsAreReported(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.ProgressDeadlineAnnotation] = "soon" })
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(3)) })
	w.roll(4)
	got := w.condition(settings.Valid)
	if got.Status != metav1.ConditionFalse || !strings.Contains(got.Message,
		`metadata.annotations[muster.dev/progress-deadline] of the AWSMachinePool is "soon"`) {
		t.Errorf("want field, value and what is allowed, got %+v", got)
	}
	if ready := w.condition(report.Ready); ready.Status != metav1.ConditionTrue || !strings.HasPrefix(ready.Message, "3 of 3") {
		t.Errorf("want the pool scaled all the same, got %+v", ready)
	}
	if events := w.happened(); !contains(events, "Warning InvalidAnnotation") {
		t.Errorf("want it told, got %q", events)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, settings.ProgressDeadlineAnnotation) })
	w.roll(2)
	if strings.Contains(w.say(), settings.Valid) {
		t.Errorf("want the condition gone with its reason, got\n%s", w.say())
	}
}

// TestReplicasManagedBy holds whose the size is, by the value of the ecosystem's annotation, and that a rollout goes on
// beside an autoscaler: relative to the group's own size, which the MachinePool follows and the surge is not part of.
func TestReplicasManagedBy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason   string
		value    *string
		external bool
	}{
		"absent":              {"the MachinePool sizes the group", nil, false},
		"false":               {"saying no is like saying nothing", new("false"), false},
		"true":                {"an external autoscaler does", new("true"), true},
		"external-autoscaler": {"whatever its name is", new("external-autoscaler"), true},
		"empty":               {"the annotation alone says so", new(""), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, machinePool(func(mp *clusterv1.MachinePool) {
				if c.value != nil {
					mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: *c.value}
				}
			}), awsMachinePool(rolling), cluster(), place(), data(), definition())
			w.account.mu.Lock()
			for name := range w.account.groups {
				w.account.resize(name, 4)
			}
			w.account.mu.Unlock()
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
			want, replicas := 2, map[int32]bool{}
			if c.external {
				want = 4
			}
			mp := machinePool()
			for range 22 {
				w.roll(1)
				if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(mp), mp); err != nil {
					t.Fatal(err)
				}
				replicas[*mp.Spec.Replicas] = true
			}
			if got := w.condition(report.UpToDate); got.Status != metav1.ConditionTrue {
				t.Errorf("%s: want all replaced, got\n%s", c.reason, w.say())
			}
			for name, g := range w.account.groups {
				if g.size != want || g.surge != 0 {
					t.Errorf("%s: want group %s of %d and no surge left, got %d and %d", c.reason, name, want, g.size, g.surge)
				}
			}
			if *mp.Spec.Replicas != int32(want) || len(replicas) > 2 || replicas[5] {
				t.Errorf("%s: want %d replicas, and none of the surge on the way, got %v", c.reason, want, replicas)
			}
		})
	}
}
