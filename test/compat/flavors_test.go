package compat

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// flavor is one template for "clusterctl generate cluster --flavor".
type flavor struct {
	// cloud is the folder of those templates whose names others have too.
	cloud, name string
	// class is the ClusterClass in the template's folder, where clusterctl finds it. Its objects come first.
	class string
	// variables that have no default; all others have one.
	needed, optional []string
	// kinds of its objects, in order.
	kinds []string
	// warnings that the API server gives, each by words of it; there are no others.
	warnings []string
}

var flavors = []flavor{
	{
		name:   "machinepool",
		needed: []string{"AWS_AVAILABILITY_ZONE", "AWS_REGION", "AWS_SSH_KEY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AWS_CONTROL_PLANE_MACHINE_TYPE", "AWS_NODE_MACHINE_TYPE", "CONTROL_PLANE_MACHINE_COUNT", "KUBERNETES_AWS_CCM_VERSION",
			"WORKER_MACHINE_COUNT"},
		kinds: []string{"Cluster", "AWSCluster", "KubeadmControlPlane", "AWSMachineTemplate", "MachineHealthCheck", "MachinePool",
			"AWSMachinePool", "KubeadmConfig",
			"ClusterResourceSet", "ClusterResourceSet", "ConfigMap", "ConfigMap"},
	},
	{
		name:     "eks-managedmachinepool",
		needed:   []string{"AWS_REGION", "AWS_SSH_KEY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AWS_NODE_MACHINE_TYPE", "WORKER_MACHINE_COUNT"},
		kinds:    []string{"Cluster", "AWSManagedCluster", "AWSManagedControlPlane", "MachinePool", "AWSManagedMachinePool"},
		warnings: []string{"spec.amiType", "spec.instanceType"},
	},
	{
		cloud: "azure", name: "machinepool",
		needed: []string{"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY", "AZURE_CONTROL_PLANE_MACHINE_TYPE", "AZURE_LOCATION",
			"AZURE_NODE_MACHINE_TYPE", "AZURE_SUBSCRIPTION_ID",
			"AZURE_TENANT_ID", "CLUSTER_IDENTITY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AZURE_RESOURCE_GROUP", "AZURE_SSH_PUBLIC_KEY_B64", "AZURE_VNET_NAME", "CI_RG", "CLUSTER_IDENTITY_TYPE",
			"CONTROL_PLANE_MACHINE_COUNT", "USER_IDENTITY", "WORKER_MACHINE_COUNT"},
		kinds: []string{"Cluster", "AzureCluster", "KubeadmControlPlane", "AzureMachineTemplate", "MachinePool", "AzureMachinePool",
			"KubeadmConfig", "AzureClusterIdentity"},
	},
	{
		cloud: "azure", name: "aks",
		needed: []string{"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY", "AZURE_LOCATION", "AZURE_NODE_MACHINE_TYPE", "AZURE_SUBSCRIPTION_ID",
			"AZURE_TENANT_ID",
			"CLUSTER_IDENTITY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AZURE_RESOURCE_GROUP", "AZURE_SSH_PUBLIC_KEY_B64", "CLUSTER_IDENTITY_TYPE", "WORKER_MACHINE_COUNT"},
		kinds: []string{"Cluster", "AzureManagedControlPlane", "AzureManagedCluster", "MachinePool", "AzureManagedMachinePool", "MachinePool",
			"AzureManagedMachinePool",
			"AzureClusterIdentity"},
	},
	{
		cloud: "azure", name: "aks-aso",
		needed:   []string{"ASO_CREDENTIAL_SECRET_NAME", "AZURE_LOCATION", "AZURE_NODE_MACHINE_TYPE", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"WORKER_MACHINE_COUNT"},
		kinds: []string{"Cluster", "AzureASOManagedControlPlane", "AzureASOManagedCluster", "MachinePool", "AzureASOManagedMachinePool",
			"MachinePool",
			"AzureASOManagedMachinePool"},
	},
	{
		name: "topology", class: "aws-machinepool",
		needed: []string{"AWS_REGION", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AWS_CONTROL_PLANE_MACHINE_TYPE", "AWS_NODE_MACHINE_TYPE", "AWS_SSH_KEY_NAME", "CONTROL_PLANE_MACHINE_COUNT",
			"WORKER_MACHINE_COUNT"},
		kinds: []string{"ClusterClass", "AWSClusterTemplate", "KubeadmControlPlaneTemplate", "AWSMachineTemplate", "AWSMachinePoolTemplate",
			"KubeadmConfigTemplate", "Cluster"},
	},
	{
		cloud: "azure", name: "topology", class: "azure-machinepool",
		needed: []string{"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY", "AZURE_CONTROL_PLANE_MACHINE_TYPE", "AZURE_LOCATION",
			"AZURE_NODE_MACHINE_TYPE", "AZURE_SUBSCRIPTION_ID",
			"AZURE_TENANT_ID", "CLUSTER_IDENTITY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AZURE_SSH_PUBLIC_KEY_B64", "CI_RG", "CLUSTER_IDENTITY_TYPE", "CONTROL_PLANE_MACHINE_COUNT", "USER_IDENTITY",
			"WORKER_MACHINE_COUNT"},
		kinds: []string{"ClusterClass", "AzureClusterTemplate", "KubeadmControlPlaneTemplate", "AzureMachineTemplate", "AzureMachinePoolTemplate",
			"KubeadmConfigTemplate",
			"Cluster", "AzureClusterIdentity"},
	},
	{
		cloud: "azure", name: "aks-topology", class: "azure-aks",
		needed: []string{"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY", "AZURE_LOCATION", "AZURE_NODE_MACHINE_TYPE", "AZURE_SUBSCRIPTION_ID",
			"AZURE_TENANT_ID",
			"CLUSTER_IDENTITY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"CLUSTER_IDENTITY_TYPE", "WORKER_MACHINE_COUNT"},
		kinds: []string{"ClusterClass", "AzureManagedClusterTemplate", "AzureManagedControlPlaneTemplate", "AzureManagedMachinePoolTemplate",
			"AzureManagedMachinePoolTemplate",
			"KubeadmConfigTemplate", "Cluster", "AzureClusterIdentity"},
	},
	{
		cloud: "azure", name: "aks-aso-topology", class: "azure-aks-aso",
		needed:   []string{"ASO_CREDENTIAL_SECRET_NAME", "AZURE_LOCATION", "AZURE_NODE_MACHINE_TYPE", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"WORKER_MACHINE_COUNT"},
		kinds: []string{"ClusterClass", "AzureASOManagedClusterTemplate", "AzureASOManagedControlPlaneTemplate",
			"AzureASOManagedMachinePoolTemplate",
			"AzureASOManagedMachinePoolTemplate", "KubeadmConfigTemplate", "Cluster"},
	},
	{
		cloud: "gcp", name: "machinepool",
		needed: []string{"CLUSTER_NAME", "GCP_PROJECT", "GCP_REGION", "IMAGE_ID", "KUBERNETES_VERSION"},
		optional: []string{"CONTROL_PLANE_MACHINE_COUNT", "GCP_CONTROL_PLANE_MACHINE_TYPE", "GCP_NETWORK_NAME", "GCP_NODE_MACHINE_TYPE",
			"WORKER_MACHINE_COUNT"},
		kinds: []string{"Cluster", "GCPCluster", "KubeadmControlPlane", "GCPMachineTemplate", "MachinePool", "GCPMachinePool", "KubeadmConfig"},
	},
	{
		cloud: "gcp", name: "gke",
		needed:   []string{"CLUSTER_NAME", "GCP_PROJECT", "GCP_REGION"},
		optional: []string{"GCP_NETWORK_NAME", "WORKER_MACHINE_COUNT"},
		kinds:    []string{"Cluster", "GCPManagedCluster", "GCPManagedControlPlane", "MachinePool", "GCPManagedMachinePool"},
	},
	{
		cloud: "gcp", name: "gke-topology", class: "gcp-gke",
		needed:   []string{"CLUSTER_NAME", "GCP_PROJECT", "GCP_REGION", "KUBERNETES_VERSION"},
		optional: []string{"GCP_NETWORK_NAME", "GCP_NODE_MACHINE_TYPE", "WORKER_MACHINE_COUNT"},
		kinds: []string{"ClusterClass", "GCPManagedClusterTemplate", "GCPManagedControlPlaneTemplate", "GCPManagedMachinePoolTemplate",
			"GKEConfigTemplate",
			"Cluster"},
	},
	{
		cloud: "oci", name: "machinepool",
		needed: []string{"CLUSTER_NAME", "KUBERNETES_VERSION", "OCI_COMPARTMENT_ID", "OCI_IMAGE_ID", "OCI_SSH_KEY"},
		optional: []string{"CONTROL_PLANE_MACHINE_COUNT", "NODE_MACHINE_COUNT", "OCI_CONTROL_PLANE_MACHINE_TYPE",
			"OCI_CONTROL_PLANE_MACHINE_TYPE_OCPUS", "OCI_CONTROL_PLANE_PV_TRANSIT_ENCRYPTION", "OCI_NODE_MACHINE_TYPE",
			"OCI_NODE_MACHINE_TYPE_OCPUS"},
		kinds: []string{"Cluster", "OCICluster", "KubeadmControlPlane", "OCIMachineTemplate", "MachinePool", "OCIMachinePool", "KubeadmConfig"},
	},
	{
		cloud: "oci", name: "managed",
		needed: []string{"CLUSTER_NAME", "KUBERNETES_VERSION", "OCI_COMPARTMENT_ID", "OCI_SSH_KEY"},
		optional: []string{"NODE_MACHINE_COUNT", "OCI_CLUSTER_TYPE", "OCI_MANAGED_NODE_BOOT_VOLUME_SIZE", "OCI_MANAGED_NODE_IMAGE_ID",
			"OCI_MANAGED_NODE_MACHINE_TYPE_OCPUS", "OCI_MANAGED_NODE_SHAPE"},
		kinds: []string{"Cluster", "OCIManagedCluster", "OCIManagedControlPlane", "MachinePool", "OCIManagedMachinePool"},
	},
	{
		cloud: "oci", name: "managed-virtual",
		needed:   []string{"CLUSTER_NAME", "KUBERNETES_VERSION", "OCI_COMPARTMENT_ID"},
		optional: []string{"NODE_MACHINE_COUNT", "OCI_VIRTUAL_NODE_POD_SHAPE"},
		kinds:    []string{"Cluster", "OCIManagedCluster", "OCIManagedControlPlane", "MachinePool", "OCIVirtualMachinePool"},
	},
	{
		cloud: "scaleway", name: "managed",
		needed: []string{"CLUSTER_NAME", "KUBERNETES_VERSION", "SCW_ACCESS_KEY", "SCW_PROJECT_ID", "SCW_REGION", "SCW_SECRET_KEY"},
		optional: []string{"CLUSTER_TYPE", "WORKER_FAILURE_DOMAIN", "WORKER_MACHINE_COMMERCIAL_TYPE", "WORKER_MACHINE_COUNT",
			"WORKER_PUBLIC_IP_DISABLED"},
		kinds: []string{"Cluster", "ScalewayManagedCluster", "Secret", "ScalewayManagedControlPlane", "MachinePool",
			"ScalewayManagedMachinePool"},
	},
	{
		name:     "eks-managedmachinepool-launchtemplate",
		needed:   []string{"AWS_REGION", "AWS_SSH_KEY_NAME", "CLUSTER_NAME", "KUBERNETES_VERSION"},
		optional: []string{"AWS_NODE_MACHINE_TYPE", "AWS_NODE_ROOT_VOLUME_SIZE", "WORKER_MACHINE_COUNT"},
		kinds:    []string{"Cluster", "AWSManagedCluster", "AWSManagedControlPlane", "MachinePool", "AWSManagedMachinePool"},
	},
}

// TestFlavors holds that what clusterctl makes of the templates is taken by the API server as it is: with every field known,
// by the rules of every kind, and without an unexpected warning.
func TestFlavors(t *testing.T) {
	admin(t)
	installFlavorKinds(t)
	// Without the gate cluster-api's admission refuses every class.
	if err := feature.MutableGates.Set(string(feature.ClusterTopology) + "=true"); err != nil {
		t.Fatal(err)
	}
	for _, f := range flavors {
		t.Run(filepath.Join(f.cloud, f.name), func(t *testing.T) {
			warned := &warnings{}
			config := rest.CopyConfig(server)
			config.WarningHandlerWithContext = warned
			lenient, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
			if err != nil {
				t.Fatal(err)
			}
			c := client.WithFieldValidation(lenient, metav1.FieldValidationStrict)
			ns := namespace(t, c)
			var kinds []string
			for _, u := range f.process(t) {
				kinds = append(kinds, u.GetKind())
				u.SetNamespace(ns) // as clusterctl does with --target-namespace
				if err := c.Create(t.Context(), u); err != nil {
					t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), err)
				}
				switch u.GetKind() {
				case "ConfigMap":
					appliedTo(t, c, u)
				case "ClusterClass":
					wellMade(t, u)
				}
			}
			if diff := cmp.Diff(f.kinds, kinds); diff != "" {
				t.Errorf("kinds (-want +got):\n%s", diff)
			}
			warned.want(t, f.warnings)
		})
	}
}

