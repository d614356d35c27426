package machinepool

import (
	"context"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestWhatWakesAPool(t *testing.T) {
	t.Parallel()
	labelled, other := aPool(1), aPool(1)
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
	other.Name, other.Spec.Template.Spec.Bootstrap.ConfigRef.Name = "other", "other"
	w := newWorld(t, []client.Object{labelled, other})
	for name, tc := range map[string]struct{ got, want string }{
		"an object that one pool refers to":   {fmt.Sprint(w.r.poolsThatRefer(configGVK.GroupKind())(t.Context(), aConfig())), "[default/pool]"},
		"an object that both pools refer to":  {fmt.Sprint(w.r.poolsThatRefer(infraGVK.GroupKind())(t.Context(), anInfra())), "[default/other default/pool]"},
		"an object of another kind":           {fmt.Sprint(w.r.poolsThatRefer(kubeadmGVK.GroupKind())(t.Context(), aConfig())), "[]"},
		"a Cluster":                           {fmt.Sprint(w.r.poolsOfCluster(t.Context(), aCluster())), "[default/pool]"},
		"a Cluster of that name, not that ns": {fmt.Sprint(w.r.poolsOfCluster(t.Context(), &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "c1"}})), "[]"},
	} {
		want(t, name, tc.got, tc.want)
	}
}

func TestWorthAPass(t *testing.T) {
	t.Parallel()
	base := aPool(1)
	base.ResourceVersion = "1"
	for name, tc := range map[string]struct {
		change func(p *clusterv1.MachinePool)
		want   bool
	}{
		"resync":     {func(p *clusterv1.MachinePool) { p.ResourceVersion = "1" }, true},
		"own status": {func(p *clusterv1.MachinePool) { p.Status.Phase = "Running" }, false},
		"spec":       {func(p *clusterv1.MachinePool) { p.Generation = 2 }, true},
		"pause":      {func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} }, true},
		"label":      {func(p *clusterv1.MachinePool) { p.Labels = map[string]string{"a": "b"} }, true},
		"deletion":   {func(p *clusterv1.MachinePool) { p.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time} }, true},
		"finalizer":  {func(p *clusterv1.MachinePool) { p.Finalizers = []string{"a/b"} }, true},
		"owner":      {func(p *clusterv1.MachinePool) { p.OwnerReferences = []metav1.OwnerReference{{}} }, true},
		"another":    {func(p *clusterv1.MachinePool) { p.UID = "another" }, true},
	} {
		after := base.DeepCopy()
		after.ResourceVersion = "2"
		tc.change(after)
		want(t, name, worthAPass().Update(event.UpdateEvent{ObjectOld: base, ObjectNew: after}), tc.want)
	}
}

func TestClusterMatters(t *testing.T) {
	t.Parallel()
	yes := true
	for name, tc := range map[string]struct {
		change func(c *clusterv1.Cluster)
		want   bool
	}{
		"status":        {func(c *clusterv1.Cluster) { c.Status.Phase = "Provisioned" }, false},
		"pause":         {func(c *clusterv1.Cluster) { c.Spec.Paused = &yes }, true},
		"deletion":      {func(c *clusterv1.Cluster) { c.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time} }, true},
		"control plane": {func(c *clusterv1.Cluster) { c.Status.Conditions = nil }, true},
		"another":       {func(c *clusterv1.Cluster) { c.UID = "another" }, true},
	} {
		after := aCluster()
		tc.change(after)
		want(t, name, clusterMatters().Update(event.UpdateEvent{ObjectOld: aCluster(), ObjectNew: after}), tc.want)
	}
	want(t, "a Cluster that is made", clusterMatters().Create(event.CreateEvent{Object: aCluster()}), true)
	want(t, "a Cluster that is gone", clusterMatters().Delete(event.DeleteEvent{Object: aCluster()}), true)
}

func TestAnIncompleteReconcilerSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	if err := (&Reconciler{}).SetupWithManager(t.Context(), nil, controller.Options{}); !errors.Is(err, errNotSetUp) {
		t.Errorf("want an error about the client, got %v", err)
	}
	w := newWorld(t, nil)
	if err := (&Reconciler{Client: w.mgmt}).SetupWithManager(t.Context(), nil, controller.Options{}); !errors.Is(err, errNotSetUp) {
		t.Errorf("want an error about the cluster cache, got %v", err)
	}
}

// TestKnownKindsAreReadTyped holds that kinds which other controllers of the manager read share a cache with them.
func TestKnownKindsAreReadTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{&bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "boot"},
		Status: bootstrapv1.KubeadmConfigStatus{DataSecretName: "boot-data"}}})
	if _, ok := w.r.blank(kubeadmGVK).(*bootstrapv1.KubeadmConfig); !ok {
		t.Errorf("known kind: want it typed, got %T", w.r.blank(kubeadmGVK))
	}
	o, err := w.r.fetch(t.Context(), kubeadmGVK, client.ObjectKey{Namespace: "default", Name: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "data secret", text(o, "status", "dataSecretName"), "boot-data")
	want(t, "kind", o.GroupVersionKind(), kubeadmGVK)
}

// The Machines of one pool are found by an index: a cache without it looks at all of the namespace.
func TestMembersAreFoundByIndex(t *testing.T) {
	t.Parallel()
	w := populated(t)
	indexed := fake.NewClientBuilder().WithScheme(w.scheme).WithIndex(&clusterv1.Machine{}, memberField, memberOf)
	other := aMachine("other", controllerRef("MachinePool", "other", "other-uid"))
	other.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "other"}
	mine := aMachine("mine", nil)
	mine.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"}
	r := &Reconciler{Client: indexed.WithObjects(other, mine, aMachine("nobodys", nil)).Build(), memberIndex: newMemberIndex(nil)}
	p := &pass{pool: aPool(1)}
	if res := r.readMachines(t.Context(), p); res.err != nil {
		t.Fatal(res.err)
	}
	if len(p.machines) != 1 || p.machines[0].Name != "mine" {
		t.Errorf("want the pool's own Machine, got %v", p.machines)
	}
	// Without the index the fake client refuses such a list: that is how the test knows that it was used.
	r.Client = w.mgmt
	if res := r.readMachines(t.Context(), p); res.err == nil {
		t.Error("want Machines asked for by index, got them without")
	}
}

// counted is an indexer that counts.
type counted struct{ added []string }

func (c *counted) IndexField(_ context.Context, _ client.Object, field string, _ client.IndexerFunc) error {
	c.added = append(c.added, field)
	return nil
}

func TestAKindIsIndexedOnce(t *testing.T) {
	t.Parallel()
	c := &counted{}
	m := newMemberIndex(c)
	for range 3 {
		if err := m.add(t.Context(), machineGVK, &clusterv1.Machine{}); err != nil {
			t.Fatal(err)
		}
	}
	wantAll(t, "indexes", c.added, []string{memberField})
}
