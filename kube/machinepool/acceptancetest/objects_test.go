package acceptancetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pauseCluster sets spec.paused of the Cluster.
func (w *world) pauseCluster(paused bool) {
	w.t.Helper()
	w.eventually("the Cluster is written", func(ctx context.Context) error {
		c := &clusterv1.Cluster{}
		if err := admin.Get(ctx, w.key("c1"), c); err != nil {
			return err
		}
		c.Spec.Paused = &paused
		return admin.Update(ctx, c)
	})
}

// poolAlone is the message of Paused of a pool whose infrastructure object is not paused.
const poolAlone = "; TestMachinePool infra is not paused, and its machines are still created, replaced and removed: set the annotation " +
	"on it too, or spec.paused of Cluster c1"

// TestRow02_PausedPoolIsUnchanged holds that a pause of the pool or of its Cluster is reported, that nothing is done meanwhile, and that
// the pool is reconciled afterwards without another event.
func TestRow02_PausedPoolIsUnchanged(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	w.changePool(func(p *clusterv1.MachinePool) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, clusterv1.PausedAnnotation, "")
	})
	eventuallyIs(w, "Paused of a pool with the annotation", "True Paused: MachinePool has the cluster.x-k8s.io/paused annotation"+poolAlone,
		condition(clusterv1.PausedCondition))
	w.pauseCluster(true)
	eventuallyIs(w, "Paused of both", "True Paused: Cluster spec.paused is set to true, MachinePool has the cluster.x-k8s.io/paused "+
		"annotation", condition(clusterv1.PausedCondition))
	w.instances(2)
	w.changePool(func(p *clusterv1.MachinePool) { delete(p.Annotations, clusterv1.PausedAnnotation) })
	eventuallyIs(w, "Paused of the Cluster", "True Paused: Cluster spec.paused is set to true", condition(clusterv1.PausedCondition))
	want(t, "instances that are known while paused", len(w.pool().Spec.ProviderIDList), 1)
	w.pauseCluster(false)
	eventuallyIs(w, "Paused", "False NotPaused", condition(clusterv1.PausedCondition))
	eventuallyIs(w, "instances", 2, func(p *clusterv1.MachinePool) int { return len(p.Spec.ProviderIDList) })
}

// TestRow03_ClusterOwnsThePool holds the label and the owner reference of a pool for its Cluster, and that they are restored.
func TestRow03_ClusterOwnsThePool(t *testing.T) {
	w := newWorld(t)
	w.create(w.aPool(0))
	tied := func(p *clusterv1.MachinePool) string {
		text := p.Labels[clusterv1.ClusterNameLabel]
		for _, o := range p.OwnerReferences {
			text += fmt.Sprintf(" %s/%s %v", o.Kind, o.Name, o.Controller)
		}
		return text
	}
	eventuallyIs(w, "label and owner", "c1 Cluster/c1 <nil>", tied)
	w.changePool(func(p *clusterv1.MachinePool) { p.OwnerReferences, p.Labels = nil, nil })
	eventuallyIs(w, "label and owner that another client removed", "c1 Cluster/c1 <nil>", tied)
}

