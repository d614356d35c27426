package infrapool_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
)

// manifestKind is the kind of Azure Service Operator's manifests of agent pools.
var manifestKind = schema.GroupVersionKind{Group: "containerservice.azure.com", Version: "v1api20240901", Kind: "ManagedClustersAgentPool"}

// TestOperated holds when an agent pool is Azure Service Operator's: where the operator is installed and has a manifest of the name, unless
// that is to be skipped.
func TestOperated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why              string
		installed        bool
		name, policy     string
		owned            bool
		managed, asNamed string
	}{
		{"the operator is not installed", false, "", "", false, "p", "m"},
		{"it has no manifest of the name", true, "other", "", false, "p", "m"},
		{"it has the manifest of an AzureManagedMachinePool", true, "p", "", true, "p", "m"},
		{"it has the manifest that an AzureASOManagedMachinePool names", true, "m", "manage", true, "x", "m"},
		{"one that it leaves in the cloud when it is deleted", true, "p", "detach-on-delete", true, "p", "m"},
		{"one that it skips", true, "p", "skip", false, "p", "m"},
	} {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, metav1.AddMetaToScheme, aksv1.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		var objects []client.Object
		if c.installed {
			objects = append(objects, &apiextensionsv1.CustomResourceDefinition{
				ObjectMeta: metav1.ObjectMeta{Name: "managedclustersagentpools.containerservice.azure.com"}})
		}
		if c.name != "" {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(manifestKind)
			u.SetNamespace("ns")
			u.SetName(c.name)
			if c.policy != "" {
				u.SetAnnotations(map[string]string{"serviceoperator.azure.com/reconcile-policy": c.policy})
			}
			objects = append(objects, u)
		}
		reader := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper()).WithObjects(objects...).Build()
		o := &aksv1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: c.managed}}
		a := &aksv1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
		azureManagedDecode(t, strings.NewReplacer("SPEC", "{mode: User}", "c-p", c.asNamed).Replace(asoPool), &a.Spec)
		byField, err := azuremanaged.Managed{}.Kind().OwnedElsewhere(t.Context(), reader, o)
		if err != nil {
			t.Fatal(err)
		}
		byManifest, err := azuremanaged.ASO{}.Kind().OwnedElsewhere(t.Context(), reader, a)
		if err != nil {
			t.Fatal(err)
		}
		got := byField != nil || byManifest != nil
		if got != c.owned {
			t.Errorf("%s: want it owned: %t, got %v and %v", c.why, c.owned, byField, byManifest)
		}
		if byField != nil && (byField.Reason != "OwnedByServiceOperator" ||
			!strings.Contains(byField.Message, "ManagedClustersAgentPool ns/p exists")) {
			t.Errorf("%s: want the manifest named, got %v", c.why, byField)
		}
	}
}
