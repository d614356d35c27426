package compat

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// classTemplates are templates of every infrastructure pool, each with two specifications of which no pool could go from one to the other.
var classTemplates = []struct{ kind, version, one, other string }{
	{"AWSMachinePoolTemplate", "v1beta2", "{awsLaunchTemplate: {instanceType: t3.large}}", "{awsLaunchTemplate: {instanceType: m5.large}}"},
	{"AWSManagedMachinePoolTemplate", "v1beta2", "{instanceType: t3.large, diskSize: 20}", "{instanceType: t3.xlarge, diskSize: 30}"},
	{"AzureMachinePoolTemplate", "v1beta1",
		"{location: westus2, orchestrationMode: Uniform, template: {osDisk: {osType: Linux}, vmSize: Standard_B2s}}",
		"{location: eastus, orchestrationMode: Flexible, template: {osDisk: {osType: Linux}, vmSize: Standard_B2s}}"},
	{"AzureManagedMachinePoolTemplate", "v1beta1", "{mode: System, sku: Standard_B2s}", "{mode: User, sku: Standard_D2s_v3}"},
	{"GCPMachinePoolTemplate", "v1beta1", "{instanceType: e2-medium, distributionPolicy: {zones: [us-central1-a]}}",
		"{instanceType: e2-small, distributionPolicy: {zones: [us-central1-b]}}"},
	{"GCPManagedMachinePoolTemplate", "v1beta1", "{spot: true, nodeSecurity: {sandboxType: gvisor}}", "{spot: false}"},
	{"AzureASOManagedMachinePoolTemplate", "v1beta1",
		"{resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedClustersAgentPool, spec: {azureName: a}}]}",
		"{resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedClustersAgentPool, spec: {azureName: b}}]}"},
}

// TestClassTemplates holds the contract's rule of dry runs on a real API server: the topology controller, which asks with server-side
// apply what a change of a template would do, gets its answer; any other change of a template is refused.
func TestClassTemplates(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	for _, k := range classTemplates {
		t.Run(k.kind, func(t *testing.T) {
			template := func(metadata, spec string) *unstructured.Unstructured {
				u := documents(t, "apiVersion: infrastructure.cluster.x-k8s.io/"+k.version+"\nkind: "+k.kind+"\nmetadata: {name: t, namespace: "+ns+
					metadata+"}\nspec: {template: {spec: "+spec+"}}\n")[0]
				return u
			}
			const topology = client.FieldOwner("capi-topology")
			apply := func(u *unstructured.Unstructured, more ...client.ApplyOption) error {
				return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), append(more, topology, client.ForceOwnership)...)
			}
			if err := apply(template("", k.one)); err != nil {
				t.Fatal(err)
			}
			const asks = `, annotations: {topology.cluster.x-k8s.io/dry-run: ""}`
			if err := apply(template(asks, k.other), client.DryRunAll); err != nil {
				t.Errorf("want the topology controller's question answered, got %v", err)
			}
			owner := ", ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: ClusterClass, name: c, uid: " +
				"5f0b6c4e-0000-4000-8000-000000000000}]"
			if err := apply(template(owner, k.one)); err != nil {
				t.Errorf("want the ClusterClass taken as an owner, got %v", err)
			}
			for reason, err := range map[string]error{
				"a change":                      apply(template("", k.other)),
				"a person's question":           apply(template("", k.other), client.DryRunAll),
				"a change that says it is none": apply(template(asks, k.other)),
			} {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(),
					"spec.template.spec: Forbidden: can't be changed: make another "+k.kind) {
					t.Errorf("%s: want it refused, with what to do, got %v", reason, err)
				}
			}
		})
	}
}
