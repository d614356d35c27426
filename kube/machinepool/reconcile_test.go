package machinepool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/kubeconfig"
	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/machinepool/status"
)

func TestPoolFromCreationToRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aPool(2)})

	w.settled()
	want(t, "phase without a cluster", w.pool().Status.Phase, "Pending")
	want(t, "Available without a cluster", w.condition(clusterv1.AvailableCondition), "False ClusterDoesNotExist")
	want(t, "message without a cluster", w.message(clusterv1.AvailableCondition), "Cluster default/c1 does not exist")

	w.create(aCluster())
	w.settled()
	want(t, "phase without references", w.pool().Status.Phase, "Pending")
	want(t, "bootstrap", w.condition(clusterv1.BootstrapConfigReadyCondition), "False ObjectDoesNotExist")
	want(t, "infrastructure", w.message(clusterv1.InfrastructureReadyCondition), "TestMachinePool infra does not exist")
	if !controllerutil.ContainsFinalizer(w.pool(), clusterv1.MachinePoolFinalizer) {
		t.Error("finalizer: want it before any object is taken over, got none")
	}
	want(t, "cluster label", w.pool().Labels[clusterv1.ClusterNameLabel], "c1")
	if owners := w.pool().OwnerReferences; len(owners) != 1 || owners[0].Kind != "Cluster" || owners[0].Controller != nil {
		t.Errorf("owners: want the Cluster alone and not as controller, got %v", owners)
	}

	infra := anInfra()
	infra.Object["status"] = map[string]any{}
	config := aConfig()
	config.Object["status"] = map[string]any{}
	w.create(infra)
	w.create(config)
	w.settled()
	for _, o := range []*unstructured.Unstructured{w.get(infraGVK, "infra"), w.get(configGVK, "boot")} {
		if !metav1.IsControlledBy(o, w.pool()) || o.GetLabels()[clusterv1.ClusterNameLabel] != "c1" {
			t.Errorf("%s: want it owned by the pool and labelled, got %v %v", o.GetKind(), o.GetOwnerReferences(), o.GetLabels())
		}
	}
	want(t, "bootstrap", w.message(clusterv1.BootstrapConfigReadyCondition), "TestConfig boot has not created its data secret")

	change(w, w.mgmt, client.ObjectKeyFromObject(config), config,
		func(o *unstructured.Unstructured) { o.Object["status"] = aConfig().Object["status"] })
	w.settled()
	want(t, "phase with bootstrap data", w.pool().Status.Phase, "Provisioning")
	want(t, "data secret", *w.pool().Spec.Template.Spec.Bootstrap.DataSecretName, "boot-data")

	refusal := "ec2:CreateLaunchTemplate: UnauthorizedOperation: you are not authorized to perform this operation"
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedSlice(o, []any{map[string]any{"type": "Ready", "status": "False", "reason": "Denied", "message": refusal,
			"lastTransitionTime": "2026-01-01T00:00:00Z"}}, "status", "conditions")
	})
	w.settled()
	want(t, "what the cloud refuses", w.condition(clusterv1.InfrastructureReadyCondition), "False Denied")
	want(t, "in its words", w.message(clusterv1.InfrastructureReadyCondition), refusal)

	w.changeInfra(func(o map[string]any) { o["status"] = map[string]any{"ready": true, "replicas": int64(2)} })
	w.settled()
	want(t, "phase before instances are listed", w.pool().Status.Phase, "Provisioned")
	want(t, "machines", w.message(clusterv1.MachinesReadyCondition), "TestMachinePool infra reports 2 replicas, but no provider IDs")

	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id1, id2}, "spec", "providerIDList")
	})
	w.node("n1", "aws:////i-1", true)
	w.settled()
	want(t, "phase while one joins", w.pool().Status.Phase, "ScalingUp")
	want(t, "ScalingUp", w.message(clusterv1.ScalingUpCondition), "1 of 2 replicas are available: no node yet for "+id2)

	w.node("n2", id2, false)
	w.settled()
	want(t, "phase while one is not ready", w.pool().Status.Phase, "Provisioned")
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, true, w.clock) })
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	wantAll(t, "references", w.refs(), []string{"n1", "n2"})
	if v := w.pool().Status.Versions; len(v) != 1 || v[0] != (clusterv1.StatusVersion{Version: "v1.36.0", Replicas: 2}) {
		t.Errorf("versions: want v1.36.0 twice, got %v", v)
	}
	for condition, state := range map[string]string{
		clusterv1.AvailableCondition: "True Available", clusterv1.BootstrapConfigReadyCondition: "True Ready",
		clusterv1.InfrastructureReadyCondition: "True Ready", clusterv1.MachinesReadyCondition: "True Ready",
		clusterv1.MachinesUpToDateCondition: "True UpToDate", clusterv1.ScalingUpCondition: "False NotScalingUp",
		clusterv1.ScalingDownCondition: "False NotScalingDown", clusterv1.RemediatingCondition: "False NotRemediating",
		clusterv1.DeletingCondition: "False NotDeleting", clusterv1.PausedCondition: "False NotPaused",
	} {
		want(t, condition, w.condition(condition), state)
	}
	for _, older := range []clusterv1.ConditionType{"Ready", "BootstrapReady", "InfrastructureReady", "ReplicasReady"} {
		want(t, "older "+string(older), w.older(older), "True")
	}
	wantAll(t, "events", w.events(), []string{
		"Normal BootstrapDataReady Bootstrap data is ready",
		"Normal InfrastructureProvisioned TestMachinePool infra is provisioned",
		"Normal SuccessfulSetNodeRefs n1 joined; nodes now: 1",
		"Normal SuccessfulSetNodeRefs n2 joined; nodes now: 2",
	})
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.mgmt.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func TestSteadyStateWritesNothing(t *testing.T) {
	t.Parallel()
	w := running(t)
	for range 3 {
		if res := w.pass(); res.RequeueAfter != 0 {
			t.Errorf("want no further pass requested, got %v", res.RequeueAfter)
		}
		if len(w.writes) != 0 {
			t.Errorf("writes of a pool without changes: want none, got %v", w.writes)
		}
	}
	wantAll(t, "events", w.events(), []string{})
}

