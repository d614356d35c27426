package crd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// templateKind is a kind of templates, with its version, a pool's specification and one that no such pool could be changed to.
var templateKinds = []struct{ kind, pool, version, spec, other string }{
	{"AWSMachinePoolTemplate", "AWSMachinePool", "v1beta2", "awsLaunchTemplate: {instanceType: t3.large}",
		"awsLaunchTemplate: {instanceType: t3.xlarge}"},
	{"AWSManagedMachinePoolTemplate", "AWSManagedMachinePool", "v1beta2", "instanceType: t3.large, diskSize: 20", "instanceType: t3.xlarge"},
	{"GCPMachinePoolTemplate", "GCPMachinePool", "v1beta1", "instanceType: e2-medium, distributionPolicy: {zones: [us-central1-a]}",
		"instanceType: n2-standard-4, distributionPolicy: {zones: [us-central1-b]}"},
	{"GCPManagedMachinePoolTemplate", "GCPManagedMachinePool", "v1beta1", "spot: true, nodeSecurity: {sandboxType: gvisor}",
		"spot: false, nodePoolName: a, nodeNetwork: {podRangeName: pods}"},
	{"AzureMachinePoolTemplate", "AzureMachinePool", "v1beta1", azureLocation + "westus2, orchestrationMode: Uniform, " + azureMachine,
		azureLocation + "eastus, orchestrationMode: Flexible, platformFaultDomainCount: 1, " + azureMachine},
	{"OCIMachinePoolTemplate", "OCIMachinePool", "v1beta2", ociInstances, ociInstances + ", placementDetails: [{availabilityDomain: 2}]"},
	{"OCIManagedMachinePoolTemplate", "OCIManagedMachinePool", "v1beta1", "nodeShape: VM.Standard.E4.Flex", "nodeShape: VM.Standard.A1.Flex"},
	{"OCIManagedMachinePoolTemplate", "OCIManagedMachinePool", "v1beta2", "nodeShape: VM.Standard.E4.Flex", "nodeShape: VM.Standard.A1.Flex"},
	{"OCIVirtualMachinePoolTemplate", "OCIVirtualMachinePool", "v1beta2", "nsgNames: [a]", "nsgNames: [b]"},
}

const (
	azureLocation = "location: "
	azureMachine  = "template: {osDisk: {osType: Linux}, vmSize: Standard_B2s}"
	ociInstances  = "instanceConfiguration: {shape: VM.Standard.E4.Flex, instanceSourceViaImageConfig: {imageId: ocid1.image.oc1..a}}"
)

func templateText(kind, version, spec string) string {
	return "{apiVersion: infrastructure.cluster.x-k8s.io/" + version + ", kind: " + kind +
		", metadata: {name: t, namespace: default}, spec: {template: {metadata: {labels: {a: b}}, spec: {" + spec + "}}}}"
}

