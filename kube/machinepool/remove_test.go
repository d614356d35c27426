package machinepool

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/reference"
)

func TestDeletionReportsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedSlice(o, []any{map[string]any{"type": "Ready", "status": "False", "reason": "Deleting",
			"message": "draining 2 nodes", "lastTransitionTime": "2026-01-01T00:00:00Z"}}, "status", "conditions")
	})
	res := w.settled()
	want(t, "next pass", res.RequeueAfter, reference.AfterDeletion)
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	want(t, "message", w.message(clusterv1.DeletingCondition), "TestMachinePool infra is being deleted: draining 2 nodes")
	want(t, "ScalingDown", w.message(clusterv1.ScalingDownCondition), "Scaling down from 2 to 0 replicas")
	want(t, "ScalingUp", w.condition(clusterv1.ScalingUpCondition), "False NotScalingUp")

	// The infrastructure drains and terminates the instances one by one, and their Nodes are deleted.
	w.drains("n2")
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id1}, "spec", "providerIDList")
		_ = unstructured.SetNestedField(o, int64(1), "status", "replicas")
	})
	w.settled()
	wantAll(t, "nodes", w.nodeNames(), []string{"n1"})
	want(t, "replicas", *w.pool().Status.Replicas, 1)

	w.finish(infraGVK, "infra")
	w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForBootstrapDeletion")
	want(t, "replicas", *w.pool().Status.Replicas, 0)
	w.events()
	w.finish(configGVK, "boot")
	w.pass()
	if w.pool() != nil {
		t.Error("pool: want it gone")
	}
	wantAll(t, "nodes", w.nodeNames(), []string{})
	wantAll(t, "events", w.events(), []string{"Normal SuccessfulDeleteNode Deleted nodes of terminated instances: n1"})
	w.pass()
}

func TestDeletionCompletesWithoutItsParts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		nodes  []string
	}{
		"cluster is going": {
			reason: "the workload cluster is deleted with all its nodes, and may be unreachable already",
			make: func(w *world) {
				change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) { c.Finalizers = []string{"test/keep"} })
				_ = w.mgmt.Delete(w.t.Context(), aCluster())
				disconnected(w)
			},
			nodes: []string{"n1", "n2"},
		},
		"cluster is gone": {
			reason: "there is no cluster to delete nodes from",
			make:   func(w *world) { _ = w.mgmt.Delete(w.t.Context(), aCluster()) },
			nodes:  []string{"n1", "n2"},
		},
		"kinds are gone": {
			reason: "a kind that is not installed any more has no objects",
			make: func(w *world) {
				for _, o := range []client.Object{crd(infraGVK), crd(configGVK)} {
					if err := w.mgmt.Delete(w.t.Context(), o.(*apiextensionsv1.CustomResourceDefinition)); err != nil {
						w.t.Fatal(err)
					}
				}
			},
			nodes: []string{},
		},
		"kind of the infrastructure is gone": {
			reason: "its provider was uninstalled before its pools were deleted",
			make:   func(w *world) { _ = w.mgmt.Delete(w.t.Context(), crd(infraGVK)) },
			nodes:  []string{},
		},
		"kind of the bootstrap object is gone": {
			reason: "its provider was uninstalled before its pools were deleted",
			make:   func(w *world) { _ = w.mgmt.Delete(w.t.Context(), crd(configGVK)) },
			nodes:  []string{},
		},
		"objects were never there": {
			reason: "what a pool refers to may never have been created",
			make:   func(*world) {},
			nodes:  []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			for _, o := range []client.Object{w.get(infraGVK, "infra"), w.get(configGVK, "boot")} {
				if err := w.mgmt.Delete(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
				t.Fatal(err)
			}
			tc.make(w)
			w.pass()
			if w.pool() != nil {
				t.Errorf("%s: want the pool gone, got %s: %s", tc.reason, w.condition(clusterv1.DeletingCondition),
					w.message(clusterv1.DeletingCondition))
			}
			wantAll(t, tc.reason, w.nodeNames(), tc.nodes)
		})
	}
}

func TestDeletionLeavesObjectsOfOthers(t *testing.T) {
	t.Parallel()
	w := running(t)
	other := aPool(1)
	other.Name, other.UID, other.Spec.ProviderIDList = "other", "other-uid", []string{"aws:////i-2"}
	w.create(other)
	w.changeNode("n2", func(n *corev1.Node) { n.Annotations[clusterv1.OwnerNameAnnotation] = "other" })
	yes := true
	w.changeInfra(func(o map[string]any) {
		u := &unstructured.Unstructured{Object: o}
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "other",
			UID: "other-uid", Controller: &yes}})
	})
	if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
		t.Fatal(err)
	}
	w.settled()
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %s", w.message(clusterv1.DeletingCondition))
	}
	if o := w.get(infraGVK, "infra"); o == nil || !o.GetDeletionTimestamp().IsZero() {
		t.Error("infrastructure of another pool: want it left alone")
	}
	wantAll(t, "nodes: that of another pool stays", w.nodeNames(), []string{"n2"})
}

func TestRow50_NodeDeletionHasATimeLimit(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.failNodes = errors.New("admission webhook denied the request")
	for _, o := range []client.Object{w.get(infraGVK, "infra"), w.get(configGVK, "boot")} {
		if err := w.mgmt.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
		t.Fatal(err)
	}
	w.pass()
	res := w.pass()
	want(t, "next pass", res.RequeueAfter, afterNodes)
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True DeletingNode")
	if m := w.message(clusterv1.DeletingCondition); !strings.Contains(m, "delete Node n1: admission webhook denied the request") {
		t.Errorf("message: want the node and the error, got %q", m)
	}
	w.clock = w.clock.Add(11 * time.Second)
	w.pass()
	if w.pool() != nil {
		t.Error("pool: want it gone after the default limit")
	}
}

func TestRestartedControllersKeepDeletingNodes(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, o := range []client.Object{w.get(infraGVK, "infra"), w.get(configGVK, "boot")} {
		if err := w.mgmt.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
		t.Fatal(err)
	}
	w.lose(clustercache.HealthCheckingState{})
	w.settled()
	w.clock = w.clock.Add(time.Hour)
	w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True DeletingNode")
	w.connect()
	w.pass()
	if w.pool() != nil {
		t.Error("pool: want it gone once its nodes are")
	}
	wantAll(t, "nodes", w.nodeNames(), []string{})
}

func TestPoolWithoutFinalizerIsUnchanged(t *testing.T) {
	t.Parallel()
	pool := aPool(1)
	pool.Finalizers = []string{"other/keep"}
	w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), anInfra(id1)})
	if err := w.mgmt.Delete(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.pass()
	if o := w.get(infraGVK, "infra"); o == nil || !o.GetDeletionTimestamp().IsZero() {
		t.Error("infrastructure: want it unchanged, because the finalizer has been removed")
	}
	want(t, "finalizers", strings.Join(w.pool().Finalizers, ","), "other/keep")
}