// TestRow06_ChangesWakeThePool holds that each change wakes the pool: the periodic resync comes only every ten minutes, for which no step
// here waits.
func TestRow06_ChangesWakeThePool(t *testing.T) {
	w := emptyWorld(t)
	w.create(w.aPool(1))
	eventuallyIs(w, "without a Cluster", "False ClusterDoesNotExist: Cluster "+w.ns+"/c1 does not exist",
		condition(clusterv1.AvailableCondition))
	w.cluster()
	eventuallyIs(w, "a Cluster that is created", "False ObjectDoesNotExist: TestConfig boot does not exist",
		condition(clusterv1.BootstrapConfigReadyCondition))
	w.create(w.aConfig("boot"))
	eventuallyIs(w, "a configuration that is created", "True Ready", condition(clusterv1.BootstrapConfigReadyCondition))
	w.create(w.anInfra(1))
	eventuallyIs(w, "an infrastructure object that is created", "[1 0 0 1] ScalingUp",
		func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.node(1)
	w.runs(1)
	w.ready(1, corev1.ConditionUnknown, time.Now())
	eventuallyIs(w, "a node that is no longer Ready", "[1 0 0 1] Provisioned",
		func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.ready(1, corev1.ConditionTrue, time.Now())
	w.runs(1)
	w.changePool(func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 2 })
	eventuallyIs(w, "a pool that changes", "ScalingUp", phase)
	w.change(poolGVK, "infra", func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "TestMachine", "status", "infrastructureMachineKind")
	})
	eventuallyIs(w, "a pool that gets Machines", "[1 0 0 -] ScalingUp",
		func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.infraMachine(1)
	eventuallyIs(w, "a Machine that becomes ready", "[1 1 1 1] ScalingUp",
		func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.pauseCluster(true)
	eventuallyIs(w, "a Cluster that pauses", "True Paused: Cluster spec.paused is set to true", condition(clusterv1.PausedCondition))
}

// infraMachine creates the infrastructure machine of instance n.
func (w *world) infraMachine(n int) {
	w.t.Helper()
	o := w.object(machineGVK, fmt.Sprintf("m%d", n), map[string]any{"providerID": w.id(n)},
		map[string]any{"initialization": map[string]any{"provisioned": true}, "failureDomain": "zone-a"})
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"})
	w.create(o)
}

// TestRow10_PoolTakesOverReferencedObjects holds that both objects are controlled by the pool and have the cluster's label, that both are
// restored, and that an object of another pool is rejected.
func TestRow10_PoolTakesOverReferencedObjects(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	mine := func(gvk schema.GroupVersionKind, name string) {
		t.Helper()
		w.eventually(name+" is the pool's", func(context.Context) error {
			if o := w.get(gvk, name); !metav1.IsControlledBy(o, w.pool()) || o.GetLabels()[clusterv1.ClusterNameLabel] != "c1" {
				return fmt.Errorf("got owners %v, labels %v", o.GetOwnerReferences(), o.GetLabels())
			}
			return nil
		})
	}
	for gvk, name := range map[schema.GroupVersionKind]string{configGVK: "boot", poolGVK: "infra"} {
		mine(gvk, name)
		w.change(gvk, name, func(o map[string]any) {
			unstructured.RemoveNestedField(o, "metadata", "ownerReferences")
			unstructured.RemoveNestedField(o, "metadata", "labels")
		})
		mine(gvk, name)
	}
	other := w.aPool(1)
	other.Name = "other"
	w.create(other)
	w.eventually("what is another pool's is refused", func(ctx context.Context) error {
		if err := admin.Get(ctx, w.key("other"), other); err != nil {
			return err
		}
		if got := condition(clusterv1.InfrastructureReadyCondition)(
			other); got != "False OwnedByAnother: TestMachinePool infra is controlled by MachinePool pool; refer to an object that belongs to "+
			"this pool alone" {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
}

// TestRow11_BootstrapOfEitherContract holds that the data secret of providers of both contracts is used, and not before it exists.
func TestRow11_BootstrapOfEitherContract(t *testing.T) {
	w := newWorld(t)
	created := func(p *clusterv1.MachinePool) bool {
		i := p.Status.Initialization.BootstrapDataSecretCreated
		return i != nil && *i
	}
	for _, tc := range []struct {
		pool string
		gvk  schema.GroupVersionKind
		done map[string]any
	}{
		{"newer", configGVK, map[string]any{"initialization": map[string]any{"dataSecretCreated": true}}},
		{"older", oldConfigGVK, map[string]any{"ready": true}},
	} {
		pool := w.aPool(0)
		pool.Name, pool.Spec.Template.Spec.Bootstrap.ConfigRef = tc.pool, refTo(tc.gvk, tc.pool)
		w.create(pool)
		w.create(w.object(tc.gvk, tc.pool, nil, map[string]any{"dataSecretName": "early"}))
		is := func(what string, wanted bool) {
			w.eventually(tc.pool+": "+what, func(ctx context.Context) error {
				if err := admin.Get(ctx, w.key(tc.pool), pool); err != nil {
					return err
				}
				name := pool.Spec.Template.Spec.Bootstrap.DataSecretName
				if len(pool.Status.Conditions) == 0 || created(pool) != wanted || wanted && (name == nil || *name != "data") {
					return fmt.Errorf("want %v, got %v, %v", wanted, created(pool), name)
				}
				return nil
			})
		}
		is("data that are not there yet", false)
		w.change(tc.gvk, tc.pool, func(o map[string]any) {
			tc.done["dataSecretName"] = "data"
			o["status"] = tc.done
		})
		is("data", true)
	}
}

// TestRow12_DataSecretFollowsTheConfiguration holds that another configuration switches the secret, that nothing is written otherwise, and
// that a GitOps client that applies the manifest repeatedly reverts nothing.
func TestRow12_DataSecretFollowsTheConfiguration(t *testing.T) {
	w := newWorld(t)
	manifest := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": clusterv1.GroupVersion.String(), "kind": "MachinePool",
			"metadata": map[string]any{"namespace": w.ns, "name": "pool"},
			"spec": map[string]any{"clusterName": "c1", "replicas": int64(1), "template": map[string]any{"spec": map[string]any{
				"clusterName": "c1", "version": "v1.36.0",
				"bootstrap":         map[string]any{"configRef": map[string]any{"apiGroup": bootstrap, "kind": "TestConfig", "name": "boot"}},
				"infrastructureRef": map[string]any{"apiGroup": infrastructure, "kind": "TestMachinePool", "name": "infra"}}}}}}
	}
	apply := func(o *unstructured.Unstructured) {
		t.Helper()
		if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("gitops")); err != nil {
			t.Fatalf("apply: %v", err)
		}
	}
	apply(manifest())
	w.create(w.aConfig("boot"))
	w.create(w.anInfra(1))
	w.node(1)
	w.runs(1)
	version := w.quiet()
	apply(manifest())
	want(t, "version after the manifest was applied again", w.quiet(), version)
	want(t, "data secret", *w.pool().Spec.Template.Spec.Bootstrap.DataSecretName, "boot-data")
	w.create(w.aConfig("next"))
	next := manifest()
	_ = unstructured.SetNestedField(next.Object, "next", "spec", "template", "spec", "bootstrap", "configRef", "name")
	apply(next)
	eventuallyIs(w, "data secret of another configuration", "next-data",
		func(p *clusterv1.MachinePool) string { return *p.Spec.Template.Spec.Bootstrap.DataSecretName })
	want(t, "phase", w.pool().Status.Phase, "Running")
}

