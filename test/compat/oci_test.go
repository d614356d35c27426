package compat

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ociObject returns an object of a kind of Oracle Cloud in a version of the API.
func ociObject(t *testing.T, namespace, version, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, namespace, "{apiVersion: infrastructure.cluster.x-k8s.io/"+version+", kind: "+kind+", metadata: {generateName: p-}, "+
		"spec: {"+spec+"}}")
}

// ociSpecs are specifications as the ecosystem's provider leaves them, with its defaults, by kind and by the versions that have all of
// their fields.
var ociSpecs = []struct {
	kind, spec string
	versions   []string
}{
	{"OCIMachinePool", "providerID: 'oci://ocid1.instancepool.oc1.iad.a', ocid: ocid1.instancepool.oc1.iad.a, placementDetails: " +
		"[{availabilityDomain: 1}], instanceConfiguration: {instanceConfigurationId: ocid1.instanceconfiguration.oc1.iad.a, " +
		"shape: VM.Standard.E4.Flex, shapeConfig: {ocpus: '1'}, instanceOptions: {areLegacyImdsEndpointsDisabled: true}, " +
		"isPvEncryptionInTransitEnabled: true, instanceSourceViaImageConfig: {imageId: ocid1.image.oc1.iad.a}, instanceVnicConfiguration: " +
		"{subnetName: worker, nsgNames: [worker]}, metadata: {ssh_authorized_keys: k}, extendedMetadata: {a: {b: [1, true]}}}, " +
		"providerIDList: ['oci://ocid1.instance.oc1.iad.a']", []string{"v1beta1", "v1beta2"}},
	{"OCIManagedMachinePool", "version: v1.34.1, id: ocid1.nodepool.oc1.iad.a, providerID: 'oci://ocid1.nodepool.oc1.iad.a', nodeShape: " +
		"VM.Standard.E4.Flex, sshPublicKey: k, nodeSourceViaImage: {imageId: ocid1.image.oc1.iad.a, bootVolumeSizeInGBs: 50}, " +
		"nodeShapeConfig: {ocpus: '1'}, initialNodeLabels: [{key: a, value: b}], nodeMetadata: {a: b}, nodeEvictionNodePoolSettings: " +
		"{evictionGraceDuration: PT30M}, nodePoolNodeConfig: {nsgNames: [worker], placementConfigs: [{availabilityDomain: " +
		"'Uocm:US-ASHBURN-AD-1', subnetName: worker, faultDomains: [FAULT-DOMAIN-1]}], nodePoolPodNetworkOptionDetails: {cniType: " +
		"OCI_VCN_IP_NATIVE, vcnIpNativePodNetworkOptions: {subnetNames: [pod], nsgNames: [pod]}}}", []string{"v1beta1", "v1beta2"}},
	{"OCIManagedMachinePool", "version: v1.34.1, nodeShape: VM.Standard.E4.Flex, nodePoolCyclingDetails: {isNodeCyclingEnabled: true, " +
		"maximumSurge: '1', maximumUnavailable: 25%, cycleModes: [BOOT_VOLUME_REPLACE]}", []string{"v1beta2"}},
	{"OCIVirtualMachinePool", "id: ocid1.virtualnodepool.oc1.iad.a, nsgNames: [worker], podConfiguration: {shape: Pod.Standard.E4.Flex, " +
		"subnetName: pod, nsgNames: [pod]}, placementConfigs: [{availabilityDomain: 'Uocm:US-ASHBURN-AD-1', faultDomains: " +
		"[FAULT-DOMAIN-1], subnetName: worker}], taints: [{key: a, value: b, effect: NoSchedule}], initialVirtualNodeLabels: [{key: a, " +
		"value: b}]", []string{"v1beta1", "v1beta2"}},
}

