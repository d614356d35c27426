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
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func TestAPoolComesUp(t *testing.T) {
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
		t.Error("finalizer: want it before anything is taken over, got none")
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

	change(w, w.mgmt, client.ObjectKeyFromObject(config), config, func(o *unstructured.Unstructured) { o.Object["status"] = aConfig().Object["status"] })
	w.settled()
	want(t, "phase with bootstrap data", w.pool().Status.Phase, "Provisioning")
	want(t, "data secret", *w.pool().Spec.Template.Spec.Bootstrap.DataSecretName, "boot-data")

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

func TestTheSteadyStateWritesNothing(t *testing.T) {
	t.Parallel()
	w := running(t)
	for range 3 {
		if res := w.pass(); res.RequeueAfter != 0 {
			t.Errorf("want no time to look again, got %v", res.RequeueAfter)
		}
		if len(w.writes) != 0 {
			t.Errorf("writes of a pool where nothing happens: want none, got %v", w.writes)
		}
	}
	wantAll(t, "events", w.events(), []string{})
}

func TestRow20_ASecondSpellingOrAnotherOrderIsNoChange(t *testing.T) {
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
	want(t, "ScalingUp of 2 of 3", w.message(clusterv1.ScalingUpCondition), "2 of 3 replicas are available: TestMachinePool infra has 2 instances")
	set(1, id1, id2)
	want(t, "phase of 2 of 1", w.pool().Status.Phase, "ScalingDown")
	want(t, "ScalingDown of 2 of 1", w.message(clusterv1.ScalingDownCondition), "Scaling down from 2 to 1 replicas")
	want(t, "Available of 2 of 1", w.condition(clusterv1.AvailableCondition), "True Available")
	w.changeNode("n2", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	set(1, id1)
	want(t, "phase of 1 of 1", w.pool().Status.Phase, "Running")
	wantAll(t, "nodes: the one that was cordoned and left the pool is removed at once", w.nodeNames(), []string{"n1"})
	w.changeNode("n1", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	set(0)
	want(t, "phase of 0 of 0", w.pool().Status.Phase, "Running")
	want(t, "MachinesReady of 0", w.condition(clusterv1.MachinesReadyCondition), "True NoReplicas")
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 0})
}

func TestANodeThatLivesOnOutsideThePoolIsKept(t *testing.T) {
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
	want(t, "what is said about it", w.message(clusterv1.MachinesReadyCondition), "left the pool, but still Ready: n2")
	want(t, "MachinesReady", w.condition(clusterv1.MachinesReadyCondition), "True Ready")
}

func TestAnUnreachableClusterIsUnknown(t *testing.T) {
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
	want(t, "ReplicasReady of the older kind", w.older("ReplicasReady"), "Unknown")
	wantAll(t, "references stay", w.refs(), []string{"n1", "n2"})
	w.connect()
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
}

func TestAPassingLossOfConnectionChangesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		state  func(w *world) clustercache.HealthCheckingState
		phase  string
	}{
		"controllers start": {"nobody has tried to connect yet", func(*world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{ConsecutiveFailures: 1}
		}, "Running"},
		"controllers can't connect": {"it was tried often enough", func(*world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{ConsecutiveFailures: connectionTries}
		}, "Unknown"},
		"a minute": {"a hiccup", func(w *world) clustercache.HealthCheckingState {
			return clustercache.HealthCheckingState{LastProbeSuccessTime: w.clock.Add(-time.Minute), ConsecutiveFailures: 6}
		}, "Running"},
		"three minutes": {"no hiccup any more", func(w *world) clustercache.HealthCheckingState {
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
			want(t, "next look", res.RequeueAfter, connectionPause)
			if len(w.writes) != 0 {
				t.Errorf("%s: want nothing written, got %v", tc.reason, w.writes)
			}
		})
	}
}

func TestRow24_AControlPlaneThatIsNotUpIsWaitedForWithoutError(t *testing.T) {
	t.Parallel()
	cluster := aCluster()
	cluster.Status = clusterv1.ClusterStatus{}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra(id1)}, disconnected)
	w.settled()
	want(t, "message", w.message(clusterv1.AvailableCondition), "Waiting for the control plane of Cluster c1 to be initialized")
	want(t, "phase", w.pool().Status.Phase, "Provisioned")
}