func TestRow20_SpellingAndOrderOfProviderIDsAreNoChange(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{"aws:////i-2", id1}, "spec", "providerIDList")
	})
	w.pass()
	if len(w.writes) != 0 {
		t.Errorf("want no write, got %v", w.writes)
	}
	wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, []string{id1, id2})
}

func TestScaling(t *testing.T) {
	t.Parallel()
	w := running(t)
	set := func(replicas int32, ids ...string) {
		w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Replicas = &replicas })
		w.changeInfra(func(o map[string]any) {
			_ = unstructured.SetNestedStringSlice(o, ids, "spec", "providerIDList")
			_ = unstructured.SetNestedField(o, int64(len(ids)), "status", "replicas")
			_ = unstructured.SetNestedField(o, int64(len(ids)), "status", "upToDateReplicas")
		})
		w.settled()
	}
	set(3, id1, id2)
	want(t, "phase of 2 of 3", w.pool().Status.Phase, "ScalingUp")
	want(t, "ScalingUp of 2 of 3", w.message(clusterv1.ScalingUpCondition),
		"2 of 3 replicas are available: TestMachinePool infra has 2 instances")
	set(1, id1, id2)
	want(t, "phase of 2 of 1", w.pool().Status.Phase, "ScalingDown")
	want(t, "ScalingDown of 2 of 1", w.message(clusterv1.ScalingDownCondition), "Scaling down from 2 to 1 replicas")
	want(t, "Available of 2 of 1", w.condition(clusterv1.AvailableCondition), "True Available")
	w.drains("n2")
	set(1, id1)
	want(t, "phase of 1 of 1", w.pool().Status.Phase, "Running")
	wantAll(t, "nodes: the drained one that left the pool is deleted at once", w.nodeNames(), []string{"n1"})
	w.drains("n1")
	set(0)
	want(t, "phase of 0 of 0", w.pool().Status.Phase, "Running")
	want(t, "MachinesReady of 0", w.condition(clusterv1.MachinesReadyCondition), "True NoReplicas")
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 0})
}

