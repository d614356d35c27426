package machinepool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
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

// kindOf is a CustomResourceDefinition with the label of the contract, and a schema in which spec has the given fields.
func kindOf(name string, gvk schema.GroupVersionKind, fields ...string) *apiextensionsv1.CustomResourceDefinition {
	spec := apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, f := range fields {
		spec.Properties[f] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name + "." + gvk.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": gvk.Version}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: gvk.Version,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}}}}},
	}
}

// TestReferencesOutsideTheContracts holds that a pool takes and deletes nothing but objects of the two contracts, and gives back what an
// earlier version of the controller took.
func TestReferencesOutsideTheContracts(t *testing.T) {
	t.Parallel()
	yes := true
	mine := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: poolKey.Name, UID: "pool-uid", Controller: &yes}
	clusterGVK := clusterv1.GroupVersion.WithKind("Cluster")
	hostGVK := infraGVK.GroupVersion().WithKind("TestHost")
	other := schema.GroupVersionKind{Group: "machines.example.com", Version: "v1", Kind: "ExampleNodes"}
	for name, tc := range map[string]struct {
		reason string
		// gvk and name of what the pool refers to, as its bootstrap configuration or as its infrastructure.
		gvk       schema.GroupVersionKind
		name      string
		bootstrap bool
		change    func(c *clusterv1.Cluster)
		want      string
	}{
		"a Cluster": {reason: "the cluster would go with the pool", gvk: clusterGVK, name: "capa",
			want: "False ReferenceRefused"},
		"the pool's own Cluster": {reason: "the same", gvk: clusterGVK, name: clusterKey.Name, want: "False ReferenceRefused"},
		"a Cluster as configuration": {reason: "bootstrap objects are taken and deleted as well", gvk: clusterGVK, name: "capa", bootstrap: true,
			want: "False ReferenceRefused"},
		"a kind of another contract":      {reason: "its provider's other objects are not pools", gvk: hostGVK, name: "host", want: "False ReferenceRefused"},
		"infrastructure as configuration": {reason: "it is the other contract", gvk: infraGVK, name: "spare", bootstrap: true, want: "False ReferenceRefused"},
		"the Cluster's infrastructure": {reason: "whatever its kind, it is the Cluster's", gvk: infraGVK, name: "spare", want: "False ReferenceRefused",
			change: func(c *clusterv1.Cluster) {
				c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGVK.Group, Kind: infraGVK.Kind, Name: "spare"}
			}},
		"a provider's own group": {reason: "the contract leaves providers their API group", gvk: other, name: "nodes", want: "True Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, pool, second := aCluster(), aPool(0), aCluster()
			second.Name, second.UID = "capa", "capa-uid"
			if tc.change != nil {
				tc.change(cluster)
			}
			ref := clusterv1.ContractVersionedObjectReference{APIGroup: tc.gvk.Group, Kind: tc.gvk.Kind, Name: tc.name}
			condition := clusterv1.InfrastructureReadyCondition
			if tc.bootstrap {
				pool.Spec.Template.Spec.Bootstrap.ConfigRef, condition = ref, clusterv1.BootstrapConfigReadyCondition
			} else {
				pool.Spec.Template.Spec.InfrastructureRef = ref
			}
			w := newWorld(t, []client.Object{cluster, second, pool, aConfig(), anInfra(),
				kindOf("clusters", clusterGVK), kindOf("testhosts", hostGVK, "providerID"), kindOf("examplenodes", other, "providerIDList"),
				object(hostGVK, "host", nil, map[string]any{"ready": true}), object(infraGVK, "spare", nil, map[string]any{"ready": true}),
				object(other, "nodes", nil, map[string]any{"ready": true})})
			w.settled()
			want(t, tc.reason, w.condition(condition), tc.want)
			if tc.want == "True Ready" {
				want(t, "taken", metav1.GetControllerOf(w.get(tc.gvk, tc.name)) != nil, true)
				return
			}
			want(t, "owners", len(w.get(tc.gvk, tc.name).GetOwnerReferences()), 0)
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(tc.gvk)
			change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: tc.name}, o, func(o *unstructured.Unstructured) {
				o.SetOwnerReferences([]metav1.OwnerReference{mine})
			})
			w.settled()
			want(t, "owners after it had been taken", len(w.get(tc.gvk, tc.name).GetOwnerReferences()), 0)
			change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: tc.name}, o, func(o *unstructured.Unstructured) {
				o.SetOwnerReferences([]metav1.OwnerReference{mine})
			})
			if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				w.pass()
			}
			want(t, "the pool is gone", w.pool() == nil, true)
			left := w.get(tc.gvk, tc.name)
			if left == nil || !left.GetDeletionTimestamp().IsZero() {
				t.Fatalf("%s %s: want it untouched, got it deleted", tc.gvk.Kind, tc.name)
			}
			want(t, "owners after the pool", len(left.GetOwnerReferences()), 0)
		})
	}
}

