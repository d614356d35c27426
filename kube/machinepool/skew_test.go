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

// TestVersionSkewIsReported holds that an unsupported version is reported, changes no other fact, and is no longer reported when it is
// supported.
func TestVersionSkewIsReported(t *testing.T) {
	t.Parallel()
	gvk := schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1", Kind: "TestControlPlane"}
	plane := object(gvk, "plane", map[string]any{"version": "v1.35.9"}, nil)
	cluster := aCluster()
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: "plane"}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra("aws:///a/i-1"), plane,
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "testcontrolplanes." + gvk.Group,
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}}}})
	w.node("n1", "aws:///a/i-1", true)
	compared := func() (*metav1.Condition, ctrl.Result) {
		w.pass()
		result := w.pass()
		return conditions.Get(w.pool(), clusterv1.MachinesUpToDateCondition), result
	}
	c, result := compared()
	if want := "spec.template.spec.version: v1.36.0 is newer than v1.35.9, which TestControlPlane plane asks " +
		"for"; c.Status != metav1.ConditionTrue || !strings.HasPrefix(c.Message, want) {
		t.Errorf("newer than the control plane: want it reported with the state of the machines, %q, got %+v", want, c)
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > afterSkew {
		t.Errorf("want another pass within %s, got %s", afterSkew, result.RequeueAfter)
	}
	plane.SetResourceVersion("")
	if err := w.mgmt.Get(t.Context(), client.ObjectKeyFromObject(plane), plane); err != nil {
		t.Fatal(err)
	}
	plane.Object["spec"] = map[string]any{"version": "v1.36.1"}
	if err := w.mgmt.Update(t.Context(), plane); err != nil {
		t.Fatal(err)
	}
	if c, _ := compared(); c.Message != "" {
		t.Errorf("the control plane was upgraded: want nothing reported, got %+v", c)
	}
	if err := w.mgmt.Delete(t.Context(), plane); err != nil {
		t.Fatal(err)
	}
	if c, _ := compared(); c.Status != metav1.ConditionTrue || c.Message != "" {
		t.Errorf("a deleted control plane has no version: want nothing reported, got %+v", c)
	}
}

// TestForbiddenControlPlaneIsNotRead holds that a control plane which the controllers may not read is not read: a cache that never
// synchronizes would block the worker for ever.
func TestForbiddenControlPlaneIsNotRead(t *testing.T) {
	t.Parallel()
	gvk := schema.GroupVersionKind{Group: "controlplane.example.com", Version: "v1", Kind: "TestControlPlane"}
	cluster := aCluster()
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: "plane"}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra("aws:///a/i-1"),
		object(gvk, "plane", map[string]any{"version": "v1.30.0"}, nil),
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "testcontrolplanes." + gvk.Group,
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}}}})
	reads := 0
	w.r.MayWatch = func(_ context.Context, kind schema.GroupVersionKind) error {
		if kind == gvk {
			return access.ErrForbidden
		}
		return nil
	}
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			if o.GetObjectKind().GroupVersionKind().GroupKind() == gvk.GroupKind() {
				reads++
			}
			return c.Get(ctx, key, o, opts...)
		}})
	w.settled()
	if reads > 0 {
		t.Errorf("want no read of the control plane, got %d", reads)
	}
	if c := conditions.Get(w.pool(), clusterv1.MachinesUpToDateCondition); c == nil || c.Message != "" {
		t.Errorf("want nothing reported of an unknown version, got %+v", c)
	}
}

// TestForbiddenReferenceIsReported holds that a provider without the permission is reported, and blocks no worker.
func TestForbiddenReferenceIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra("aws:///a/i-1")})
	w.r.MayWatch = func(_ context.Context, kind schema.GroupVersionKind) error {
		if kind.Group == "infrastructure.cluster.x-k8s.io" {
			return fmt.Errorf("%w %s", access.ErrForbidden, kind.Kind)
		}
		return nil
	}
	_, _ = w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(aPool(1))})
	if c := conditions.Get(w.pool(), clusterv1.InfrastructureReadyCondition); c == nil ||
		!strings.Contains(c.Message, access.ErrForbidden.Error()) {
		t.Errorf("want the missing permission in the condition, got %+v", c)
	}
}

// TestBlocksControlPlane holds that nodes which keep the control plane from its next version are reported until they are replaced.
func TestBlocksControlPlane(t *testing.T) {
	t.Parallel()
	gvk := schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1", Kind: "TestControlPlane"}
	cluster := aCluster()
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: "plane"}
	w := newWorld(t, []client.Object{cluster, aPool(1), aConfig(), anInfra("aws:///a/i-1"),
		object(gvk, "plane", map[string]any{"version": "v1.36.9"}, nil),
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "testcontrolplanes." + gvk.Group,
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}}}})
	node := w.node("n1", "aws:///a/i-1", true)
	for version, want := range map[string]string{"v1.33.2": "can't go beyond v1.36 before the nodes of v1.33 are replaced", "v1.34.0": ""} {
		if err := w.wl.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
			t.Fatal(err)
		}
		node.Status.NodeInfo.KubeletVersion = version
		if err := w.wl.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		w.pass()
		result := w.pass()
		c := conditions.Get(w.pool(), clusterv1.MachinesUpToDateCondition)
		if got := strings.Contains(c.Message, "BlocksControlPlane"); got != (want != "") || !strings.Contains(c.Message, want) {
			t.Errorf("%s: want %q reported, got %+v", version, want, c)
		}
		if want != "" && (result.RequeueAfter == 0 || result.RequeueAfter > afterSkew) {
			t.Errorf("%s: want another pass within %s, got %s", version, afterSkew, result.RequeueAfter)
		}
	}
}
