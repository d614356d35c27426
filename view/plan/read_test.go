package plan

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
)

// TestVersionsWithoutAType holds that an object in a version that the API server alone converts is read as the controllers read it.
func TestVersionsWithoutAType(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := aksv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	e := newEditor(fake.NewClientBuilder().WithScheme(scheme).Build(),
		func(_ context.Context, o client.Object) (client.Object, error) { return o, nil }, "")
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerID": "azure:///a"}}}
	u.SetGroupVersionKind(aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind))
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		u.SetAPIVersion(aksv1.GroupVersion.Group + "/" + version)
		o, err := e.read(t.Context(), u)
		if is, ok := o.(*aksv1.AzureASOManagedMachinePool); err != nil || !ok || is.Spec.ProviderID != "azure:///a" ||
			is.GroupVersionKind().Version != "v1beta1" {
			t.Errorf("%s: want it in v1beta1 with its fields, got %T %+v, %v", version, o, o, err)
		}
	}
}