// TestCredentialsAreNoBootstrapData holds that the secrets which open a cluster are not followed, whoever names them.
func TestCredentialsAreNoBootstrapData(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, user, provider, want, message string
	}{
		"by the user": {reason: "a pool from before admission refused it", user: "c1-kubeconfig", want: "False DataSecretRefused",
			message: "spec.template.spec.bootstrap.dataSecretName: secret c1-kubeconfig holds an administrator's kubeconfig of Cluster c1, " +
				"which would become user data of the machines; name a secret with bootstrap data"},
		"of another Cluster": {reason: "it opens that one", user: "c2-ca", want: "False DataSecretRefused",
			message: "spec.template.spec.bootstrap.dataSecretName: secret c2-ca holds the certificate authority of Cluster c2, " +
				"which would become user data of the machines; name a secret with bootstrap data"},
		"by its provider": {reason: "a configuration of that name writes into such a secret", provider: "c1-sa", want: "False DataSecretRefused",
			message: "TestConfig boot reports in status.dataSecretName: secret c1-sa holds the service account key of Cluster c1, " +
				"which would become user data of the machines; name a secret with bootstrap data"},
		"of no Cluster": {reason: "a name is a name", user: "c3-ca", want: "True DataSecretProvided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, second, config := aPool(0), aCluster(), aConfig()
			second.Name, second.UID = "c2", "c2-uid"
			if tc.user != "" {
				pool.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: &tc.user}
			} else {
				_ = unstructured.SetNestedField(config.Object, tc.provider, "status", "dataSecretName")
			}
			w := newWorld(t, []client.Object{aCluster(), second, pool, config, anInfra()})
			w.settled()
			want(t, tc.reason, w.condition(clusterv1.BootstrapConfigReadyCondition), tc.want)
			if tc.message != "" {
				want(t, "message", w.message(clusterv1.BootstrapConfigReadyCondition), tc.message)
			}
			if name := w.pool().Spec.Template.Spec.Bootstrap.DataSecretName; tc.provider != "" && name != nil {
				t.Errorf("data secret: want none, got %s", *name)
			}
		})
	}
}

// TestAPoolStaysWhileItOwnsWhatItMustNot holds that a pool is not let go while the garbage collector would delete a Cluster after it.
func TestAPoolStaysWhileItOwnsWhatItMustNot(t *testing.T) {
	t.Parallel()
	yes := true
	cluster, pool := aCluster(), aPool(0)
	pool.Finalizers = []string{clusterv1.MachinePoolFinalizer}
	clusterGVK := clusterv1.GroupVersion.WithKind("Cluster")
	pool.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: clusterGVK.Group, Kind: clusterGVK.Kind, Name: cluster.Name}
	cluster.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: pool.Name, UID: pool.UID, Controller: &yes}}
	w := newWorld(t, []client.Object{cluster, pool, aConfig(), kindOf("clusters", clusterGVK)})
	if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
		t.Fatal(err)
	}
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
		if o.GetObjectKind().GroupVersionKind().Kind == "Cluster" {
			return errors.New("not now")
		}
		return c.Patch(ctx, o, p, opts...)
	}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); err == nil {
		t.Error("want the error told")
	}
	want(t, "the pool is kept", w.pool() != nil, true)
	want(t, "and says why", strings.HasSuffix(w.message(clusterv1.DeletingCondition), "remove the owner reference to MachinePool pool from Cluster c1: not now"), true)
	w.r.Client = w.mgmt
	for range 3 {
		w.pass()
	}
	want(t, "the pool is gone", w.pool() == nil, true)
}

// TestANewNodeIsStarting holds that a pool scales up until its last new machine is available, and that a node which was Ready once does not.
func TestANewNodeIsStarting(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		since  time.Duration
		status corev1.ConditionStatus
		want   clusterv1.MachinePoolPhase
	}{
		"new":      {"its network is being set up", time.Second, corev1.ConditionFalse, clusterv1.MachinePoolPhaseScalingUp},
		"sick":     {"it was Ready once", time.Hour, corev1.ConditionFalse, clusterv1.MachinePoolPhaseProvisioned},
		"silent":   {"the node controller has given up on it", time.Second, corev1.ConditionUnknown, clusterv1.MachinePoolPhaseProvisioned},
		"well":     {"nothing is missing", time.Hour, corev1.ConditionTrue, clusterv1.MachinePoolPhaseRunning},
		"well now": {"nor here", time.Second, corev1.ConditionTrue, clusterv1.MachinePoolPhaseRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1-uid", CreationTimestamp: metav1.NewTime(w.clock.Add(-2 * time.Hour))}, Spec: corev1.NodeSpec{ProviderID: id1}}
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

// TestEventsOfOneReasonAreToldApart holds that machines which join one after the other are all told of: the events API takes events of one
// reason and one related object for the same, and shows the text of the first.
func TestEventsOfOneReasonAreToldApart(t *testing.T) {
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
		if strings.HasPrefix(e, eventNodes) {
			joined = append(joined, e)
		}
	}
	wantAll(t, "events", joined, []string{"SuccessfulSetNodeRefs of Node n1: n1 joined; nodes now: 1", "SuccessfulSetNodeRefs of Node n2: n2 joined; nodes now: 2"})
}

// TestAPauseOfThePoolAloneSaysSo holds that users are told when only the MachinePool is paused: by the contract each object is paused by itself.
func TestAPauseOfThePoolAloneSaysSo(t *testing.T) {
	t.Parallel()
	w := running(t)
	pause := func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} }
	w.changePool(pause)
	w.settled()
	const own = "MachinePool has the cluster.x-k8s.io/paused annotation"
	want(t, "Paused", w.condition(clusterv1.PausedCondition), "True Paused")
	want(t, "the pool alone", w.message(clusterv1.PausedCondition), own+"; TestMachinePool infra is not paused, and its machines are still created, replaced and removed: "+
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

// TestEventsAreNotRecordedAgainAfterAMove: a move or a restore keeps the spec and drops the status. What had happened before is not
// recorded again when the status is written anew; a Node that joins afterwards is.
func TestEventsAreNotRecordedAgainAfterAMove(t *testing.T) {
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