func TestReadyNodeOutsideThePoolIsKept(t *testing.T) {
	t.Parallel()
	w := running(t)
	one := int32(1)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Replicas = &one })
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id1}, "spec", "providerIDList")
		_ = unstructured.SetNestedField(o, int64(1), "status", "replicas")
	})
	w.settled()
	wantAll(t, "nodes", w.nodeNames(), []string{"n1", "n2"})
	want(t, "message", w.message(clusterv1.MachinesReadyCondition), "no longer in the pool, but still Ready: n2")
	want(t, "MachinesReady", w.condition(clusterv1.MachinesReadyCondition), "True Ready")
}

func TestUnreachableClusterIsUnknown(t *testing.T) {
	t.Parallel()
	w := running(t)
	disconnected(w)
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Unknown")
	want(t, "ready, available, up to date", w.counts(), [3]int32{-1, -1, 2})
	for condition, state := range map[string]string{
		clusterv1.AvailableCondition: "Unknown ConnectionDown", clusterv1.MachinesReadyCondition: "Unknown ReadyUnknown",
		clusterv1.ScalingUpCondition: "Unknown ConnectionDown", clusterv1.MachinesUpToDateCondition: "True UpToDate",
	} {
		want(t, condition, w.condition(condition), state)
	}
	want(t, "ReplicasReady of v1beta1", w.older("ReplicasReady"), "Unknown")
	wantAll(t, "references", w.refs(), []string{"n1", "n2"})
	w.connect()
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
}

func TestInterruptedConnectionChangesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		state  func(w *world) clustercache.HealthCheckingState
		phase  string
	}{
		"controllers start": {"the controllers have not tried to connect yet", func(*world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{ConsecutiveFailures: 1}
		}, "Running"},
		"controllers can't connect": {"they have tried often enough", func(*world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{ConsecutiveFailures: nodesync.ConnectionTries}
		}, "Unknown"},
		"a minute": {"within the grace period", func(w *world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{LastProbeSuccessTime: w.clock.Add(-time.Minute), ConsecutiveFailures: 6}
		}, "Running"},
		"three minutes": {"longer than the grace period", func(w *world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{LastProbeSuccessTime: w.clock.Add(-3 * time.Minute), ConsecutiveFailures: 18}
		}, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.lose(tc.state(w))
			res := w.pass()
			want(t, tc.reason, w.pool().Status.Phase, tc.phase)
			if tc.phase != "Running" {
				return
			}
			want(t, "next pass", res.RequeueAfter, nodesync.ConnectionPause)
			if len(w.writes) != 0 {
				t.Errorf("%s: want nothing written, got %v", tc.reason, w.writes)
			}
		})
	}
}

func TestRow24_UninitializedControlPlaneIsNoError(t *testing.T) {
	t.Parallel()
	cluster := aCluster()
	cluster.Status = clusterv1.ClusterStatus{}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra(id1)}, disconnected)
	w.settled()
	want(t, "message", w.message(clusterv1.AvailableCondition), "Waiting for the control plane of Cluster c1 to be initialized")
	want(t, "phase", w.pool().Status.Phase, "Provisioned")
}

func TestConflictIsNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch,
			...client.SubResourcePatchOption) error {
			return apierrors.NewConflict(schema.GroupResource{Resource: "machinepools"}, "pool", errors.New("changed"))
		}})
	res, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey})
	if err != nil || res.RequeueAfter != afterConflict {
		t.Errorf("want another look after %v, got %v, %v", afterConflict, res, err)
	}
	wantAll(t, "events of what was not written", w.events(), []string{})
}

func TestWatchFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
	w.r.WatchFilterValue = "mine"
	w.pass()
	if len(w.writes) != 0 {
		t.Errorf("pool of another controller: want it left alone, got %v", w.writes)
	}
	w.changePool(func(p *clusterv1.MachinePool) { p.Labels = map[string]string{clusterv1.WatchLabel: "mine"} })
	w.settled()
	wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, []string{id1})
}

func TestNodeWritesOfAPassAreLimited(t *testing.T) {
	t.Parallel()
	const count = nodesync.WriteLimit + 5
	var ids []string
	for i := range count {
		ids = append(ids, fmt.Sprintf("aws:///zone-a/i-%03d", i))
	}
	w := newWorld(t, []client.Object{aCluster(), aPool(count), aConfig(), anInfra(ids...)})
	for i, id := range ids {
		w.node(fmt.Sprintf("n%03d", i), id, true)
	}
	var passes []int
	for {
		res := w.pass()
		written := 0
		for _, write := range w.writes {
			if strings.HasPrefix(write, "workload: patch") {
				written++
			}
		}
		passes = append(passes, written)
		if res.RequeueAfter == 0 {
			break
		}
		want(t, "next pass", res.RequeueAfter, nodesync.AfterLimit)
	}
	want(t, "writes of the passes", fmt.Sprint(passes), fmt.Sprint([]int{nodesync.WriteLimit, 5}))
	want(t, "ready", w.counts()[0], int32(count))
}

// TestNewNodeScalesUp holds that a pool is ScalingUp until its last new machine is available, and not because of a Node that was Ready
// before.
func TestNewNodeScalesUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		since  time.Duration
		status corev1.ConditionStatus
		want   clusterv1.MachinePoolPhase
	}{
		"new":       {"its network is being set up", time.Second, corev1.ConditionFalse, clusterv1.MachinePoolPhaseScalingUp},
		"unhealthy": {"it was Ready once", time.Hour, corev1.ConditionFalse, clusterv1.MachinePoolPhaseProvisioned},
		"ready":     {"nothing is missing", time.Hour, corev1.ConditionTrue, clusterv1.MachinePoolPhaseRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1-uid",
				CreationTimestamp: metav1.NewTime(w.clock.Add(-2 * time.Hour))}, Spec: corev1.NodeSpec{ProviderID: id1}}
			setReady(n, tc.status == corev1.ConditionTrue, w.clock.Add(tc.since-2*time.Hour))
			n.Status.Conditions[0].Status = tc.status
			if err := w.wl.Create(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			w.settled()
			want(t, tc.reason, w.pool().Status.Phase, string(tc.want))
		})
	}
}

// related records what events are related to.
type related struct{ all []string }

func (r *related) Eventf(_ k8sruntime.Object, about k8sruntime.Object, _, reason, _, note string, args ...any) {
	of := "nothing"
	if ref, ok := about.(*corev1.ObjectReference); ok && ref != nil {
		of = ref.Kind + " " + ref.Name
	}
	r.all = append(r.all, reason+" of "+of+": "+fmt.Sprintf(note, args...))
}

// TestEventsOfOneReasonHaveDifferentRelatedObjects holds that machines which join one after the other all have an event: the events API
// treats events of one reason and one related object as the same, and shows only the message of the first.
func TestEventsOfOneReasonHaveDifferentRelatedObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), anInfra(id1, id2)})
	told := &related{}
	w.r.Recorder = told
	w.settled()
	w.node("n1", id1, true)
	w.settled()
	w.node("n2", id2, true)
	w.settled()
	var joined []string
	for _, e := range told.all {
		if strings.HasPrefix(e, status.NodeRefsChanged) {
			joined = append(joined, e)
		}
	}
	wantAll(t, "events", joined, []string{"SuccessfulSetNodeRefs of Node n1: n1 joined; nodes now: 1",
		"SuccessfulSetNodeRefs of Node n2: n2 joined; nodes now: 2"})
}

