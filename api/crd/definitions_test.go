package crd_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/crd"
)

// definitions reads every generated definition strictly, as an API server with strict field validation would.
func definitions(t *testing.T) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read reads the definitions once for all tests, which change none of them.
var read = sync.OnceValues(func() (map[string]*apiextensionsv1.CustomResourceDefinition, error) {
	all, err := readFolder(crd.Files)
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("no definitions: %w", err)
	}
	// Kinds that no controller reconciles yet have the same rules.
	staged, err := readFolder(os.DirFS(stagedFolder))
	maps.Copy(all, staged)
	return all, err
})

// stagedFolder holds the definitions of kinds that no controller reconciles yet.
const stagedFolder = "staged"

func readFolder(folder fs.FS) (map[string]*apiextensionsv1.CustomResourceDefinition, error) {
	all := map[string]*apiextensionsv1.CustomResourceDefinition{}
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, definition); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(definition)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
		all[definition.Spec.Names.Kind] = definition
	}
	return all, nil
}

// TestStaged holds that a kind that no controller reconciles yet is not among those that an installation has: its objects would have no
// effect.
func TestStaged(t *testing.T) {
	t.Parallel()
	installed, err := readFolder(crd.Files)
	if err != nil {
		t.Fatal(err)
	}
	staged, err := readFolder(os.DirFS(stagedFolder))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for kind, definition := range staged {
		if installed[kind] != nil || strings.Contains(string(list), definition.Spec.Names.Plural) {
			t.Errorf("%s is in %s and is installed: run hack/generate.sh", kind, stagedFolder)
		}
	}
}

// TestKinds holds the list of kinds that have a definition.
func TestKinds(t *testing.T) {
	t.Parallel()
	all := definitions(t)
	for _, kind := range []string{
		"AWSMachine", "AWSMachinePool", "AWSManagedMachinePool", "Cluster", "ClusterClass", "KubeadmConfig", "KubeadmConfigTemplate", "Machine",
		"MachineDeployment",
		"MachineDrainRule", "MachineHealthCheck", "MachinePool", "MachineSet",
		"OCIMachinePool", "OCIMachinePoolMachine", "OCIManagedMachinePool", "OCIManagedMachinePoolTemplate", "OCIVirtualMachinePool",
	} {
		definition, ok := all[kind]
		if !ok {
			t.Errorf("want a definition of %s, found none", kind)
			continue
		}
		if got, want := served(definition), []string{"v1beta1", "v1beta2"}; !slices.Equal(got, want) {
			t.Errorf("%s: served versions: got %v, want %v", kind, got, want)
		}
		if got, want := stored(definition), "v1beta2"; got != want {
			t.Errorf("%s: stored version: got %s, want %s", kind, got, want)
		}
	}
	scaleway := all["ScalewayManagedMachinePool"]
	if got := served(scaleway); !slices.Equal(got, []string{"v1alpha1", "v1alpha2"}) || stored(scaleway) != "v1alpha2" {
		t.Errorf("ScalewayManagedMachinePool: want v1alpha1 and v1alpha2 served and v1alpha2 stored, got %v and %s", got, stored(scaleway))
	}
	for kind, want := range map[string]string{
		"AzureMachinePool": "v1beta1", "AzureMachinePoolMachine": "v1beta1", "AzureMachinePoolTemplate": "v1beta1",
		"AzureManagedMachinePool": "v1beta1", "AzureManagedMachinePoolTemplate": "v1beta1",
		"GCPMachine": "v1beta1", "GCPMachinePool": "v1beta1", "GCPMachinePoolTemplate": "v1beta1", "GCPManagedMachinePool": "v1beta1",
		"GCPManagedMachinePoolTemplate": "v1beta1",
		"GKEConfig":                     "v1beta1", "GKEConfigTemplate": "v1beta1",
		"AWSMachinePoolTemplate": "v1beta2", "AWSManagedMachinePoolTemplate": "v1beta2",
		"OCIMachinePoolTemplate": "v1beta2", "OCIVirtualMachinePoolTemplate": "v1beta2",
	} {
		definition, ok := all[kind]
		if !ok {
			t.Errorf("want a definition of %s, found none", kind)
			continue
		}
		if got := served(definition); !slices.Equal(got, []string{want}) || stored(definition) != want {
			t.Errorf("%s: want %s alone served and stored, got %v and %s", kind, want, got, stored(definition))
		}
	}
}

// TestOlderVersions holds that manifests in a version that a provider served before are accepted, with the fields of the stored one.
func TestOlderVersions(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][]string{
		"AzureASOManagedMachinePool": {"v1alpha1", "v1beta1"}, "AzureASOManagedMachinePoolTemplate": {"v1alpha1", "v1beta1"},
		"OCIMachinePoolMachine": {"v1beta1", "v1beta2"}, "OCIVirtualMachinePool": {"v1beta1", "v1beta2"},
	} {
		definition := definitions(t)[kind]
		if got := served(definition); !slices.Equal(got, want) || stored(definition) != want[1] {
			t.Fatalf("%s: want %v served and the last stored, got %v and %s", kind, want, got, stored(definition))
		}
		if diff := cmp.Diff(definition.Spec.Versions[1].Schema, definition.Spec.Versions[0].Schema); diff != "" {
			t.Errorf("%s: want equal fields: %s -, %s +\n%s", kind, want[1], want[0], diff)
		}
	}
}

