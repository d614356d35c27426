package compat

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files")

// object decodes a manifest into a namespace.
func object(t *testing.T, namespace, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(manifest), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace(namespace)
	return u
}

// namespace makes a namespace for a test.
func namespace(t *testing.T, c client.Client) string {
	t.Helper()
	ns := &unstructured.Unstructured{}
	ns.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	ns.SetGenerateName("compat-")
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.GetName()
}

// columns are the objects whose columns are held: each with a status, so that every column has something to show.
var columns = []struct{ resource, manifest, status string }{
	{resource: "cluster.x-k8s.io/v1beta2/machinepools",
		manifest: `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capa}}
spec:
  clusterName: capa
  replicas: 3
  template:
    spec:
      clusterName: capa
      version: v1.30.2
      bootstrap: {dataSecretName: data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachinePool, name: p}
`,
		status: `{replicas: 3, readyReplicas: 2, availableReplicas: 1, upToDateReplicas: 3, phase: ScalingUp, conditions: [
  {type: Available, status: "False", reason: NotEnough, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"},
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/awsmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capa}}
spec: {minSize: 1, maxSize: 3, providerID: 'aws:///eu-west-1a/p', awsLaunchTemplate: {instanceType: t3.large}}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: 'lt-1:4', version: v1.30.2, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/awsmanagedmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSManagedMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: eks}}
spec: {providerID: 'arn:aws:eks:eu-west-1:1:nodegroup/eks/p/1', scaling: {maxSize: 3}, awsLaunchTemplate: {instanceType: t3.large}}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: 'lt-1:4', version: v1.30.2, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/awsmachines",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachine
metadata:
  name: p
  labels: {cluster.x-k8s.io/cluster-name: capa, cluster.x-k8s.io/pool-name: p}
  ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: m, uid: u}]
spec: {providerID: 'aws:///eu-west-1a/i-1', instanceID: i-1, instanceType: t3.large}
`,
		status: `{ready: true, initialization: {provisioned: true}, instanceState: running, failureDomain: eu-west-1a}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta1/azuremachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capz}}
spec: {location: westus2, providerID: 'azure:///subscriptions/s/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/p',
  template: {vmSize: Standard_D2s_v3, osDisk: {osType: Linux}}}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: model-1, version: v1.30.2, ready: true, provisioningState: Updating, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta1/azuremachinepoolmachines",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureMachinePoolMachine
metadata:
  name: p
  labels: {cluster.x-k8s.io/cluster-name: capz, cluster.x-k8s.io/pool-name: p}
  ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: m, uid: u}]
spec: {providerID: 'azure:///subscriptions/s/x/virtualMachines/0', instanceID: '0'}
`,
		status: `{ready: true, version: v1.30.2, provisioningState: Succeeded, instanceName: p_0, latestModelApplied: true}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta1/gcpmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capg}}
spec: {instanceType: e2-medium, providerID: 'gce://p/us-central1/instanceGroupManagers/capg-p'}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: p-1, version: v1.30.2, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta1/gcpmachines",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPMachine
metadata:
  name: p
  labels: {cluster.x-k8s.io/cluster-name: capg, cluster.x-k8s.io/pool-name: p}
  ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: m, uid: u}]
spec: {providerID: 'gce://p/us-central1-a/p-x7k2', instanceType: e2-medium}
`,
		status: `{ready: true, initialization: {provisioned: true}, instanceState: RUNNING, failureDomain: us-central1-a}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta1/gcpmanagedmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPManagedMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capg}}
spec: {providerID: 'gce://p/us-central1/c/p'}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: 'gke:1.30.2', version: v1.30.2, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/ocimachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: OCIMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capoci}}
spec: {providerID: 'oci://ocid1.instancepool.oc1.iad.p', instanceConfiguration: {shape: VM.Standard.E4.Flex,
  instanceSourceViaImageConfig: {imageId: i}}}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: p-1, version: v1.34.1, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/ocimachinepoolmachines",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: OCIMachinePoolMachine
metadata:
  name: p
  labels: {cluster.x-k8s.io/cluster-name: capoci, cluster.x-k8s.io/pool-name: p}
  ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: m, uid: u}]
spec: {providerID: 'oci://ocid1.instance.oc1.iad.a', ocid: ocid1.instance.oc1.iad.a, machineType: SELF_MANAGED_TYPE}
`,
		status: `{ready: true, initialization: {provisioned: true}, instanceState: RUNNING, failureDomain: 'Uocm:US-ASHBURN-AD-1'}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/ocimanagedmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: OCIManagedMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capoci}}
spec: {providerID: ocid1.nodepool.oc1.iad.p, nodeShape: VM.Standard.E4.Flex}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: p-1, version: v1.34.1, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/ocivirtualmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: OCIVirtualMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: capoci}}
spec: {providerID: ocid1.virtualnodepool.oc1.iad.p}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: p-1, version: v1.34.1, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1alpha2/scalewaymanagedmachinepools",
		manifest: `
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha2
kind: ScalewayManagedMachinePool
metadata: {name: p, labels: {cluster.x-k8s.io/cluster-name: caps}}
spec: {nodeType: PRO2-XXS, zone: fr-par-1, providerID: 'scaleway:///pools/p'}
`,
		status: `{desiredReplicas: 3, replicas: 3, readyReplicas: 2, upToDateReplicas: 1, state: Updating, template: '1.34.2', version: v1.34.2, ready: true, conditions: [
  {type: Paused, status: "False", reason: NotPaused, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`},
	{resource: "infrastructure.cluster.x-k8s.io/v1beta2/awsclusters",
		manifest: "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSCluster, metadata: {name: p, labels: " +
			"{cluster.x-k8s.io/cluster-name: capa}}, spec: {network: {vpc: {id: vpc-1}}}}",
		status: `{ready: true}`},
	{resource: "controlplane.cluster.x-k8s.io/v1beta1/localcontrolplanes",
		manifest: "{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: LocalControlPlane, metadata: {name: p, labels: " +
			"{cluster.x-k8s.io/cluster-name: capa}}, spec: {version: v1.30.2}}",
		status: `{version: v1.30.2, serverVersion: v1.36.3, initialization: {controlPlaneInitialized: true}, replicas: 1, readyReplicas: 1}`},
}

// TestColumns holds what "kubectl get -o wide" shows of each kind, as the server renders it. Priorities above 0 are the
// columns that only -o wide has; ages are left out.
func TestColumns(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	var got strings.Builder
	for _, kind := range columns {
		u := object(t, ns, kind.manifest)
		if err := c.Create(t.Context(), u); err != nil {
			t.Fatalf("%s: %v", kind.resource, err)
		}
		var status map[string]any
		if err := yaml.UnmarshalStrict([]byte(kind.status), &status); err != nil {
			t.Fatal(err)
		}
		u.Object["status"] = status
		if err := c.Status().Update(t.Context(), u); err != nil {
			t.Fatalf("%s: %v", kind.resource, err)
		}
		fmt.Fprintf(&got, "%s\n%s\n", kind.resource, table(t, ns, kind.resource))
	}
	golden(t, "columns.txt", got.String())
}

// table asks the server for the table that kubectl prints.
func table(t *testing.T, namespace, resource string) string {
	t.Helper()
	config := rest.CopyConfig(server)
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/", &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	dir, name := filepath.Split(resource)
	raw, err := c.Get().AbsPath("/apis/"+dir, "namespaces", namespace, name).SetHeader("Accept",
		"application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", resource, err)
	}
	var found metav1.Table
	if err := json.Unmarshal(raw, &found); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for i, column := range found.ColumnDefinitions {
		value := "(age)"
		if column.Type != "date" {
			value = fmt.Sprint(found.Rows[0].Cells[i])
		}
		fmt.Fprintf(w, "  %s\t%d\t%s\n", column.Name, column.Priority, value)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
