package rollout

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates/approval"
	"github.com/muster-project/muster/view/tree"
)

// on has annotations be those of the MachinePool, and onInfra those of the infrastructure object.
func on(annotations map[string]string) func(*Pool) {
	return func(p *Pool) { p.MachinePool.Annotations = annotations }
}

func onInfra(annotations map[string]string) func(*Pool) {
	return func(p *Pool) { p.Infra.SetAnnotations(annotations) }
}

func byInfra(p *Pool) { p.ByInfra = true }

// known are two gates that wait for approval, and one that the manager asks.
func known() []policy.Gate {
	of := policy.Compile(&metav1.ObjectMeta{Name: "p"}, &musterv1.RolloutPolicySpec{})
	return []policy.Gate{
		{Policy: of, RolloutGate: musterv1.RolloutGate{Name: "go", Approval: &musterv1.ApprovalGate{}}},
		{Policy: of, RolloutGate: musterv1.RolloutGate{Name: "late", Approval: &musterv1.ApprovalGate{}}},
		{Policy: of, RolloutGate: musterv1.RolloutGate{Name: "errors", Prometheus: &musterv1.PrometheusGate{}}},
	}
}

// TestActions holds the arguments of kubectl for each change, or why there is none.
func TestActions(t *testing.T) {
	t.Parallel()
	rolling := func(state, reason string, wave int64, entered bool) fields {
		return fields{"id": "1x", "state": state, "wave": wave, "of": int64(3), "entered": entered, "reason": reason, "message": "m"}
	}
	const at, paused, promoted = "annotate --overwrite machinepool/workers --namespace team ", settings.RolloutAnnotation + "=paused",
		settings.PromoteAnnotation + "="
	promote := func(full bool) func(Pool) (Edit, error) { return func(p Pool) (Edit, error) { return p.Promote(full) } }
	approve := func(gate string) func(Pool) (Edit, error) {
		return func(p Pool) (Edit, error) { return p.Approve(gate, known()) }
	}
	restart := func(reason string) func(Pool) (Edit, error) {
		return func(p Pool) (Edit, error) { return p.Restart(reason, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)) }
	}
	pausedOn := map[string]string{settings.RolloutAnnotation: "paused"}
	abortedOn := map[string]string{settings.RolloutAnnotation: "aborted"}
	for _, c := range []struct {
		why  string
		pool Pool
		do   func(Pool) (Edit, error)
		want string
	}{
		{"pause", poolOf(nil), Pool.Pause, at + paused},
		{"pause by the infrastructure object", poolOf(nil, byInfra), Pool.Pause,
			"annotate --overwrite awsmachinepool/infra --namespace team " + paused},
		{"pause twice", poolOf(nil, onInfra(pausedOn)), Pool.Pause, "AWSMachinePool team/infra is already paused"},
		{"resume", poolOf(nil, on(pausedOn)), Pool.Resume, "annotate machinepool/workers --namespace team muster.dev/rollout-"},
		{"resume what the other object pauses", poolOf(nil, onInfra(pausedOn)), Pool.Resume,
			"annotate awsmachinepool/infra --namespace team muster.dev/rollout-"},
		{"resume one of two pauses", poolOf(nil, on(pausedOn), onInfra(pausedOn)), Pool.Resume,
			"annotate machinepool/workers --namespace team muster.dev/rollout-"},
		{"resume without a pause", poolOf(nil), Pool.Resume, "MachinePool team/workers is not paused"},
		{"resume a hurry", poolOf(nil, on(map[string]string{settings.RolloutAnnotation: "now"})), Pool.Resume, "which is no pause"},
		{"abort", poolOf(rolling("Soaking", "Soaking", 1, true)), Pool.Abort, at + "muster.dev/rollout=aborted"},
		{"abort what is paused", poolOf(rolling("Soaking", "", 1, true), on(pausedOn)), Pool.Abort, at + "muster.dev/rollout=aborted"},
		{"abort twice", poolOf(rolling("Soaking", "", 1, true), onInfra(abortedOn)), Pool.Abort, "is already aborted"},
		{"abort nothing", poolOf(nil), Pool.Abort, "no rollout to abort"},
		{"abort what has ended", poolOf(rolling("Ended", "", 3, true)), Pool.Abort, "muster rollout undo"},
		{"retry what was aborted", poolOf(nil, onInfra(abortedOn)), Pool.Retry,
			"annotate awsmachinepool/infra --namespace team muster.dev/rollout-"},
		{"retry what has failed", poolOf(nil, rolledBack(nil)), Pool.Retry, at + "muster.dev/retry=0w"},
		{"retry twice", poolOf(nil, rolledBack(nil), onInfra(map[string]string{settings.RetryAnnotation: "0w"})), Pool.Retry,
			"is tried again already"},
		{"retry nothing", poolOf(nil), Pool.Retry, "was rolled back or aborted"},
		{"restart", poolOf(nil), restart("it's new"), at + "muster.dev/restart-now=it's new"},
		{"restart without a reason", poolOf(nil), restart(" "), at + "muster.dev/restart-now=muster rollout restart at 2026-11-30T12:00:00Z"},
		{"restart for the same reason", poolOf(nil, on(map[string]string{settings.RestartAnnotation: "x"})), restart("x"), "another --reason"},
		{"promote a soak", poolOf(rolling("Soaking", "Soaking", 2, true)), promote(false), at + promoted + "1x/2"},
		{"promote past a gate", poolOf(rolling("Waiting", "GateFailed", 2, false)), promote(false), at + promoted + "1x/1"},
		{"promote past the first gate", poolOf(rolling("Waiting", "AwaitingApproval", 1, false)), promote(false), at + promoted + "1x/1"},
		{"promote past a window", poolOf(rolling("Waiting", "OutsideWindow", 1, false)), promote(false), "has not begun"},
		{"promote all", poolOf(rolling("Waiting", "OutsideWindow", 1, false)), promote(true), at + promoted + "1x/full"},
		{"promote nothing", poolOf(nil), promote(false), "no rollout to promote"},
		{"promote what has ended", poolOf(rolling("Ended", "", 3, true)), promote(true), "has ended"},
		{"approve", poolOf(rolling("Waiting", "AwaitingApproval", 1, false)), approve("go"), at + "muster.dev/approve=go@1x"},
		{"approve a second gate", poolOf(rolling("Waiting", "AwaitingApproval", 1, false),
			on(map[string]string{approval.Annotation: "go@1x,go@0w"})), approve("late"), at + "muster.dev/approve=go@1x,late@1x"},
		{"approve twice", poolOf(rolling("Waiting", "", 1, false), onInfra(map[string]string{approval.Annotation: "go@1x"})), approve("go"),
			"approved already"},
		{"approve an unknown gate", poolOf(rolling("Waiting", "", 1, false)), approve("og"), "the gates that wait for approval are go, late"},
		{"approve a query", poolOf(rolling("Waiting", "", 1, false)), approve("errors"),
			"gate errors of ClusterRolloutPolicy p is asked by the manager"},
		{"approve what has ended", poolOf(rolling("Ended", "", 1, true)), approve("go"), "has ended"},
		{"approve nothing", poolOf(nil), approve("go"), "no rollout to approve"},
	} {
		e, err := c.do(c.pool)
		got := strings.Join(e.Kubectl, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
		if err == nil && (e.Says == "" || !strings.HasPrefix(c.want, "annotate")) {
			t.Errorf("%s: want no change without a sentence, got %+v", c.why, e)
		}
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	for until, want := range map[string]string{
		"": "annotate --overwrite node/n1 muster.dev/hold=", "90m": "annotate --overwrite node/n1 muster.dev/hold=2026-11-30T13:30:00Z",
		"2026-12-01T07:00:00+01:00": "annotate --overwrite node/n1 muster.dev/hold=2026-12-01T06:00:00Z",
		"-1h":                       "want a time to come", "2026-11-30T11:00:00Z": "want a time to come", "tomorrow": "want a duration",
	} {
		end, err := Until(until, now)
		e := Edit{}
		if err == nil {
			e, err = Hold(n, end)
		}
		if got := strings.Join(e.Kubectl, " "); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("until %q: want %s, got %s, %v", until, want, got, err)
		}
	}
	if _, err := Release(n); err == nil || !strings.Contains(err.Error(), "is not held") {
		t.Errorf("want no release of what is not held, got %v", err)
	}
	n.Annotations = map[string]string{nodes.HoldAnnotation: ""}
	if e, err := Release(n); err != nil || strings.Join(e.Kubectl, " ") != "annotate node/n1 muster.dev/hold-" {
		t.Errorf("want the release, got %v, %v", e.Kubectl, err)
	}
}

