package machinepool_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/crd"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/machinepool/contract"
)

// TestContractsOfPublishedKinds holds that the kinds for pools and for bootstrap configurations of Muster and of other projects have names
// that are accepted.
func TestContractsOfPublishedKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"AWSMachinePool", "AWSManagedMachinePool", "ROSAMachinePool", "AzureMachinePool", "AzureManagedMachinePool",
		"AzureASOManagedMachinePool",
		"GCPMachinePool", "GCPManagedMachinePool", "OCIMachinePool", "OCIManagedMachinePool", "OCIVirtualMachinePool",
		"ScalewayManagedMachinePool", "DockerMachinePool",
		"DevMachinePool", "KarpenterMachinePool"} {
		if err := contract.InfraMachinePool().Names(schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: kind}); err != nil {
			t.Errorf("want %s followed, got %v", kind, err)
		}
	}
	for _, kind := range []string{"KubeadmConfig", "EKSConfig", "NodeadmConfig", "RKE2Config", "K0sWorkerConfig", "TalosConfig",
		"MicroK8sConfig", "KThreesConfig"} {
		if err := contract.BootstrapConfig().Names(schema.GroupKind{Group: "bootstrap.cluster.x-k8s.io", Kind: kind}); err != nil {
			t.Errorf("want %s followed, got %v", kind, err)
		}
	}
}

// TestContractsOfSchemas holds which contract every CustomResourceDefinition of Muster follows by its schema.
func TestContractsOfSchemas(t *testing.T) {
	t.Parallel()
	want := map[string]contract.Role{"KubeadmConfig": contract.BootstrapConfig(), "GKEConfig": contract.BootstrapConfig()}
	for _, kind := range []string{"AWSMachinePool", "AWSManagedMachinePool", "AzureMachinePool", "AzureManagedMachinePool",
		"AzureASOManagedMachinePool",
		"GCPMachinePool", "GCPManagedMachinePool", "OCIMachinePool", "OCIManagedMachinePool", "OCIVirtualMachinePool",
		"ScalewayManagedMachinePool"} {
		want[kind] = contract.InfraMachinePool()
	}
	files, err := fs.Glob(crd.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme)
	all := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(files))
	for _, name := range files {
		text, err := crd.Files.ReadFile(name)
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err = errors.Join(err, yaml.Unmarshal(text, d)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, d)
		b = b.WithObjects(d)
	}
	c := b.Build()
	for _, d := range all {
		gk := schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
		if gk.Group == musterv1.GroupVersion.Group {
			continue // no kind of a contract: its definition has no label of one
		}
		for _, role := range []contract.Role{contract.InfraMachinePool(), contract.BootstrapConfig()} {
			follows := want[gk.Kind].Path() == role.Path()
			if err := role.Follows(t.Context(), c, gk); (err == nil) != follows || (err != nil && !errors.Is(err, contract.ErrOutside)) {
				t.Errorf("%s as %s: want %v, got %v", gk, role.Path(), follows, err)
			}
		}
	}
}

// TestKindsAreReadOnce holds that a definition is read once for each of its versions, and that a rejection ends with the next version.
func TestKindsAreReadOnce(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "testpools.infrastructure.example.com", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{}}}}},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(definition).Build()
	reads := 0
	live := interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey,
		o client.Object, opts ...client.GetOption) error {
		reads++
		return c.Get(ctx, key, o, opts...)
	}})
	kinds, gk := contract.Kinds{}, schema.GroupKind{Group: "infrastructure.example.com", Kind: "TestPool"}
	for range 3 {
		if _, err := kinds.GVK(t.Context(), c, live, contract.InfraMachinePool(), gk); !errors.Is(err, contract.ErrOutside) {
			t.Fatalf("without the field: want %v, got %v", contract.ErrOutside, err)
		}
	}
	yes := true
	definition.Spec.Versions[0].Schema.OpenAPIV3Schema.XPreserveUnknownFields = &yes
	if err := c.Update(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if gvk, err := kinds.GVK(t.Context(), c, live, contract.InfraMachinePool(), gk); err != nil || gvk.Version != "v1" {
			t.Fatalf("with open fields: want version v1, got %v, %v", gvk, err)
		}
	}
	if reads != 2 {
		t.Errorf("reads: want 2, one for each version of the definition, got %d", reads)
	}
}