// TestObjectsOfOCI holds that objects of the ecosystem's provider are taken as they are in either version, that they read back as they were
// written, and that a client of the older version keeps the fields of the newer one when it writes.
func TestObjectsOfOCI(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	for _, tc := range ociSpecs {
		for _, version := range tc.versions {
			u := ociObject(t, ns, version, tc.kind, tc.spec)
			wrote := u.DeepCopy()
			if err := c.Create(t.Context(), u); err != nil {
				t.Errorf("%s %s: want it taken, got %v", tc.kind, version, err)
				continue
			}
			if lost := without(wrote.Object["spec"], u.Object["spec"], "spec"); lost != "" {
				t.Errorf("%s %s: %s reads back as something else: %v", tc.kind, version, lost, u.Object["spec"])
			}
			older := named(t, c, ns, u.GetName(), "infrastructure.cluster.x-k8s.io/v1beta1", tc.kind)
			older.SetLabels(map[string]string{"written": "v1beta1"})
			if err := c.Update(t.Context(), older); err != nil {
				t.Errorf("%s %s: want it written in v1beta1, got %v", tc.kind, version, err)
				continue
			}
			newer := named(t, c, ns, u.GetName(), "infrastructure.cluster.x-k8s.io/v1beta2", tc.kind)
			if lost := without(wrote.Object["spec"], newer.Object["spec"], "spec"); lost != "" || newer.GetLabels()["written"] == "" {
				t.Errorf("%s %s: %s is lost by a client of v1beta1: %v", tc.kind, version, lost, newer.Object["spec"])
			}
		}
	}
}

// TestPoolsOfOCIByWebhook holds the checks that only webhooks can do, for either version: what has no effect, a version that the
// MachinePool does not have, and an owner of the size without a name, as in the provider's own templates.
func TestPoolsOfOCIByWebhook(t *testing.T) {
	c, warned := listening(t)
	ns := namespace(t, c)
	mp := object(t, ns, `{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool, metadata: {name: workers, annotations:
  {cluster.x-k8s.io/replicas-managed-by: ""}}, spec: {clusterName: c, replicas: 1, template: {spec: {clusterName: c, version: v1.34.1,
  bootstrap: {dataSecretName: ""}, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OCIManagedMachinePool, name: workers}}}}}`)
	if err := c.Create(t.Context(), mp); err != nil {
		t.Fatal(err)
	}
	nodes := func(version, spec string) *unstructured.Unstructured {
		u := ociObject(t, ns, version, "OCIManagedMachinePool", "nodeShape: VM.Standard.E4.Flex, "+spec)
		u.SetGenerateName("")
		u.SetName("workers")
		return u
	}
	const differs = `spec.version: Invalid value: "v1.33.1": spec.template.spec.version of MachinePool workers is v1.34.1`
	for _, version := range []string{"v1beta1", "v1beta2"} {
		err := eventually(t, true, func() error { return c.Create(t.Context(), nodes(version, "version: v1.33.1"), client.DryRunAll) })
		if err == nil || !strings.Contains(err.Error(), differs) {
			t.Errorf("%s: want another version refused, got %v", version, err)
		}
	}
	const empty = "MachinePool workers has the annotation cluster.x-k8s.io/replicas-managed-by with an empty value"
	warned.Reset()
	agrees := nodes("v1beta2", "version: v1.34.1, nodeSourceViaImage: {imageId: i}")
	if err := c.Create(t.Context(), agrees); err != nil || !strings.Contains(warned.String(), empty) {
		t.Errorf("want %q, got %q, %v", empty, warned, err)
	}
	warned.Reset()
	self := ociObject(t, ns, "v1beta1", "OCIMachinePool", "instanceConfiguration: {shape: VM.Standard2.1, shapeConfig: {ocpus: '1'}, "+
		"instanceSourceViaImageConfig: {imageId: i}}")
	const fixed = "Warning: spec.instanceConfiguration.shapeConfig: has no effect with shape VM.Standard2.1, which has one size\n"
	if err := c.Create(t.Context(), self); err != nil || !strings.HasSuffix(warned.String(), fixed) {
		t.Errorf("want %q, got %q, %v", fixed, warned, err)
	}
	for kind, spec := range map[string][2]string{
		"OCIMachinePoolTemplate": {"instanceConfiguration: {shape: a, instanceSourceViaImageConfig: {imageId: i}}",
			"instanceConfiguration: {shape: b, instanceSourceViaImageConfig: {imageId: i}}"},
		"OCIManagedMachinePoolTemplate": {"nodeShape: a", "nodeShape: b"},
		"OCIVirtualMachinePoolTemplate": {"nsgNames: [a]", "nsgNames: [b]"},
	} {
		u := ociObject(t, ns, "v1beta2", kind, "template: {spec: {"+spec[0]+"}}")
		if err := c.Create(t.Context(), u); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		u.Object["spec"] = ociObject(t, ns, "v1beta2", kind, "template: {spec: {"+spec[1]+"}}").Object["spec"]
		if err := c.Update(t.Context(), u); err == nil || !strings.Contains(err.Error(), "make another "+kind) {
			t.Errorf("%s: want a change refused, got %v", kind, err)
		}
	}
}
