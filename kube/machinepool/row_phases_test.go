package machinepool

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// The tests named TestRow... hold the behaviour of other machine pool controllers, row by row, with their defects fixed; those that need a
// real API server are in package acceptancetest.

// errDown is the error of a request that fails.
var errDown = errors.New("the API is down for the test")

// TestRow01_FinalizerIsWrittenFirst holds the order of a pass: objects are taken over only if the pool cannot be deleted without releasing
// them.
func TestRow01_FinalizerIsWrittenFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
			opts ...client.PatchOption) error {
			if _, ok := o.(*clusterv1.MachinePool); ok {
				return errDown
			}
			return c.Patch(ctx, o, p, opts...)
		}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); !errors.Is(err, errDown) {
		t.Errorf("want the error to be returned, got %v", err)
	}
	if o := w.get(infraGVK, "infra"); len(o.GetOwnerReferences()) != 0 {
		t.Errorf("infrastructure: want it untouched, got owners %v", o.GetOwnerReferences())
	}
	w.r.Client = w.mgmt
	w.pass()
	first, taken := slices.Index(w.writes, "management: patch *v1beta2.MachinePool pool"),
		slices.Index(w.writes, "management: patch *unstructured.Unstructured infra")
	if first < 0 || taken < first {
		t.Errorf("want the pool written before its infrastructure, got %v", w.writes)
	}
}

// TestRow04_FailedStepDoesNotStopOthers holds that errors are returned together, after all steps.
func TestRow04_FailedStepDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
	w.node("n1", id1, true)
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == configGVK.Kind {
				return errDown
			}
			return c.Get(ctx, key, o, opts...)
		}})
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey})
	if !errors.Is(err, errDown) {
		t.Errorf("want the error to be returned, got %v", err)
	}
	wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, []string{id1})
	wantAll(t, "references", w.refs(), []string{"n1"})
	want(t, "bootstrap", w.condition(clusterv1.BootstrapConfigReadyCondition), "Unknown InternalError")
}

// TestRow13_OldDataUntilNewConfigurationIsReady holds that a pool keeps its bootstrap data when its configuration is replaced by one that
// is not ready, and uses the new data when it is.
func TestRow13_OldDataUntilNewConfigurationIsReady(t *testing.T) {
	t.Parallel()
	w := running(t)
	next := object(configGVK, "next", nil, map[string]any{})
	w.create(next)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap.ConfigRef.Name = "next" })
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	want(t, "data secret", *w.pool().Spec.Template.Spec.Bootstrap.DataSecretName, "boot-data")
	change(w, w.mgmt, client.ObjectKeyFromObject(next), next, func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"ready": true, "dataSecretName": "next-data"}
	})
	w.settled()
	want(t, "data secret", *w.pool().Spec.Template.Spec.Bootstrap.DataSecretName, "next-data")
}

// TestRow14_UserProvidedDataIsReady holds that a pool without a configuration needs only the name of a secret, which may be empty.
func TestRow14_UserProvidedDataIsReady(t *testing.T) {
	t.Parallel()
	name, none := "my-data", ""
	for _, secret := range []*string{&name, &none} {
		pool := aPool(0)
		pool.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: secret}
		w := newWorld(t, []client.Object{aCluster(), pool, anInfra()})
		w.settled()
		want(t, "bootstrap", w.condition(clusterv1.BootstrapConfigReadyCondition), "True DataSecretProvided")
		want(t, "phase", w.pool().Status.Phase, "Running")
	}
	pool := aPool(0)
	pool.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{}
	w := newWorld(t, []client.Object{aCluster(), pool, anInfra()})
	w.settled()
	want(t, "bootstrap of a pool that names neither", w.condition(clusterv1.BootstrapConfigReadyCondition), "False BootstrapMissing")
}

// TestRow05_StatusIsWrittenAfterErrors holds that the status is also written if the infrastructure object cannot be read, and during the
// deletion.
func TestRow05_StatusIsWrittenAfterErrors(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changePool(func(p *clusterv1.MachinePool) { p.Generation = 7 })
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, false, w.clock) })
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == infraGVK.Kind {
				return errDown
			}
			return c.Get(ctx, key, o, opts...)
		}})
	_, _ = w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey})
	want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "Unknown InternalError")
	want(t, "ready: nodes are counted nevertheless", w.counts()[0], 1)
	want(t, "observed generation", w.pool().Status.ObservedGeneration, 7)
	w.r.Client = w.mgmt
	w.delete()
	w.settled()
	want(t, "phase of a pool that is being deleted", w.pool().Status.Phase, "Deleting")
	want(t, "ready while it is being deleted", w.counts()[0], 1)
	want(t, "Available while it is being deleted", w.condition(clusterv1.AvailableCondition), "False NotAvailable")
}