// TestPauseOfThePoolAloneIsReported holds that the user learns that only the MachinePool is paused: by the contract each object is paused
// by itself.
func TestPauseOfThePoolAloneIsReported(t *testing.T) {
	t.Parallel()
	w := running(t)
	pause := func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} }
	w.changePool(pause)
	w.settled()
	const own = "MachinePool has the cluster.x-k8s.io/paused annotation"
	want(t, "Paused", w.condition(clusterv1.PausedCondition), "True Paused")
	want(t, "the pool alone", w.message(clusterv1.PausedCondition),
		own+"; TestMachinePool infra is not paused, and its machines are still created, replaced and removed: "+
			"set the annotation on it too, or spec.paused of Cluster c1")
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringMap(o, map[string]string{clusterv1.PausedAnnotation: ""}, "metadata", "annotations")
	})
	w.settled()
	want(t, "both", w.message(clusterv1.PausedCondition), own)
	w.changeInfra(func(o map[string]any) { unstructured.RemoveNestedField(o, "metadata", "annotations") })
	cluster, yes := &clusterv1.Cluster{}, true
	change(w, w.mgmt, clusterKey, cluster, func(c *clusterv1.Cluster) { c.Spec.Paused = &yes })
	w.settled()
	want(t, "the Cluster", w.message(clusterv1.PausedCondition), "Cluster spec.paused is set to true, "+own)
}

// TestMoveRecordsNoEventsAgain holds that after a move or a restore, which keeps the spec and drops the status, what had happened before is
// not recorded again; a Node that joins afterwards is.
func TestMoveRecordsNoEventsAgain(t *testing.T) {
	t.Parallel()
	moved := aPool(2)
	infra := anInfra(id1, id2)
	status := infra.Object["status"]
	delete(infra.Object, "status")
	w := newWorld(t, []client.Object{aCluster(), moved, aConfig(), infra})
	w.changePool(func(p *clusterv1.MachinePool) {
		p.CreationTimestamp = metav1.NewTime(w.clock)
		p.Spec.ProviderIDList = []string{id1, id2}
	})
	w.node("n1", id1, true)
	w.changeNode("n1", func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(w.clock.Add(-time.Hour)) })
	w.settled()
	w.changeInfra(func(o map[string]any) { o["status"] = status })
	w.settled()
	wantAll(t, "references", w.refs(), []string{"n1"})
	wantAll(t, "events after the move", w.events(), []string{})
	w.node("n2", id2, true)
	w.changeNode("n2", func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(w.clock.Add(time.Minute)) })
	w.settled()
	wantAll(t, "events of a Node that joins", w.events(), []string{"Normal SuccessfulSetNodeRefs n2 joined; nodes now: 2"})
}

func TestRefusedKubeconfigIsNamed(t *testing.T) {
	t.Parallel()
	w := running(t)
	disconnected(w)
	guard := kubeconfig.NewGuard()
	w.r.ClusterCache = guard.Clusters(w.r.ClusterCache)
	secrets := fake.NewClientBuilder().WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: clusterKey.Namespace, Name: clusterKey.Name + "-kubeconfig"},
		Data:       map[string][]byte{"value": []byte("{")}}).Build()
	_ = guard.Secrets(secrets).Get(t.Context(), client.ObjectKey{Namespace: clusterKey.Namespace, Name: clusterKey.Name + "-kubeconfig"},
		&corev1.Secret{})
	w.settled()
	want(t, "message", w.message(clusterv1.AvailableCondition), "The connection to Cluster c1 is down: kubeconfig Secret "+
		clusterKey.Namespace+"/c1-kubeconfig: can't be read as a kubeconfig: write a document of apiVersion v1 and kind Config under key value")
}
