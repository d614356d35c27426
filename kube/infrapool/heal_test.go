package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

// turns makes the node of an instance Ready or not, from now on.
func (w *world) turns(instance string, ready corev1.ConditionStatus) {
	w.t.Helper()
	n := &corev1.Node{}
	if err := w.workload.Get(w.t.Context(), client.ObjectKey{Name: "node-" + instance}, n); err != nil {
		w.t.Fatal(err)
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(w.now)}}
	if err := w.workload.Status().Update(w.t.Context(), n); err != nil {
		w.t.Fatal(err)
	}
}

// lasts runs passes for so long, as often as they ask for.
func (w *world) lasts(d time.Duration) {
	w.t.Helper()
	for end := w.now.Add(d); w.now.Before(end); {
		w.pass()
		w.now = w.now.Add(min(max(w.again, time.Second), end.Sub(w.now)+time.Millisecond))
	}
}

func heals(o *awsv1.AWSMachinePool) {
	o.Annotations = map[string]string{settings.RemediationAnnotation: "10m"}
}

// ailing is a pool of five that have joined, of which some nodes have just turned unready.
func ailing(t *testing.T, change func(*awsv1.AWSMachinePool), unready ...string) *world {
	t.Helper()
	w := running(t, machinePool(func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(5)) }), awsMachinePool(change), cluster(),
		place(), data(), definition())
	for _, id := range unready {
		w.turns(id, corev1.ConditionUnknown)
		w.now = w.now.Add(6 * time.Minute) // one after the other, as machines fail
	}
	return w
}

// TestUnhealthyIsReplaced: the machine of a node that stays unready is drained and replaced, after as long as was said, and no other.
func TestUnhealthyIsReplaced(t *testing.T) {
	t.Parallel()
	w := ailing(t, heals, "i-2")
	w.runs("web", "i-2")
	w.lasts(4 * time.Minute)
	w.wantCalls("ten minutes are not over")
	w.lasts(5 * time.Minute)
	w.wantCalls("it goes, and another comes", "Replace i-2")
	pods := &corev1.PodList{}
	if err := w.workload.List(t.Context(), pods); err != nil || len(pods.Items) > 0 &&
		!slices.ContainsFunc(w.writes, func(text string) bool { return strings.Contains(text, "eviction") }) {
		t.Errorf("want it drained, got writes %v, %v", w.writes, err)
	}
	w.join()
	w.lasts(time.Hour)
	w.wantCalls("all are well again")
}

// TestUnhealthyOneByOne: the next one goes when another serves in the first one's place.
func TestUnhealthyOneByOne(t *testing.T) {
	t.Parallel()
	w := ailing(t, heals, "i-2", "i-4")
	w.lasts(10 * time.Minute)
	w.wantCalls("one at a time", "Replace i-2")
	w.join()
	w.lasts(2 * time.Minute)
	w.wantCalls("then the next", "Replace i-4")
}

// TestUnhealthyIsLeftAlone: when nothing is replaced for its health.
func TestUnhealthyIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason  string
		change  func(*awsv1.AWSMachinePool)
		unready []string
		then    func(w *world)
		says    string
	}{
		"not asked": {reason: "it is off by default", change: func(*awsv1.AWSMachinePool) {}, unready: []string{"i-2"},
			says: "nodes of 1 machine to be Ready"},
		"too many": {reason: "what ails most of a pool is cured by no replacement", change: heals, unready: []string{"i-1", "i-2", "i-3"},
			says: "no machine is replaced for its health: 3 of 5 are unhealthy, more than the 2 that may be"},
		"comes back": {reason: "a node that is Ready again is well", change: heals, unready: []string{"i-2"},
			then: func(w *world) { w.turns("i-2", corev1.ConditionTrue) }},
		"paused": {reason: "no machine is replaced then",
			change: func(o *awsv1.AWSMachinePool) { heals(o); o.Annotations[settings.RolloutAnnotation] = "paused" }, unready: []string{"i-2"}},
		"spared": {reason: "the user excluded the machine", change: heals, unready: []string{"i-2"},
			then: func(w *world) { w.spare("i-2") }},
		"with Machines": {reason: "it is the matter of health checks",
			change: func(o *awsv1.AWSMachinePool) { heals(o); o.Annotations[settings.MachinesAnnotation] = "true" }, unready: []string{"i-2"},
			says: "whose health is the matter of a MachineHealthCheck"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ailing(t, c.change, c.unready...)
			if c.then != nil {
				c.then(w)
			}
			w.lasts(time.Hour)
			if calls := only(w.account.take(), pool.Replace, pool.Remove); len(calls) > 0 || !strings.Contains(w.say(), c.says) {
				t.Errorf("%s: want nothing replaced and %q said, got %v\n%s", c.reason, c.says, calls, w.say())
			}
		})
	}
}

// spare annotates the node of an instance.
func (w *world) spare(instance string) {
	w.t.Helper()
	n := &corev1.Node{}
	if err := w.workload.Get(w.t.Context(), client.ObjectKey{Name: "node-" + instance}, n); err != nil {
		w.t.Fatal(err)
	}
	n.Annotations = map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}
	if err := w.workload.Update(w.t.Context(), n); err != nil {
		w.t.Fatal(err)
	}
}
