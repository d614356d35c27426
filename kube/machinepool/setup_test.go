package machinepool

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestWaker(t *testing.T) {
	t.Parallel()
	labelled, other := aPool(1), aPool(1)
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
	other.Name, other.Spec.Template.Spec.Bootstrap.ConfigRef.Name = "other", "other"
	w := newWorld(t, []client.Object{labelled, other})
	for name, tc := range map[string]struct{ got, want string }{
		"an object that one pool refers to": {fmt.Sprint(waker{w.mgmt}.poolsThatRefer(configGVK.GroupKind())(t.Context(), aConfig())),
			"[default/pool]"},
		"an object that both pools refer to": {fmt.Sprint(waker{w.mgmt}.poolsThatRefer(infraGVK.GroupKind())(t.Context(), anInfra())),
			"[default/other default/pool]"},
		"an object of another kind": {fmt.Sprint(waker{w.mgmt}.poolsThatRefer(kubeadmGVK.GroupKind())(t.Context(), aConfig())), "[]"},
		"a Cluster":                 {fmt.Sprint(waker{w.mgmt}.poolsOfCluster(t.Context(), aCluster())), "[default/pool]"},
		"a Cluster of that name, not that ns": {fmt.Sprint(waker{w.mgmt}.poolsOfCluster(t.Context(),
			&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "c1"}})), "[]"},
	} {
		want(t, name, tc.got, tc.want)
	}
}

func TestPoolChanged(t *testing.T) {
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
		want(t, name, poolChanged().Update(event.UpdateEvent{ObjectOld: base, ObjectNew: after}), tc.want)
	}
}

func TestClusterChanged(t *testing.T) {
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
		want(t, name, clusterChanged().Update(event.UpdateEvent{ObjectOld: aCluster(), ObjectNew: after}), tc.want)
	}
	want(t, "a Cluster that is created", clusterChanged().Create(event.CreateEvent{Object: aCluster()}), true)
	want(t, "a Cluster that is deleted", clusterChanged().Delete(event.DeleteEvent{Object: aCluster()}), true)
}

func TestIncompleteReconciler(t *testing.T) {
	t.Parallel()
	if err := (&Reconciler{}).SetupWithManager(t.Context(), nil, controller.Options{}); !errors.Is(err, errNotSetUp) {
		t.Errorf("want an error about the client, got %v", err)
	}
	w := newWorld(t, nil)
	if err := (&Reconciler{Client: w.mgmt}).SetupWithManager(t.Context(), nil, controller.Options{}); !errors.Is(err, errNotSetUp) {
		t.Errorf("want an error about the cluster cache, got %v", err)
	}
}
