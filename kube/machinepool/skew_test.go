package machinepool

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/access"
)

// TestVersionSkewIsTold holds that a version which the control plane can't serve is told of on the pool, changes no other fact
// about it, and is forgotten with its cause.
func TestVersionSkewIsTold(t *testing.T) {
	t.Parallel()
	gvk := schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1", Kind: "TestControlPlane"}
	plane := object(gvk, "plane", map[string]any{"version": "v1.35.9"}, nil)
	cluster := aCluster()
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: "plane"}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra("aws:///a/i-1"), plane,
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "testcontrolplanes." + gvk.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}}}})
	w.node("n1", "aws:///a/i-1", true)
	said := func() (*metav1.Condition, ctrl.Result) {
		w.pass()
		result := w.pass()
		return conditions.Get(w.pool(), clusterv1.MachinesUpToDateCondition), result
	}
	c, result := said()
	if want := "spec.template.spec.version: v1.36.0 is newer than v1.35.9, which TestControlPlane plane asks for"; c.Status != metav1.ConditionTrue || !strings.HasPrefix(c.Message, want) {
		t.Errorf("newer than the control plane: want it told beside what the machines are, %q, got %+v", want, c)
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > afterSkew {
		t.Errorf("want another look within %s, got %s", afterSkew, result.RequeueAfter)
	}
	plane.SetResourceVersion("")
	if err := w.mgmt.Get(t.Context(), client.ObjectKeyFromObject(plane), plane); err != nil {
		t.Fatal(err)
	}
	plane.Object["spec"] = map[string]any{"version": "v1.36.1"}
	if err := w.mgmt.Update(t.Context(), plane); err != nil {
		t.Fatal(err)
	}
	if c, _ := said(); c.Message != "" {
		t.Errorf("the control plane has come up: want nothing told any more, got %+v", c)
	}
	if err := w.mgmt.Delete(t.Context(), plane); err != nil {
		t.Fatal(err)
	}
	if c, _ := said(); c.Status != metav1.ConditionTrue || c.Message != "" {
		t.Errorf("a control plane that is gone names no version: want nothing told, got %+v", c)
	}
}

// TestControlPlanesThatMayNotBeReadAreNotAskedFor holds that a control plane of a group that the controllers have no right to is not
// asked for: a cache that never fills would hold the worker for ever.
func TestControlPlanesThatMayNotBeReadAreNotAskedFor(t *testing.T) {
	t.Parallel()
	gvk := schema.GroupVersionKind{Group: "somebody.else.io", Version: "v1", Kind: "TestControlPlane"}
	cluster := aCluster()
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: "plane"}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra("aws:///a/i-1"), object(gvk, "plane", map[string]any{"version": "v1.30.0"}, nil),
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "testcontrolplanes." + gvk.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}}}})
	asked := 0
	w.r.MayWatch = func(_ context.Context, kind schema.GroupVersionKind) error {
		if kind == gvk {
			return access.ErrForbidden
		}
		return nil
	}
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if o.GetObjectKind().GroupVersionKind().GroupKind() == gvk.GroupKind() {
			asked++
		}
		return c.Get(ctx, key, o, opts...)
	}})
	w.settled()
	if asked > 0 {
		t.Errorf("want nothing asked about the control plane, got it asked for %d times", asked)
	}
	if c := conditions.Get(w.pool(), clusterv1.MachinesUpToDateCondition); c == nil || c.Message != "" {
		t.Errorf("want nothing told of a version that is not known, got %+v", c)
	}
}

// TestReferencesThatMayNotBeReadAreReported holds that a provider that grants nothing is named, and blocks no worker.
func TestReferencesThatMayNotBeReadAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra("aws:///a/i-1")})
	w.r.MayWatch = func(_ context.Context, kind schema.GroupVersionKind) error {
		if kind.Group == "infrastructure.cluster.x-k8s.io" {
			return fmt.Errorf("%w %s", access.ErrForbidden, kind.Kind)
		}
		return nil
	}
	_, _ = w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(aPool(1))})
	if c := conditions.Get(w.pool(), clusterv1.InfrastructureReadyCondition); c == nil || !strings.Contains(c.Message, access.ErrForbidden.Error()) {
		t.Errorf("want the missing right in the condition, got %+v", c)
	}
}