// process is clusterctl's work on the template, with the variables that are needed and no others.
func (f flavor) process(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	text := f.read(t, "cluster-template-"+f.name)
	if f.class != "" {
		text = slices.Concat(f.read(t, "clusterclass-"+f.class), []byte("---\n"), text)
	}
	p := yamlprocessor.NewSimpleProcessor()
	defaults, err := p.GetVariableMap(text)
	if err != nil {
		t.Fatal(err)
	}
	var needed, optional []string
	for name, value := range defaults {
		if value == nil {
			needed = append(needed, name)
		} else {
			optional = append(optional, name)
		}
	}
	slices.Sort(needed)
	slices.Sort(optional)
	if diff := cmp.Diff([][]string{f.needed, f.optional}, [][]string{needed, optional}); diff != "" {
		t.Errorf("variables without and with a default (-want +got):\n%s", diff)
	}
	values := map[string]string{"AWS_AVAILABILITY_ZONE": "eu-west-1a", "AWS_REGION": "eu-west-1", "AWS_SSH_KEY_NAME": "default",
		"CLUSTER_NAME": "one", "KUBERNETES_VERSION": "v1.33.1",
		"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY": "client", "AZURE_CONTROL_PLANE_MACHINE_TYPE": "Standard_B2s", "AZURE_LOCATION": "westus2",
		"AZURE_NODE_MACHINE_TYPE": "Standard_B2s",
		"AZURE_SUBSCRIPTION_ID":   "subscription", "AZURE_TENANT_ID": "tenant", "CLUSTER_IDENTITY_NAME": "identity",
		"ASO_CREDENTIAL_SECRET_NAME": "credentials", "GCP_PROJECT": "simulated-project", "GCP_REGION": "us-central1",
		"SCW_ACCESS_KEY": "SCWXXXXXXXXXXXXXXXXX", "SCW_PROJECT_ID": "11111111-1111-1111-1111-111111111111", "SCW_REGION": "fr-par",
		"SCW_SECRET_KEY":     "11111111-1111-1111-1111-111111111111",
		"OCI_COMPARTMENT_ID": "ocid1.compartment.oc1..aaaa", "OCI_IMAGE_ID": "ocid1.image.oc1.iad.aaaa", "OCI_SSH_KEY": "ssh-ed25519 AAAA",
		"IMAGE_ID": "projects/simulated-project/global/images/capi-ubuntu-2404-k8s-v1-33-1"}
	out, err := p.Process(text, func(name string) (string, error) {
		if value, ok := values[name]; ok {
			return value, nil
		}
		return "", fmt.Errorf("variable %s is not set", name)
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents(t, string(out))
}

func (f flavor) read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "templates", f.cloud, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// wellMade holds a class to cluster-api's own admission, which knows whether its patches can be made.
func wellMade(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	class := &clusterv1.ClusterClass{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, class); err != nil {
		t.Fatal(err)
	}
	if _, err := (&coreadmission.ClusterClass{}).ValidateCreate(t.Context(), class); err != nil {
		t.Errorf("ClusterClass %s: %v", class.Name, err)
	}
}

// documents returns the objects of a text.
func documents(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &u.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		all = append(all, u)
	}
	return all
}

// appliedTo holds that a workload cluster accepts an object that is to be applied there, without unknown fields.
func appliedTo(t *testing.T, c client.Client, u *unstructured.Unstructured) {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(u.Object, "data")
	if err != nil || len(data) == 0 {
		t.Fatalf("%s: want data, got %v, %v", u.GetName(), data, err)
	}
	for _, text := range data {
		for _, o := range documents(t, text) {
			err := c.Create(t.Context(), o, client.DryRunAll)
			if err != nil && !apierrors.IsAlreadyExists(err) {
				t.Errorf("%s: %s %s: %v", u.GetName(), o.GetKind(), o.GetName(), err)
			}
		}
	}
}

// warnings collects the warnings of the API server.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// HandleWarningHeaderWithContext records a warning.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) want(t *testing.T, words []string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.Clone(w.all)
	for _, word := range words {
		i := slices.IndexFunc(left, func(text string) bool { return strings.Contains(text, word) })
		if i < 0 {
			t.Errorf("want a warning about %s, got %q", word, w.all)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		t.Errorf("want no other warnings, got %q", left)
	}
}

// installFlavorKinds defines the kinds of the templates that Muster neither owns nor reads: cluster-api's own as they are, and
// the providers' for whatever fields they have.
func installFlavorKinds(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(string(out))
	definitions := []*unstructured.Unstructured{
		machineTemplates(t, "AWSMachineTemplate", "v1beta2"), machineTemplates(t, "AzureMachineTemplate", "v1beta1"),
		machineTemplates(t, "GCPMachineTemplate", "v1beta1"), machineTemplates(t, "OCIMachineTemplate", "v1beta2"),
	}
	for _, file := range []string{
		"controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml",
		"controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanetemplates.yaml",
		"core/config/crd/bases/addons.cluster.x-k8s.io_clusterresourcesets.yaml",
	} {
		text, err := os.ReadFile(filepath.Join(module, file))
		if err != nil {
			t.Fatal(err)
		}
		definitions = append(definitions, documents(t, strings.TrimPrefix(strings.TrimSpace(string(text)), "---\n"))[0])
	}
	c := admin(t)
	for _, d := range definitions {
		if err := c.Create(t.Context(), d); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(d.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		version, _, _ := unstructured.NestedString(versions[len(versions)-1].(map[string]any), "name")
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(group + "/" + version)
		list.SetKind(kind + "List")
		err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			return c.List(ctx, list) == nil, nil
		})
		if err != nil {
			t.Fatalf("%s is not served: %v", kind, err)
		}
	}
}

// machineTemplates defines a kind of machine templates of another provider, for whatever fields they have.
func machineTemplates(t *testing.T, kind, version string) *unstructured.Unstructured {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	return documents(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.infrastructure.cluster.x-k8s.io}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: %[2]s, plural: %[1]s}
  versions:
  - {name: %[3]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, plural, kind, version))[0]
}