// TestRow16_ProvisionedByEitherContract holds that the group of a provider of either contract counts as provisioned when the provider first
// reports it, and stays so.
func TestRow16_ProvisionedByEitherContract(t *testing.T) {
	w := newWorld(t)
	for n, tc := range []struct {
		pool       string
		gvk        schema.GroupVersionKind
		done, back map[string]any
	}{
		{"newer", poolGVK, map[string]any{"initialization": map[string]any{"provisioned": true}},
			map[string]any{"initialization": map[string]any{"provisioned": false}}},
		{"older", oldPoolGVK, map[string]any{"ready": true}, map[string]any{"ready": false}},
	} {
		pool := w.aPool(1)
		pool.Name, pool.Spec.Template.Spec.InfrastructureRef = tc.pool, refTo(tc.gvk, tc.pool)
		pool.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: new("")}
		w.create(pool)
		w.node(n + 1)
		w.create(w.object(tc.gvk, tc.pool, map[string]any{"providerIDList": []any{w.id(n + 1)}}, nil))
		is := func(wanted string) {
			t.Helper()
			w.eventually(tc.pool, func(ctx context.Context) error {
				if err := admin.Get(ctx, w.key(tc.pool), pool); err != nil {
					return err
				}
				if got := fmt.Sprintf("%s %d %s", phase(pool), len(pool.Spec.ProviderIDList),
					condition(clusterv1.InfrastructureReadyCondition)(pool)); got != wanted {
					return fmt.Errorf("want %s, got %s", wanted, got)
				}
				return nil
			})
		}
		is("Provisioning 0 False NotReady: " + tc.gvk.Kind + " " + tc.pool + " is not provisioned")
		w.change(tc.gvk, tc.pool, func(o map[string]any) { o["status"] = tc.done })
		is("Running 1 True Ready")
		w.change(tc.gvk, tc.pool, func(o map[string]any) { o["status"] = tc.back })
		is("Running 1 True Ready: " + tc.gvk.Kind + " " + tc.pool + " was ready, and now reports that it is not provisioned")
	}
}

// TestRow18_MissingInfrastructureIsReported holds that an infrastructure object that is deleted, or moved away for a while, is a failure
// for as long as it is missing.
func TestRow18_MissingInfrastructureIsReported(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	if err := admin.Delete(t.Context(), w.get(poolGVK, "infra")); err != nil {
		t.Fatal(err)
	}
	eventuallyIs(w, "a deleted infrastructure object",
		"False ObjectDeleted: TestMachinePool infra has been deleted while the MachinePool still exists",
		condition(clusterv1.InfrastructureReadyCondition))
	failure := func(p *clusterv1.MachinePool) string {
		if d := p.Status.Deprecated.V1Beta1; d.FailureReason != nil {
			return string(*d.FailureReason)
		}
		return ""
	}
	eventuallyIs(w, "failure of v1beta1", "InvalidConfiguration", failure)
	want(t, "instances: they run on", len(w.pool().Spec.ProviderIDList), 1)
	w.create(w.anInfra(1))
	w.runs(1)
	eventuallyIs(w, "failure of v1beta1 when it exists again", "", failure)
	if !slices.ContainsFunc(w.pool().Status.NodeRefs, func(r corev1.ObjectReference) bool { return r.Name == w.nodeName(1) }) {
		t.Errorf("references: want the node still there, got %v", w.pool().Status.NodeRefs)
	}
}
