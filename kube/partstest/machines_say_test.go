package partstest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// sayCases are the cases of TestSay.
var sayCases = map[string]struct {
	reason    string
	infra     client.Object
	machine   *clusterv1.Machine
	off, free bool
	condemned *pool.Cause
	guard     *pool.Guard
	marked    bool
}{
	"serves":         {reason: "its Machine has to be asked first", infra: infra("i-1"), machine: new(machine("i-1")), guard: &pool.Guard{}},
	"no Machine yet": {reason: "there is no Machine to delete", infra: infra("i-1")},
	"marked": {reason: "as a mark on its node", infra: infra("i-1"), machine: new(machine("i-1", machineMarked)),
		guard: &pool.Guard{}, marked: true},
	"marked itself": {reason: "who marks the object means its instance", infra: infra("i-1", infraMarked), marked: true},
	"deleted": {reason: "exactly that one goes", infra: infra("i-1"), machine: new(machine("i-1", machineGoing)),
		guard: &pool.Guard{Requested: true}, condemned: &machineDeleted},
	"deleted by us": {reason: "the cause is not forgotten", infra: infra("i-1"),
		machine: new(machine("i-1", machineGoing, becauseOf("ScaleIn: too many: 3"))), guard: &pool.Guard{Requested: true},
		condemned: &pool.Cause{Reason: "ScaleIn", Message: "too many: 3"}},
	"drained": {reason: "the Machine's controller deletes the other object when it is done", infra: infra("i-1", infraGoing),
		machine: new(machine("i-1", waiting, drain(corev1.ConditionTrue))),
		guard:   &pool.Guard{Requested: true, Released: true, DrainEnded: at(30 * time.Second).Time}, condemned: &machineDeleted},
	"not looked yet": {reason: "a user deletes both: the controller has not begun, and says nothing", infra: infra("i-1", infraGoing),
		machine: new(machine("i-1", machineGoing)),
		guard:   &pool.Guard{Requested: true}, condemned: &machineDeleted},
	"cut off": {reason: "the controller drains no more once the object below is being deleted: the rest is ours",
		infra:   infra("i-1", infraGoing),
		machine: new(machine("i-1", waiting, drain(corev1.ConditionFalse))), condemned: &machineDeleted},
	"never drained": {reason: "the controller drains nothing where it knows no Node, or no Machine of the control plane",
		infra:   infra("i-1", infraGoing),
		machine: new(machine("i-1", waiting)), condemned: &machineDeleted},
	"not to be drained": {reason: "the user wants no drain", infra: infra("i-1", infraGoing), machine: new(machine("i-1", waiting, excluded)),
		guard: &pool.Guard{Requested: true, Released: true}, condemned: &machineDeleted},
	"timed out": {reason: "a drain whose time is up has ended", infra: infra("i-1", infraGoing),
		machine: new(machine("i-1", waiting, drain(corev1.ConditionFalse), timedOut(30*time.Second))),
		guard:   &pool.Guard{Requested: true, Released: true, DrainEnded: at(time.Minute).Time}, condemned: &machineDeleted},
	"cut off in time": {reason: "the drain had a second left", infra: infra("i-1", infraGoing),
		machine:   new(machine("i-1", waiting, drain(corev1.ConditionFalse), timedOut(29*time.Second))),
		condemned: &machineDeleted},
	"deleted by hand": {reason: "only the pool drains it", infra: infra("i-1", infraGoing), machine: new(machine("i-1")),
		condemned: &byHand},
	"both, the other 1st": {reason: "its Machine's controller drains nothing either", infra: infra("i-1", infraGoingFirst),
		machine: new(machine("i-1", machineGoing)), condemned: &machineDeleted},
	"both at once": {reason: "the order of one second is unknown, and an undrained Node must not be lost",
		infra: infra("i-1", infraGoingAtOnce), machine: new(machine("i-1", machineGoing)), condemned: &machineDeleted},
	"at once, drained": {reason: "the controller reports that it has drained", infra: infra("i-1", infraGoingAtOnce),
		machine: new(machine("i-1", waiting, drain(corev1.ConditionTrue))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true, Released: true, DrainEnded: at(30 * time.Second).Time}},
	"deleted while drained": {reason: "a user deletes the object while the controller drains, which has not seen it yet",
		infra:   infra("i-1", infraGoing),
		machine: new(machine("i-1", condition(clusterv1.MachineDeletingDrainingNodeReason, ""))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true}},
	"deleted before a hook": {reason: "a hook is waited for as well", infra: infra("i-1", infraGoing),
		machine: new(machine("i-1", condition(clusterv1.MachineDeletingWaitingForPreTerminateHookReason, ""))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true}},
	"by hand, alone":    {reason: "likewise", infra: infra("i-1", infraGoing), condemned: &byHand},
	"by hand, orphaned": {reason: "without an owner its deletion asks for nothing", infra: infra("i-1", infraGoing, infraOrphaned)},
	"orphaned, drained": {reason: "its Machine's deletion counts", infra: infra("i-1", infraGoing, infraOrphaned),
		machine: new(machine("i-1", waiting, drain(corev1.ConditionTrue))),
		guard:   &pool.Guard{Requested: true, Released: true, DrainEnded: at(30 * time.Second).Time}, condemned: &machineDeleted},
	"detached": {reason: "it goes without its instance", infra: infra("i-1"),
		machine: new(machine("i-1", machineDetached, machineGoing))},
	"detached object": {reason: "it too", infra: infra("i-1", infraDetached, infraGoing)},
	"off": {reason: "a Machine that is to be taken away is not asked", infra: infra("i-1"), machine: new(machine("i-1")),
		off: true},
	"off, deleted": {reason: "what was asked for before is done", infra: infra("i-1"), machine: new(machine("i-1", machineGoing)), off: true,
		condemned: &machineDeleted, guard: &pool.Guard{Requested: true}},
	"no controller": {reason: "without a cluster no controller lets it go", infra: infra("i-1"), machine: new(machine("i-1", machineGoing)),
		free: true, condemned: &machineDeleted},
	"no ID": {reason: "it stands for nothing", infra: infra("i-1", func(o *awsv1.AWSMachine) { o.Spec.ProviderID = "" }),
		machine: new(machine("i-1", machineGoing))},
	"hook": {reason: "what is waited for is told, without times", infra: infra("i-1"),
		machine: new(machine("i-1", condition(clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
			"Waiting for pre-terminate hooks to succeed (hooks: x)"))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true, WaitReasons: []string{"Machine i-1: Waiting for pre-terminate hooks to succeed (hooks: x)"}}},
	"volumes": {reason: "likewise", infra: infra("i-1"),
		machine: new(machine("i-1", condition(clusterv1.MachineDeletingWaitingForVolumeDetachReason,
			"Waiting for Node volumes to be detached (started at 2030-01-02T03:04:05Z)"))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true, WaitReasons: []string{"Machine i-1: Waiting for Node volumes to be detached"}}},
	"budget": {reason: "with pod and budget", infra: infra("i-1"),
		machine: new(machine("i-1", condition(clusterv1.MachineDeletingDrainingNodeReason,
			"Drain not completed yet (started at 2030-01-02T03:04:05Z):\n* Pod default/web: cannot evict pod as it would violate the pod's "+
				"disruption budget"))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true, WaitReasons: []string{"Pod default/web: cannot evict pod as it would violate the pod's " +
			"disruption budget"}}},
	"terminating": {reason: "pods that end within their grace period block nothing", infra: infra("i-1"),
		machine: new(machine("i-1", drainingFor(time.Minute,
			"Drain not completed yet (started at 2030-01-02T03:04:05Z):\n* Pods default/a, default/b: deletionTimestamp set, but still not "+
				"removed from the Node\nAfter above Pods have been removed from the Node, the following Pods will be evicted: default/c"))),
		condemned: &machineDeleted,
		guard:     &pool.Guard{Requested: true}},
	"terminating beside a budget": {reason: "what blocks is told alone", infra: infra("i-1"),
		machine: new(machine("i-1", drainingFor(time.Minute,
			"Drain not completed yet (started at 2030-01-02T03:04:05Z):\n* Pod default/a: deletionTimestamp set, but still not removed from the "+
				"Node\n* Pod default/web: cannot evict pod as it would violate the pod's disruption budget"))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true, WaitReasons: []string{"Pod default/web: cannot evict pod as it would violate the pod's " +
			"disruption budget"}}},
	"terminating for long": {reason: "a pod that does not end keeps the drain", infra: infra("i-1"),
		machine: new(machine("i-1", drainingFor(time.Hour,
			"Drain not completed yet (started at 2030-01-02T03:04:05Z):\n* Pod default/a: deletionTimestamp set, but still not removed "+
				"from the Node"))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true, WaitReasons: []string{"Pod default/a: deletionTimestamp set, but still not removed from the Node"}}},
	"begun": {reason: "that it has begun says nothing", infra: infra("i-1"),
		machine: new(machine("i-1", condition(clusterv1.MachineDeletingReason, "Deletion started"))), condemned: &machineDeleted,
		guard: &pool.Guard{Requested: true}},
}

