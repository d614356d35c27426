package machinepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// leavingMachine is a Machine that is being deleted.
func leavingMachine(name, reason, message string) *clusterv1.Machine {
	now := metav1.NewTime(time.Unix(1, 0))
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: &now}}
	if reason != "" {
		conditions.Set(m, metav1.Condition{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: reason, Message: message})
	}
	return m
}

// A pool that is being deleted says which of its Machines do not get on and what holds each, before those that do.
func TestDeletionTellsWhichDrainsAreBlocked(t *testing.T) {
	t.Parallel()
	held := leavingMachine("m900", clusterv1.MachineDeletingDrainingNodeReason, "Drain not completed yet (started at 2030-01-02T03:04:05Z):\n"+
		"* Pod default/web: cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 3 healthy pods and has 3 currently")
	for name, tc := range map[string]struct {
		reason   string
		machines []*clusterv1.Machine
		want     string
	}{
		"on their way": {"nothing holds them", []*clusterv1.Machine{leavingMachine("m1", "", ""), leavingMachine("m2", "DrainingNode", "")},
			"Machines are left to be deleted: 2, m1, m2 (DrainingNode)"},
		"a budget": {"the pod and its budget are what people look for, and no time", []*clusterv1.Machine{leavingMachine("m1", "", ""), held},
			"Machines are left to be deleted: 2, m900 (DrainingNode: Pod default/web: cannot evict pod as it would violate the pod's disruption budget. " +
				"The disruption budget web needs 3 healthy pods and has 3 currently), m1"},
		"a hook": {"whoever set the hook has to take it away", []*clusterv1.Machine{leavingMachine("m1", clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
			"Waiting for pre-terminate hooks to succeed (hooks: pre-terminate.delete.hook.machine.cluster.x-k8s.io/x)")},
			"Machines are left to be deleted: 1, m1 (WaitingForPreTerminateHook: Waiting for pre-terminate hooks to succeed (hooks: pre-terminate.delete.hook.machine.cluster.x-k8s.io/x))"},
		"volumes": {"what began when is no part of it", []*clusterv1.Machine{leavingMachine("m1", clusterv1.MachineDeletingWaitingForVolumeDetachReason,
			"Waiting for Node volumes to be detached (started at 2030-01-02T03:04:05Z)\n* PVCs: default/a")},
			"Machines are left to be deleted: 1, m1 (WaitingForVolumeDetach: Waiting for Node volumes to be detached * PVCs: default/a)"},
		"a pause": {"whoever paused it has to take that away", []*clusterv1.Machine{func() *clusterv1.Machine {
			m := leavingMachine("m1", "", "")
			m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
			return m
		}()}, "Machines are left to be deleted: 1, m1 (has the annotation cluster.x-k8s.io/paused)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := left(tc.machines); got != tc.want {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
	var many []*clusterv1.Machine
	for n := range 5000 {
		many = append(many, leavingMachine(fmt.Sprintf("m%04d", n), "DrainingNode", "Drain not completed yet:\n* "+strings.Repeat("Pod default/web: cannot evict pod. ", 50)))
	}
	if got := left(many); len(got) > 4096 || !strings.Contains(got, "5000, m0000 (DrainingNode: Pod default/web: cannot evict") || !strings.HasSuffix(got, "and 4995 more") {
		t.Errorf("5000 Machines: want a message that people can read, got %d letters: %s", len(got), got)
	}
}

// A pool whose infrastructure's kind has lost the label of the contract can't be told from one whose provider comes back: it waits, says
// so, and goes on as soon as the label is there.
func TestDeletionWaitsForAKindThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	kind := func(labels map[string]string) {
		change(w, w.mgmt, client.ObjectKey{Name: "testmachinepools." + infraGVK.Group}, &apiextensionsv1.CustomResourceDefinition{},
			func(c *apiextensionsv1.CustomResourceDefinition) { c.Labels = labels })
	}
	kind(nil)
	res := w.settled()
	want(t, "next look", res.RequeueAfter, afterDeletion)
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	if m := w.message(clusterv1.DeletingCondition); !strings.Contains(m, "kind TestMachinePool") || !strings.Contains(m, "cluster.x-k8s.io/<v1beta2 or v1beta1>") {
		t.Errorf("message: want the kind and the labels that are missing, got %q", m)
	}
	want(t, "Ready", w.condition(clusterv1.ReadyCondition), "False Deleting")
	want(t, "its words", w.message(clusterv1.ReadyCondition), w.message(clusterv1.DeletingCondition))
	kind(crd(infraGVK).Labels)
	w.settled()
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	w.settled()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %s", w.message(clusterv1.DeletingCondition))
	}
}