// TestAccepted runs what a real API server checks when a definition is created: structure, names, columns, and the
// estimated cost of every rule.
func TestAccepted(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the rules of every definition: left out with -short")
	}
	t.Parallel()
	for kind, definition := range definitions(t) {
		var internal apiextensions.CustomResourceDefinition
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(definition.DeepCopy(), &internal,
			nil); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		// The API server fills this in when it stores the definition.
		internal.Status.StoredVersions = []string{stored(definition)}
		for _, err := range apiextensionsvalidation.ValidateCustomResourceDefinition(context.Background(), &internal) {
			t.Errorf("%s would be refused: %v", kind, err)
		}
	}
}

// TestContract holds that the core controllers find a served version of every kind, whichever contract they want: they
// take the newest version that the label of the contract names.
func TestContract(t *testing.T) {
	t.Parallel()
	for kind, definition := range definitions(t) {
		if strings.HasPrefix(kind, "Local") || definition.Spec.Group == "muster.dev" {
			continue // only our own core looks for it, and no core for what operators tell the manager
		}
		for _, contract := range []string{"v1beta1", "v1beta2"} {
			label := definition.Labels["cluster.x-k8s.io/"+contract]
			versions := strings.Split(label, "_")
			sort.Slice(versions, func(i, j int) bool {
				return version.CompareKubeAwareVersionStrings(versions[i], versions[j]) < 0
			})
			if newest := versions[len(versions)-1]; !slices.Contains(served(definition), newest) {
				t.Errorf("%s: label of contract %s is %q: want versions that are served, of %v", kind, contract, label, served(definition))
			}
		}
	}
}

// TestMachinesKeepEverything holds that an object for one instance keeps all fields of another provider, and that it needs no conversion:
// its versions have the same fields.
func TestMachinesKeepEverything(t *testing.T) {
	t.Parallel()
	definition := definitions(t)["AWSMachine"]
	var shapes []apiextensionsv1.JSONSchemaProps
	for _, v := range definition.Spec.Versions {
		whole := *v.Schema.OpenAPIV3Schema
		for name, schema := range map[string]apiextensionsv1.JSONSchemaProps{"the object": whole, "spec": whole.Properties["spec"],
			"status": whole.Properties["status"]} {
			if schema.XPreserveUnknownFields == nil || !*schema.XPreserveUnknownFields {
				t.Errorf("%s: %s drops the fields that it does not know, want it to keep them", v.Name, name)
			}
		}
		shapes = append(shapes, whole)
	}
	if len(shapes) != 2 {
		t.Fatalf("want 2 versions, got %d", len(shapes))
	}
	if diff := cmp.Diff(shapes[0], shapes[1]); diff != "" {
		t.Errorf("the versions differ, want the same fields (-%s +%s):\n%s", definition.Spec.Versions[0].Name,
			definition.Spec.Versions[1].Name, diff)
	}
}

// TestColumns holds what kubectl get shows of every pool's infrastructure kind, the same for all.
func TestColumns(t *testing.T) {
	t.Parallel()
	type column struct {
		Name, Path string
		Wide       bool
	}
	want := []column{
		{"Cluster", `.metadata.labels['cluster\.x-k8s\.io/cluster-name']`, false},
		{"Desired", ".status.desiredReplicas", false},
		{"Current", ".status.replicas", false},
		{"Ready", ".status.readyReplicas", false},
		{"Up-to-date", ".status.upToDateReplicas", false},
		{"State", ".status.state", false},
		{"Age", ".metadata.creationTimestamp", false},
		{"Paused", `.status.conditions[?(@.type=="Paused")].status`, true},
		{"Template", ".status.template", true},
		{"ProviderID", ".spec.providerID", true},
		{"Version", ".status.version", true},
	}
	for kind, definition := range definitions(t) {
		if definition.Spec.Group != "infrastructure.cluster.x-k8s.io" || !strings.HasSuffix(kind, "Pool") {
			continue
		}
		for _, v := range definition.Spec.Versions {
			var got []column
			for _, c := range v.AdditionalPrinterColumns {
				got = append(got, column{c.Name, c.JSONPath, c.Priority > 0})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: columns (-want +got):\n%s", kind, v.Name, diff)
			}
			if v.Subresources == nil || v.Subresources.Status == nil {
				t.Errorf("%s %s: want a status subresource, found none", kind, v.Name)
			}
		}
	}
}

func served(definition *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, v := range definition.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	sort.Strings(names)
	return names
}

func stored(definition *apiextensionsv1.CustomResourceDefinition) string {
	for _, v := range definition.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}