var drainingFor = func(d time.Duration, message string) func(*clusterv1.Machine) {
	return func(m *clusterv1.Machine) {
		condition(clusterv1.MachineDeletingDrainingNodeReason, message)(m)
		m.Status.Deletion = &clusterv1.MachineDeletionStatus{NodeDrainStartTime: *at(-d)}
	}
}

var timedOut = func(d time.Duration) func(*clusterv1.Machine) {
	return func(m *clusterv1.Machine) {
		m.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To(int32(30))
		m.Status.Deletion = &clusterv1.MachineDeletionStatus{NodeDrainStartTime: metav1.NewTime(infra("i-1",
			infraGoing).GetDeletionTimestamp().Add(-d))}
	}
}

var excluded = func(m *clusterv1.Machine) {
	m.Annotations = map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: ""}
}

var machineDeleted = pool.Cause{Reason: "MachineDeleted", Message: "Machine i-1 is being deleted"}

var byHand = pool.Cause{Reason: "AWSMachineDeleted", Message: "AWSMachine i-1 is being deleted"}

func TestSay(t *testing.T) {
	t.Parallel()
	// timedOut has a drain of half a minute begun so long before the infrastructure machine was deleted.
	for name, tc := range sayCases {
		var list []clusterv1.Machine
		if tc.machine != nil {
			list = append(list, *tc.machine)
		}
		got := machines.BuildIndex(kind, "u-p", []client.Object{tc.infra}, list).Evaluate(kind, !tc.off, !tc.free, now)
		want := machines.Consequences{Marked: map[string]bool{}, DeletionRequested: map[string]pool.Cause{}, Guards: map[string]pool.Guard{},
			UIDs: map[string]string{}}
		if tc.condemned != nil {
			want.DeletionRequested["aws://i-1"] = *tc.condemned
		}
		if tc.guard != nil {
			want.Guards["aws://i-1"] = *tc.guard
		}
		if tc.marked {
			want.Marked["aws://i-1"] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// What is said of an instance that goes is said with its UID; what stays may stand for whichever has the ID.
func TestSayOfWhom(t *testing.T) {
	t.Parallel()
	infras := []client.Object{infra("i-1", infraOf("a")), infra("i-2", infraOf("b"), infraGoing), infra("i-3", infraOf("c")),
		infra("i-4", infraGoing)}
	got := machines.BuildIndex(kind, "u-p", infras, []clusterv1.Machine{machine("i-3", machineGoing)}).Evaluate(kind, true, true, now).UIDs
	if diff := cmp.Diff(map[string]string{"aws://i-2": "b", "aws://i-3": "c"}, got); diff != "" {
		t.Errorf("UIDs (-want +got):\n%s", diff)
	}
}

func TestManyLinesAreCounted(t *testing.T) {
	t.Parallel()
	m := machine("i-1", machineGoing)
	m.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineDeletingCondition, Reason: clusterv1.MachineDeletingDrainingNodeReason,
		Message: "x:\n* a\n* b\n* c\n* d\n* e"}}
	want := []string{"a", "b", "c", "2 more lines of condition Deleting of Machine i-1"}
	is := machines.BuildIndex(kind, "u-p", []client.Object{infra("i-1")}, []clusterv1.Machine{m})
	if got := is.Evaluate(kind, true, true, now).Guards["aws://i-1"].WaitReasons; !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}
