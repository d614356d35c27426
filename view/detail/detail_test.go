package detail

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/memory"
)

// facts returns those of a pool of three machines, with a pass.
func facts(out *engine.Outcome) Facts {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: ptr.To(int32(3))}}
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: "K", Name: "p"}
	infra := &unstructured.Unstructured{Object: map[string]any{"kind": "K", "status": map[string]any{"state": "Running", "template": "lt:2",
		"instances": []any{
			map[string]any{"instanceID": "i-2", "zone": "b", "state": "Running", "node": "n2", "ready": true,
				"template": "lt:2", "version": "v1.34.0"},
			map[string]any{"instanceID": "i-1", "zone": "a", "state": "Running", "node": "n1", "template": "lt:1"},
			map[string]any{"instanceID": "i-3", "zone": "b", "state": "Pending"},
			map[string]any{"instanceID": "i-4", "zone": "b", "state": "Running", "template": "lt:2"},
		}}}}
	f := Facts{Pool: mp, Infra: infra}
	if out != nil {
		f.Pass = &memory.Pass{At: time.Now(), Outcome: *out}
	}
	return f
}

// machines returns "ID status age" of all machines in order.
func machines(d Detail) string {
	var list []string
	for _, z := range d.Zones {
		for _, m := range z.Machines {
			list = append(list, z.Name+"/"+m.ID+" "+string(m.Status)+" "+string(m.Age))
		}
	}
	return strings.Join(list, ", ")
}

// TestWithoutAPass holds what is shown where another process runs the pool: the machines as the objects have them.
func TestWithoutAPass(t *testing.T) {
	t.Parallel()
	d := Build(facts(nil))
	if want := "a/i-1 NotReady old, b/i-2 Ready new, b/i-3 Pending unknown, b/i-4 Joining new"; machines(d) != want {
		t.Errorf("want %s, got %s", want, machines(d))
	}
	if d.Rollout != nil || d.Budget != nil || !d.Observed.IsZero() || d.Machines != 4 {
		t.Errorf("want nothing of a pass, got %+v", d)
	}
	f := facts(nil)
	f.Infra, f.Pool.Spec.ProviderIDList = nil, []string{"cloud:///z/i-9"}
	if d := Build(f); machines(d) != "/i-9 Unknown unknown" {
		t.Errorf("want the provider IDs of another provider's pool, got %s", machines(d))
	}
}