func TestFindMachine(t *testing.T) {
	t.Parallel()
	p := poolOf(nil)
	p.Infra.Object["status"].(fields)["instances"] = []any{fields{"instanceID": "i-1", "node": "n1"}, fields{"instanceID": "i-2"}}
	other := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "m1"}, Spec: clusterv1.MachineSpec{ClusterName: "else"}}
	other.Status.NodeRef.Name = "n1"
	o := tree.Objects{Pools: []clusterv1.MachinePool{*p.MachinePool}, Machines: []clusterv1.Machine{other}}
	o.Infrastructure = map[string]*unstructured.Unstructured{"team/workers": p.Infra}
	for _, c := range []struct{ why, cluster, name, want string }{
		{"by the instance", "", "i-1", "team/demo n1"},
		{"by the Machine", "", "m1", "team/else n1"},
		{"the Nodes of two clusters have one name", "", "n1", "choose one with --cluster"},
		{"of one cluster", "demo", "n1", "team/demo n1"},
		{"one that no pool lists", "demo", "n9", "team/demo n9"},
		{"one of an unknown cluster", "", "n9", "name the cluster of the Node with --cluster"},
		{"one that has not joined", "", "i-2", "has no Node yet"},
	} {
		m, err := FindMachine(o, "team", c.cluster, c.name)
		got := m.Cluster.String() + " " + m.Node
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}