// Without a limit Nodes are tried for as long as the cluster answers, whatever it answers.
func TestNoLimitMeansNoLimitWhileTheClusterAnswers(t *testing.T) {
	t.Parallel()
	w := running(t)
	none := int32(0)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = &none })
	w.failNodes = errors.New("admission webhook says no")
	w.delete()
	w.settled()
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	for range 3 {
		w.pass()
		w.clock = w.clock.Add(24 * time.Hour)
		w.r.ClusterCache = answering{w.r.ClusterCache, w.clock}
	}
	if w.pool() == nil {
		t.Fatal("pool: want it to wait for its nodes, got it gone")
	}
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True DeletingNode")
	w.failNodes = nil
	w.settled()
	if w.pool() != nil {
		t.Errorf("pool: want it gone with its nodes, got %s", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "nodes", w.nodeNames(), []string{})
}

// Instances that another pool of the cluster lists are not listed twice: admission refuses it, and one Node has one pool.
func TestInstancesOfAnotherPoolAreLeftOut(t *testing.T) {
	t.Parallel()
	w := running(t)
	other := aPool(1)
	other.Name, other.UID, other.Spec.ProviderIDList = "other", "other-uid", []string{"aws:////i-3"}
	elsewhere := aPool(1)
	elsewhere.Name, elsewhere.UID, elsewhere.Spec.ClusterName, elsewhere.Spec.ProviderIDList = "elsewhere", "elsewhere-uid", "c2", []string{"aws:////i-4"}
	w.create(other)
	w.create(elsewhere)
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///a/i-3", "aws:///a/i-4") })
	w.settled()
	wantAll(t, "instances", w.pool().Spec.ProviderIDList, []string{id1, id2, "aws:///a/i-4"})
	if m := w.message(clusterv1.MachinesReadyCondition); !strings.Contains(m, "left out, for another pool lists them: aws:///a/i-3 (MachinePool other)") {
		t.Errorf("MachinesReady: want the instance and the other pool, got %q", m)
	}
	change(w, w.mgmt, client.ObjectKeyFromObject(other), &clusterv1.MachinePool{}, func(p *clusterv1.MachinePool) { p.Spec.ProviderIDList = nil })
	w.settled()
	wantAll(t, "instances once the other has let go", w.pool().Spec.ProviderIDList, []string{id1, id2, "aws:///a/i-3", "aws:///a/i-4"})
}

// What is told of instances that two others list is always the same, whichever a cache gives first, and they are looked at again
// before long: that the others let go wakes nobody here.
func TestInstancesOfTwoOtherPoolsAreToldOfInOneWay(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, name := range []string{"other", "another"} {
		o := aPool(1)
		o.Name, o.UID, o.Spec.ProviderIDList = name, types.UID(name), []string{"aws:////i-3"}
		w.create(o)
	}
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		err := c.List(ctx, list, opts...)
		if pools, ok := list.(*clusterv1.MachinePoolList); ok {
			slices.Reverse(pools.Items)
		}
		return err
	}})
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///a/i-3") })
	result := w.settled()
	if m := w.message(clusterv1.MachinesReadyCondition); !strings.Contains(m, "aws:///a/i-3 (MachinePool another)") {
		t.Errorf("MachinesReady: want the first of the other pools, got %q", m)
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > afterElsewhere {
		t.Errorf("want another look within %s, got %s", afterElsewhere, result.RequeueAfter)
	}
}

// What a pool lists already it keeps, whoever lists it too: taking it out would take its Node for left behind.
func TestInstancesThatAreListedAlreadyStay(t *testing.T) {
	t.Parallel()
	w := running(t)
	other := aPool(1)
	other.Name, other.UID, other.Spec.ProviderIDList = "other", "other-uid", []string{id2}
	w.create(other)
	w.changeInfra(func(o map[string]any) { setInstances(o, id2, id1, id2) })
	w.settled()
	wantAll(t, "instances", w.pool().Spec.ProviderIDList, []string{id1, id2})
	wantAll(t, "references", w.refs(), []string{"n1", "n2"})
}

// A cluster that has lost its infrastructure is one that nobody connects to: its pools are not kept for an attempt that never comes.
func TestNodesOfAClusterThatNobodyConnectsToAreGivenUp(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	w.settled()
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	no := false
	change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) {
		c.Status.Initialization.InfrastructureProvisioned, c.Status.Conditions = &no, nil
	})
	w.lose(clustercache.HealthCheckingState{})
	w.settled()
	want(t, "message", w.message(clusterv1.DeletingCondition), "Nodes are left to be removed: Waiting for the control plane of Cluster c1 to be initialized")
	w.events()
	w.clock = w.clock.Add(11 * time.Second)
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone after the default limit, got %s", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "events", w.events(), []string{"Warning NodesLeft Nodes are left in Cluster c1: Waiting for the control plane of Cluster c1 to be initialized"})
}

// Whoever paused what the pool refers to is the one who has to know that its deletion waits for that.
func TestDeletionTellsOfAnInfrastructureThatIsPaused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	w.changeInfra(func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{clusterv1.PausedAnnotation: "true"}
	})
	w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	want(t, "message", w.message(clusterv1.DeletingCondition), "TestMachinePool infra is being deleted, and waits while it has the annotation cluster.x-k8s.io/paused")
}