func TestAVersionThatBootstrapRefusesIsShown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ version, state, message string }{
		"too old": {"v1.16.8", "False VersionNotSupported", "KubeadmConfig boot can't be rendered for spec.template.spec.version v1.16.8: " +
			"the bootstrap provider for kubeadm doesn't support Kubernetes version lower than v1.22.0"},
		"none": {"", "False VersionNotSupported", `KubeadmConfig boot needs spec.template.spec.version to be a Kubernetes version, found ""`},
		// The provider's own words are shown for every version that it takes.
		"newest that is too old": {"v1.21.14", "False VersionNotSupported", "KubeadmConfig boot can't be rendered for spec.template.spec.version v1.21.14: " +
			"the bootstrap provider for kubeadm doesn't support Kubernetes version lower than v1.22.0"},
		"oldest that is served": {"v1.22.0", "False NotAvailable", "Waiting for the token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := aPool(1)
			pool.Spec.Template.Spec.Version = tc.version
			pool.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "KubeadmConfig"
			config := object(kubeadmGVK, "boot", nil, map[string]any{"conditions": []any{map[string]any{
				"type": "Ready", "status": "False", "reason": "NotAvailable", "message": "Waiting for the token", "lastTransitionTime": "2026-01-01T00:00:00Z"}}})
			w := newWorld(t, []client.Object{aCluster(), pool, config, anInfra()})
			w.settled()
			want(t, "state", w.condition(clusterv1.BootstrapConfigReadyCondition), tc.state)
			want(t, "message", w.message(clusterv1.BootstrapConfigReadyCondition), tc.message)
			want(t, "older kind", w.older("BootstrapReady"), "False")
			told := strings.Contains(strings.Join(w.events(), "\n"), "Warning BootstrapRefused KubeadmConfig boot")
			want(t, "told as an event", told, strings.HasSuffix(tc.state, "VersionNotSupported"))
		})
	}
}

func TestBootstrapDataWithoutNameAreNone(t *testing.T) {
	t.Parallel()
	config := object(configGVK, "boot", nil, map[string]any{"ready": true})
	w := newWorld(t, []client.Object{aCluster(), aPool(1), config, anInfra()})
	w.settled()
	want(t, "bootstrap", w.message(clusterv1.BootstrapConfigReadyCondition), "TestConfig boot reports its data secret as created, but status.dataSecretName is empty")
}

func TestReferencesThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	t.Run("a kind that is not installed is looked for again", func(t *testing.T) {
		t.Parallel()
		pool := aPool(1)
		pool.Spec.Template.Spec.InfrastructureRef.Kind = "NoSuchMachinePool"
		w := newWorld(t, []client.Object{aCluster(), pool, aConfig()})
		res := w.settled()
		want(t, "next look", res.RequeueAfter, afterNoKind)
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "False KindNotInstalled")
		want(t, "message", w.message(clusterv1.InfrastructureReadyCondition), "kind NoSuchMachinePool of group infrastructure.cluster.x-k8s.io: "+
			"no CustomResourceDefinition nosuchmachinepools.infrastructure.cluster.x-k8s.io")
	})
	t.Run("an object of another pool is not taken", func(t *testing.T) {
		t.Parallel()
		infra, yes := anInfra(id1), true
		infra.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "other", UID: "other-uid", Controller: &yes}})
		w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), infra})
		w.settled()
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "False OwnedByAnother")
		want(t, "message", w.message(clusterv1.InfrastructureReadyCondition), "TestMachinePool infra belongs to MachinePool other; refer to one of this pool's own")
		wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, nil)
	})
	t.Run("infrastructure that was deleted is told and forgiven", func(t *testing.T) {
		t.Parallel()
		w := running(t)
		if err := w.mgmt.Delete(t.Context(), w.get(infraGVK, "infra")); err != nil {
			t.Fatal(err)
		}
		w.settled()
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "False ObjectDeleted")
		want(t, "failure", string(*w.pool().Status.Deprecated.V1Beta1.FailureReason), "InvalidConfiguration")
		w.create(anInfra(id1, id2))
		w.settled()
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "True Ready")
		want(t, "failure was taken back", w.pool().Status.Deprecated.V1Beta1.FailureReason == nil, true)
	})
}

func TestAConflictIsNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
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

func TestManyNodesAreWrittenAFewAtATime(t *testing.T) {
	t.Parallel()
	const count = nodeWrites + 5
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
		want(t, "next look", res.RequeueAfter, soon)
	}
	want(t, "writes of the passes", fmt.Sprint(passes), fmt.Sprint([]int{nodeWrites, 5}))
	want(t, "ready", w.counts()[0], int32(count))
}
