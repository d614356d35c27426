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

// pauseCluster pauses the Cluster or lets it go on.
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

// poolAlone is what Paused says of a pool whose infrastructure object is not paused with it.
const poolAlone = "; TestMachinePool infra is not paused, and its machines are still created, replaced and removed: set the annotation on it too, or spec.paused of Cluster c1"

// TestRow02_APausedPoolIsLeftAloneAndSaysSo holds that a pause of the pool or of its Cluster is told, that nothing is done meanwhile, and
// that the pool is caught up with afterwards without anybody's doing.
func TestRow02_APausedPoolIsLeftAloneAndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	w.changePool(func(p *clusterv1.MachinePool) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, clusterv1.PausedAnnotation, "")
	})
	says(w, "Paused of a pool with the annotation", "True Paused: MachinePool has the cluster.x-k8s.io/paused annotation"+poolAlone, condition(clusterv1.PausedCondition))
	w.pauseCluster(true)
	says(w, "Paused of both", "True Paused: Cluster spec.paused is set to true, MachinePool has the cluster.x-k8s.io/paused annotation", condition(clusterv1.PausedCondition))
	w.instances(2)
	w.changePool(func(p *clusterv1.MachinePool) { delete(p.Annotations, clusterv1.PausedAnnotation) })
	says(w, "Paused of the Cluster", "True Paused: Cluster spec.paused is set to true", condition(clusterv1.PausedCondition))
	want(t, "instances that are known while paused", len(w.pool().Spec.ProviderIDList), 1)
	w.pauseCluster(false)
	says(w, "Paused", "False NotPaused", condition(clusterv1.PausedCondition))
	says(w, "instances", 2, func(p *clusterv1.MachinePool) int { return len(p.Spec.ProviderIDList) })
}

// TestRow03_ThePoolBelongsToItsCluster holds the label and the owner that tie a pool to its Cluster, and that they are put back.
func TestRow03_ThePoolBelongsToItsCluster(t *testing.T) {
	w := newWorld(t)
	w.create(w.aPool(0))
	tied := func(p *clusterv1.MachinePool) string {
		text := p.Labels[clusterv1.ClusterNameLabel]
		for _, o := range p.OwnerReferences {
			text += fmt.Sprintf(" %s/%s %v", o.Kind, o.Name, o.Controller)
		}
		return text
	}
	says(w, "label and owner", "c1 Cluster/c1 <nil>", tied)
	w.changePool(func(p *clusterv1.MachinePool) { p.OwnerReferences, p.Labels = nil, nil })
	says(w, "label and owner that somebody took away", "c1 Cluster/c1 <nil>", tied)
}

