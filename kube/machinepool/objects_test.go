package machinepool_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/machinepool/reference"
)

// TestKnownKindsAreReadTyped holds that kinds which other controllers of the manager read share a cache with them.
func TestKnownKindsAreReadTyped(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := bootstrapv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gvk := bootstrapv1.GroupVersion.WithKind("KubeadmConfig")
	r := reference.ObjectReader{Cached: fake.NewClientBuilder().WithScheme(scheme).WithObjects(&bootstrapv1.KubeadmConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "boot"},
		Status:     bootstrapv1.KubeadmConfigStatus{DataSecretName: "boot-data"}}).Build()}
	if _, ok := r.New(gvk).(*bootstrapv1.KubeadmConfig); !ok {
		t.Errorf("known kind: want it typed, got %T", r.New(gvk))
	}
	if _, ok := r.New(schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Unknown"}).(*unstructured.Unstructured); !ok {
		t.Error("unknown kind: want it unstructured")
	}
	one, err := r.Get(t.Context(), gvk, client.ObjectKey{Namespace: "default", Name: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.List(t.Context(), gvk)
	if err != nil || len(all) != 1 {
		t.Fatalf("want one object listed, got %d, %v", len(all), err)
	}
	for how, o := range map[string]*unstructured.Unstructured{"read": one, "listed": all[0]} {
		if name := reference.NestedString(o, "status", "dataSecretName"); name != "boot-data" || o.GroupVersionKind() != gvk {
			t.Errorf("%s: want data secret boot-data of %s, got %q of %s", how, gvk, name, o.GroupVersionKind())
		}
	}
}