// TestStatesOfMachines holds the word for each state, also while the workload cluster does not answer.
func TestStatesOfMachines(t *testing.T) {
	t.Parallel()
	ready := &pool.Node{Name: "n", Ready: true}
	drained := &pool.Node{Name: "n", Ready: true, DrainStarted: time.Now(), Blocked: []string{"pod x"}}
	for _, c := range []struct {
		why     string
		i       pool.Instance
		unknown bool
		want    Status
	}{
		{"launched", pool.Instance{State: pool.Pending}, false, Pending},
		{"runs without a node", pool.Instance{State: pool.Running}, false, Joining},
		{"serves", pool.Instance{State: pool.Running, Node: ready}, false, Serving},
		{"its node is not Ready", pool.Instance{State: pool.Running, Node: &pool.Node{}}, false, NotReady},
		{"is drained", pool.Instance{State: pool.Running, Node: drained}, false, Draining},
		{"is drained while a hook holds it", pool.Instance{State: pool.Terminating, Node: drained}, false, Draining},
		{"goes", pool.Instance{State: pool.Terminating, Node: ready}, false, Terminating},
		{"has failed", pool.Instance{State: pool.Failed, Node: ready}, false, Failed},
		{"the workload cluster does not answer", pool.Instance{State: pool.Running}, true, NodeUnknown},
		{"launched while it does not", pool.Instance{State: pool.Pending}, true, Pending},
	} {
		c.i.ID = "i"
		d := Build(facts(&engine.Outcome{Seen: true, Observed: pool.Observed{NodesUnknown: c.unknown, Instances: []pool.Instance{c.i}}}))
		if got := d.Zones[0].Machines[0].Status; got != c.want || d.NodesUnknown != c.unknown {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
		if (len(d.Drains) == 1) != (c.i.Node == drained) {
			t.Errorf("%s: got drains %v", c.why, d.Drains)
		}
	}
}

// TestHaltedRollout holds that a halted rollout shows why, what the cloud reports, and that a later error of the cloud is shown with it.
func TestHaltedRollout(t *testing.T) {
	t.Parallel()
	issues := []pool.Cause{{Reason: "Invalid", Message: "no such image"}}
	f := facts(&engine.Outcome{Seen: true, Started: true, Observed: pool.Observed{Issues: issues},
		Plan: pool.Plan{Rollout: pool.Rollout{State: pool.RolloutHalted, Cause: pool.Cause{Reason: "RolloutHalted", Message: "i-3 never joined"}},
			Refused: &pool.Cause{Message: "refused"}, Waiting: []pool.Cause{{Message: "waits"}}, Step: &pool.Step{Kind: pool.Resize},
			Budget: pool.Budget{MaxUnavailable: 1, Unavailable: 3, MaxSurge: 2}}})
	f.Pass.Later = errors.New("the cloud is unavailable")
	d := Build(f)
	if d.Rollout.State != "Halted" || d.Rollout.Cause.Message != "i-3 never joined" || d.Rollout.Step != "Resize" || len(d.Issues) != 1 ||
		d.NotObserved != "the cloud is unavailable" || d.Waiting[0].Message != "refused" || len(d.Waiting) != 2 {
		t.Errorf("got %+v", d)
	}
	if d.Budget.UnavailableLeft() != 0 || d.Budget.SurgeLeft() != 2 {
		t.Errorf("want what is left of the budget and never less than nothing, got %+v", d.Budget)
	}
}

// TestConditions holds that those that report a problem come first, and that a condition that reports no problem is none by being False.
func TestConditions(t *testing.T) {
	t.Parallel()
	f := facts(nil)
	f.Pool.Status.Conditions = []metav1.Condition{{Type: "Paused", Status: "False"}, {Type: "Available", Status: "False", Message: "* a\n* b"},
		{Type: "Draining", Status: "True"}, {Type: "UpToDate", Status: "True"}}
	d := Build(f)
	var bad []string
	for k, c := range d.Conditions {
		if c.Bad {
			bad = append(bad, c.Type)
			if k >= 2 {
				t.Errorf("want problems first, got %v", d.Conditions)
			}
		}
	}
	if !slices.Equal(bad, []string{"Available", "Draining"}) || d.Conditions[0].Message != "a; b" {
		t.Errorf("want the problems, got %v", d.Conditions)
	}
}

// TestPausedAndCommands holds that a pause of the pool or its cluster is shown, and that commands name the pool.
func TestPausedAndCommands(t *testing.T) {
	t.Parallel()
	f := facts(nil)
	if Build(f).Paused {
		t.Error("want it not paused")
	}
	f.Cluster = &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: ptr.To(true)}}
	if !Build(f).Paused {
		t.Error("want it paused with its cluster")
	}
	for _, c := range Build(f).Commands {
		if !strings.Contains(c.Line, "p --namespace n") || c.Title == "" {
			t.Errorf("want the pool in each command, got %v", c)
		}
	}
	if got := Build(f).Pool.Infrastructure; got != (view.Reference{Kind: "K", Name: "p"}) {
		t.Errorf("got %v", got)
	}
}

// TestWhatGoes holds which machines are said to go now, and whose differences count.
func TestWhatGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why     string
		i       pool.Instance
		unknown bool
		now     bool
		differ  int
	}{
		{"a selected machine", pool.Instance{State: pool.Running}, false, true, 1},
		{"none while the workload cluster does not answer", pool.Instance{State: pool.Running}, true, false, 1},
		{"the cloud takes one all the same", pool.Instance{State: pool.Running, TerminationNotice: &pool.Cause{}}, true, true, 1},
		{"one that is going needs no replacement", pool.Instance{State: pool.Terminating}, false, true, 0},
	} {
		c.i.ID, c.i.TemplateDiff = "i-1", []string{"spec.x"}
		d := Build(facts(&engine.Outcome{Seen: true, Observed: pool.Observed{Instances: []pool.Instance{c.i}, NodesUnknown: c.unknown},
			Plan: pool.Plan{Instances: []pool.InstanceDecision{{ID: "i-1", Selected: true}}}}))
		differ := 0
		for _, f := range d.Differs {
			differ += f.Machines
		}
		if got := d.Zones[0].Machines[0]; got.Goes == nil || got.Selected != c.now || differ != c.differ {
			t.Errorf("%s: want it to go now: %v, and %d that differ; got %+v, %d", c.why, c.now, c.differ, got, differ)
		}
	}
}
