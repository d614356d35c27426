package partstest

import (
	"context"
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/skew"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	const newer, older = "nodes must not be newer than their API server", "is more than 3 minor versions older"
	for _, c := range []struct{ reason, pool, plane, want string }{
		{"the same", "v1.36.3", "v1.36.3", ""},
		{"a newer patch: many control planes name none, and any patch of one minor version serves any other", "v1.36.9", "v1.36", ""},
		{"three older is the most", "v1.33.0", "v1.36.3", ""},
		{"four older is too much", "v1.32.9", "v1.36.3", older},
		{"one newer is too much", "v1.37.0", "v1.36.3", newer},
		{"a version before its release is of its minor version", "v1.37.0-rc.1", "v1.36.3", newer},
		{"clouds spell versions without the v and without the patch", "v1.32.1", "1.31", newer},
		{"what vendors add counts for nothing", "v1.31.7-eks-abc+2", "v1.31.2+k3s1", ""},
		{"the first minor versions have nothing that is too old", "v1.0.0", "v1.3.0", ""},
		{"another major version is too new", "v2.0.0", "v1.36.3", newer},
		{"or too old", "v1.36.3", "v2.0.0", older},
		{"no version of the pool", "", "v1.36.3", ""},
		{"no version of the control plane", "v1.36.3", "", ""},
		{"words are no versions", "v1.36.3", "latest", ""},
		{"numbers at the end of what can be counted", "v1.18446744073709551615.0", "v1.36.3", newer},
	} {
		got := skew.Between(c.pool, skew.ControlPlane{Kind: "K", Name: "c", Version: c.plane})
		switch {
		case c.want == "" && got != nil:
			t.Errorf("%s: want %s with %s taken, got %q", c.reason, c.pool, c.plane, got)
		case c.want != "" && (got == nil || !strings.Contains(got.String(), c.want) ||
			!strings.Contains(got.String(), c.plane+", which K c asks for")):
			t.Errorf("%s: want %s with %s refused with %q, got %v", c.reason, c.pool, c.plane, c.want, got)
		}
	}
}

func TestExceeds(t *testing.T) {
	t.Parallel()
	plane := skew.ControlPlane{Version: "v1.36.3"}
	for _, c := range []struct {
		reason, was, is string
		want            bool
	}{
		{"from what is supported", "v1.36.0", "v1.37.0", true},
		{"further ahead", "v1.37.0", "v1.38.0", true},
		{"back, but not far enough", "v1.38.0", "v1.37.0", false},
		{"a patch of what is too new", "v1.37.0", "v1.37.1", false},
		{"further behind", "v1.31.0", "v1.30.0", true},
		{"step by step to what is supported", "v1.30.0", "v1.31.0", false},
		{"a patch of what is too old", "v1.30.0", "v1.30.9", false},
		{"from one side to the other", "v1.30.0", "v1.37.0", true},
	} {
		if got := skew.Between(c.is, plane).Exceeds(skew.Between(c.was, plane)); got != c.want {
			t.Errorf("%s: %s to %s: want %t, got %t", c.reason, c.was, c.is, c.want, got)
		}
	}
}

// planes is a management cluster with the definitions and objects of some kinds of control planes.
func planes(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(apiextensionsv1.AddToScheme(scheme), clusterv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	for name, label := range map[string]string{"olders": "cluster.x-k8s.io/v1beta1", "news": "cluster.x-k8s.io/v1beta2"} {
		objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: name + ".controlplane.cluster.x-k8s.io", Labels: map[string]string{label: "v1alpha1_v1beta3"}}})
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func plane(kind, name string, version any) *unstructured.Unstructured {
	spec := map[string]any{}
	if version != nil {
		spec["version"] = version
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta3", "kind": kind,
		"metadata": map[string]any{"namespace": "ns", "name": name}, "spec": spec}}
}

func TestRead(t *testing.T) {
	t.Parallel()
	c := planes(t, plane("Older", "a", "v1.31"), plane("New", "a", "v1.36.3"), plane("New", "silent", nil), plane("New", "odd", int64(1)))
	for _, tc := range []struct{ reason, kind, name, want string }{
		{"a control plane of the older contract", "Older", "a", "v1.31"},
		{"and of the newer", "New", "a", "v1.36.3"},
		{"one that names no version", "New", "silent", ""},
		{"one whose field means something else", "New", "odd", ""},
		{"one that does not exist yet: manifests come in any order", "New", "none", ""},
		{"one whose kind is not installed", "Gone", "a", ""},
		{"a cluster that has none", "", "", ""},
	} {
		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
		if tc.kind != "" {
			cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: tc.kind,
				Name: tc.name}
		}
		got, err := skew.Read(t.Context(), skew.GetterFor(c), c, cluster)
		if want := (skew.ControlPlane{Kind: tc.kind, Name: tc.name, Version: tc.want}); err != nil || got != want {
			t.Errorf("%s: want %+v, got %+v, %v", tc.reason, want, got, err)
		}
	}
	refusing := interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey,
		o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*unstructured.Unstructured); ok {
			return errors.New("refused")
		}
		return inner.Get(ctx, key, o, opts...)
	}})
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: clusterv1.ClusterSpec{
		ControlPlaneRef: clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: "New", Name: "a"}}}
	if _, err := skew.Read(t.Context(), skew.GetterFor(refusing), c, cluster); err == nil ||
		!strings.Contains(err.Error(), "read New a: refused") {
		t.Errorf("one that can't be read: want an error that names it, got %v", err)
	}
}