// TestRow06_WhateverAPoolDependsOnWakesIt holds that each change is seen by itself: the pool is looked at by the clock every ten minutes
// only, which no step here waits for.
func TestRow06_WhateverAPoolDependsOnWakesIt(t *testing.T) {
	w := emptyWorld(t)
	w.create(w.aPool(1))
	says(w, "without a Cluster", "False ClusterDoesNotExist: Cluster "+w.ns+"/c1 does not exist", condition(clusterv1.AvailableCondition))
	w.cluster()
	says(w, "a Cluster that is made", "False ObjectDoesNotExist: TestConfig boot does not exist", condition(clusterv1.BootstrapConfigReadyCondition))
	w.create(w.aConfig("boot"))
	says(w, "a configuration that is made", "True Ready", condition(clusterv1.BootstrapConfigReadyCondition))
	w.create(w.anInfra(1))
	says(w, "an infrastructure that is made", "[1 0 0 1] ScalingUp", func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.node(1)
	w.runs(1)
	w.ready(1, corev1.ConditionUnknown, time.Now())
	says(w, "a node that falls silent", "[1 0 0 1] Provisioned", func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.ready(1, corev1.ConditionTrue, time.Now())
	w.runs(1)
	w.changePool(func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 2 })
	says(w, "a pool that changes", "ScalingUp", phase)
	w.change(poolGVK, "infra", func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "TestMachine", "status", "infrastructureMachineKind")
	})
	says(w, "a pool that gets Machines", "[1 0 0 -] ScalingUp", func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.infraMachine(1)
	says(w, "a Machine that becomes ready", "[1 1 1 1] ScalingUp", func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
	w.pauseCluster(true)
	says(w, "a Cluster that pauses", "True Paused: Cluster spec.paused is set to true", condition(clusterv1.PausedCondition))
}

// infraMachine makes the infrastructure's object for instance n.
func (w *world) infraMachine(n int) {
	w.t.Helper()
	o := w.object(machineGVK, fmt.Sprintf("m%d", n), map[string]any{"providerID": w.id(n)},
		map[string]any{"initialization": map[string]any{"provisioned": true}, "failureDomain": "zone-a"})
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"})
	w.create(o)
}

// TestRow10_ThePoolTakesOverWhatItRefersTo holds that both objects are controlled by the pool and carry the cluster's label, that what
// somebody takes away is put back, and that an object of another pool is refused.
func TestRow10_ThePoolTakesOverWhatItRefersTo(t *testing.T) {
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
		if got := condition(clusterv1.InfrastructureReadyCondition)(other); got != "False OwnedByAnother: TestMachinePool infra belongs to MachinePool pool; refer to one of this pool's own" {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
}

// TestRow11_EitherContractOfBootstrapIsRead holds that data are taken from providers of both contracts, and not before they are there.
func TestRow11_EitherContractOfBootstrapIsRead(t *testing.T) {
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

// TestRow12_TheDataSecretFollowsTheConfigurationAndGitOpsIsNoFoe holds that another configuration switches the secret, that nothing is
// written otherwise, and that who applies the manifest again and again takes nothing away.
func TestRow12_TheDataSecretFollowsTheConfigurationAndGitOpsIsNoFoe(t *testing.T) {
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
	says(w, "data secret of another configuration", "next-data", func(p *clusterv1.MachinePool) string { return *p.Spec.Template.Spec.Bootstrap.DataSecretName })
	want(t, "phase", w.pool().Status.Phase, "Running")
}

// TestRow16_EitherContractProvisionsForGood holds that a group of a provider of either contract counts as provisioned when it first says
// so, and stays so whatever it says later.
func TestRow16_EitherContractProvisionsForGood(t *testing.T) {
	w := newWorld(t)
	for n, tc := range []struct {
		pool       string
		gvk        schema.GroupVersionKind
		done, back map[string]any
	}{
		{"newer", poolGVK, map[string]any{"initialization": map[string]any{"provisioned": true}}, map[string]any{"initialization": map[string]any{"provisioned": false}}},
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
				if got := fmt.Sprintf("%s %d %s", phase(pool), len(pool.Spec.ProviderIDList), condition(clusterv1.InfrastructureReadyCondition)(pool)); got != wanted {
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

// TestRow18_InfrastructureThatVanishesIsToldAndForgiven holds that an infrastructure object that somebody deletes, or moves away for a
// while, is a failure for as long as it is missing.
func TestRow18_InfrastructureThatVanishesIsToldAndForgiven(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	if err := admin.Delete(t.Context(), w.get(poolGVK, "infra")); err != nil {
		t.Fatal(err)
	}
	says(w, "an infrastructure that is gone", "False ObjectDeleted: TestMachinePool infra has been deleted while the MachinePool still exists", condition(clusterv1.InfrastructureReadyCondition))
	failure := func(p *clusterv1.MachinePool) string {
		if d := p.Status.Deprecated.V1Beta1; d.FailureReason != nil {
			return string(*d.FailureReason)
		}
		return ""
	}
	says(w, "failure of the older kind", "InvalidConfiguration", failure)
	want(t, "instances: they run on", len(w.pool().Spec.ProviderIDList), 1)
	w.create(w.anInfra(1))
	w.runs(1)
	says(w, "failure of the older kind when it is back", "", failure)
	if !slices.ContainsFunc(w.pool().Status.NodeRefs, func(r corev1.ObjectReference) bool { return r.Name == w.nodeName(1) }) {
		t.Errorf("references: want the node still there, got %v", w.pool().Status.NodeRefs)
	}
}