// TestPoolTemplateRules holds that the rules for new pools apply to a template, at their place in it, and that the rules of immutability do
// not. The topology controller sends dry runs with changed templates, and a rule of a schema could not distinguish these from changes.
func TestPoolTemplateRules(t *testing.T) {
	t.Parallel()
	for _, k := range templateKinds {
		t.Run(k.kind+"/"+k.version, func(t *testing.T) {
			t.Parallel()
			a := admissionOf(t, k.kind, k.version)
			one := func(spec string) map[string]any { return object(t, templateText(k.kind, k.version, spec)) }
			compare(t, "a pool of the kind", a.admit(one(k.spec), nil), nil)
			compare(t, "the topology controller's question", a.admit(one(k.other), one(k.spec)), nil)
			compare(t, "it belongs to one pool", a.admit(one(k.spec+", providerID: x"), nil),
				[]string{"spec.template.spec.providerID", "belongs to one pool"})
			compare(t, "it belongs to one pool", a.admit(one(k.spec+", providerIDList: ['aws:///a/i-1']"), nil),
				[]string{"spec.template.spec.providerIDList", "belongs to one pool"})
		})
	}
	for _, c := range []struct{ kind, version, reason, spec, at, says string }{
		{"AWSMachinePoolTemplate", "v1beta2", "the rules of a new pool", "minSize: 3, maxSize: 2, awsLaunchTemplate: {}",
			"spec.template.spec.minSize", "must not be above maxSize"},
		{"AWSManagedMachinePoolTemplate", "v1beta2", "the rules of a new pool",
			"amiType: AL2023_x86_64_STANDARD, awsLaunchTemplate: {ami: {id: ami-1}}",
			"spec.template.spec.amiType", "must be CUSTOM or absent"},
		{"GCPMachinePoolTemplate", "v1beta1", "the rules of a new pool", "instanceType: n2d-standard-2, confidentialCompute: Enabled",
			"spec.template.spec.onHostMaintenance", "must be Terminate"},
		{"GCPManagedMachinePoolTemplate", "v1beta1", "the rules of a new pool", "scaling: {minCount: 3, maxCount: 2}",
			"spec.template.spec.scaling.maxCount", "must be at least minCount"},
		{"AzureMachinePoolTemplate", "v1beta1", "the rules of a new pool", "location: westus2, identity: UserAssigned, " + azureMachine,
			"spec.template.spec.userAssignedIdentities", "must be specified"},
		{"OCIMachinePoolTemplate", "v1beta2", "the rules of a new pool", "instanceConfiguration: {shape: VM.Standard.E4.Flex}",
			"spec.template.spec.instanceConfiguration.instanceSourceViaImageConfig", "must name the image"},
		{"OCIMachinePoolTemplate", "v1beta2", "it belongs to one pool", ociInstances + ", ocid: ocid1.instancepool.oc1..a",
			"spec.template.spec.ocid", "belongs to one pool"},
		{"OCIMachinePoolTemplate", "v1beta2", "it belongs to one pool",
			strings.Replace(ociInstances, "shape:", "instanceConfigurationId: a, shape:", 1),
			"spec.template.spec.instanceConfiguration.instanceConfigurationId", "belongs to one pool"},
		{"OCIManagedMachinePoolTemplate", "v1beta1", "it belongs to one pool", "nodeShape: a, id: ocid1.nodepool.oc1..a",
			"spec.template.spec.id", "belongs to one pool"},
		{"OCIVirtualMachinePoolTemplate", "v1beta2", "it belongs to one pool", "id: ocid1.virtualnodepool.oc1..a",
			"spec.template.spec.id", "belongs to one pool"},
	} {
		a := admissionOf(t, c.kind, c.version)
		compare(t, c.reason, a.admit(object(t, templateText(c.kind, c.version, c.spec)), nil), []string{c.at, c.says})
	}
}

// TestTemplatesAreOfTheirPools holds that a template knows every field of the pool that is made from it, and no other: what a template
// drops would silently be missing from every pool of a ClusterClass.
func TestTemplatesAreOfTheirPools(t *testing.T) {
	t.Parallel()
	all := definitions(t)
	spec := func(kind, version string, path ...string) apiextensionsv1.JSONSchemaProps {
		for _, v := range all[kind].Spec.Versions {
			if v.Name != version {
				continue
			}
			s := *v.Schema.OpenAPIV3Schema
			for _, name := range path {
				s = s.Properties[name]
			}
			return s
		}
		t.Fatalf("there is no %s of %s", version, kind)
		return apiextensionsv1.JSONSchemaProps{}
	}
	for _, k := range templateKinds {
		pool, template := spec(k.pool, k.version, "spec"), spec(k.kind, k.version, "spec", "template", "spec")
		if diff := cmp.Diff(fields("", pool), fields("", template)); diff != "" {
			t.Errorf("%s: fields (-pool +template):\n%s", k.kind, diff)
		}
	}
}

// fields returns the paths of all fields below a schema, with their defaults.
func fields(at string, s apiextensionsv1.JSONSchemaProps) map[string]string {
	all := map[string]string{}
	add := func(more map[string]string) {
		for path, value := range more {
			all[path] = value
		}
	}
	if s.Default != nil {
		all[at] = string(s.Default.Raw)
	} else {
		all[at] = ""
	}
	for name, property := range s.Properties {
		add(fields(at+"."+name, property))
	}
	if s.Items != nil && s.Items.Schema != nil {
		add(fields(at+"[]", *s.Items.Schema))
	}
	return all
}
