package crd_test

import (
	"strings"
	"testing"
)

const (
	ociPoolKind    = "OCIMachinePool"
	ociManagedKind = "OCIManagedMachinePool"
	ociVirtualKind = "OCIVirtualMachinePool"
	ociMachineKind = "OCIMachinePoolMachine"
)

// ociCase is a case of a kind of OCI.
type ociCase struct {
	ruleCase
	kind string
	// newer is true for fields that v1beta1 does not have.
	newer bool
}

// ociImage names an image in the configuration of instances.
const ociImage = "instanceSourceViaImageConfig: {imageId: ocid1.image.oc1..a}"

// ociPool is an instance pool with more in the configuration of instances.
func ociPool(more string) string {
	return "instanceConfiguration: {shape: VM.Standard.E4.Flex, " + ociImage + more + "}"
}

// ociNodes is a node pool with more.
func ociNodes(more string) string { return "nodeShape: VM.Standard.E4.Flex\n" + more }

// ociRulesCases are the cases of TestOCIRules.
var ociRulesCases = []ociCase{
	{kind: ociPoolKind, ruleCase: ruleCase{name: "the least", reason: "nothing else is needed", spec: ociPool("")}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "the published flavor", reason: "published manifests apply as they are", spec: `
instanceConfiguration:
  instanceOptions: {areLegacyImdsEndpointsDisabled: true}
  instanceSourceViaImageConfig: {imageId: ocid1.image.oc1.iad.a}
  shape: VM.Standard.E4.Flex
  shapeConfig: {ocpus: "1"}
  metadata: {ssh_authorized_keys: ""}`}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "everything", reason: "each field with an allowed value", spec: `
providerID: ocid1.instancepool.oc1.iad.a
ocid: ocid1.instancepool.oc1.iad.a
placementDetails: [{availabilityDomain: 1}, {availabilityDomain: 3}]
providerIDList: ['oci://ocid1.instance.oc1.iad.a']
strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1, deletePolicy: Newest}}
instanceConfiguration:
  instanceConfigurationId: ocid1.instanceconfiguration.oc1.iad.a
  shape: VM.Standard.E4.Flex
  shapeConfig: {ocpus: "1.5", memoryInGBs: ".5", baselineOcpuUtilization: BASELINE_1_8, nvmes: 1}
  instanceVnicConfiguration: {subnetId: a, assignIpv6Ip: true, assignPublicIp: false, subnetName: worker, skipSourceDestCheck: true,
    nsgId: a, nsgIds: [a, b], nsgNames: [worker], hostnameLabel: a, displayName: a, assignPrivateDnsRecord: true}
  platformConfig:
    platformConfigType: AMD_MILAN_BM
    amdMilanBmPlatformConfig: {isSecureBootEnabled: true, isTrustedPlatformModuleEnabled: true, isMeasuredBootEnabled: true,
      isMemoryEncryptionEnabled: true, isSymmetricMultiThreadingEnabled: false, isAccessControlServiceEnabled: true,
      areVirtualInstructionsEnabled: true, isInputOutputMemoryManagementUnitEnabled: true, percentageOfCoresEnabled: 75,
      numaNodesPerSocket: NPS4}
    amdRomeBmPlatformConfig: {percentageOfCoresEnabled: 25, numaNodesPerSocket: NPS0}
    amdRomeBmGpuPlatformConfig: {numaNodesPerSocket: NPS2, isAccessControlServiceEnabled: true}
    intelIcelakeBmPlatformConfig: {numaNodesPerSocket: NPS1, percentageOfCoresEnabled: 100}
    intelSkylakeBmPlatformConfig: {isMeasuredBootEnabled: true}
    intelVmPlatformConfig: {}
    amdVmPlatformConfig: {isMemoryEncryptionEnabled: true}
  agentConfig: {isMonitoringDisabled: true, isManagementDisabled: false, areAllPluginsDisabled: false,
    pluginsConfigs: [{name: Bastion, desiredState: ENABLED}]}
  preemptibleInstanceConfig: {terminatePreemptionAction: {preserveBootVolume: true}}
  availabilityConfig: {isLiveMigrationPreferred: true, recoveryAction: STOP_INSTANCE}
  dedicatedVmHostId: a
  launchOptions: {bootVolumeType: PARAVIRTUALIZED, firmware: UEFI_64, networkType: VFIO, remoteDataVolumeType: ISCSI,
    isConsistentVolumeNamingEnabled: true}
  instanceOptions: {areLegacyImdsEndpointsDisabled: true}
  isPvEncryptionInTransitEnabled: true
  instanceSourceViaImageConfig: {imageId: a, kmsKeyId: b, bootVolumeSizeInGBs: 50, bootVolumeVpusPerGB: 120}
  capacityReservationId: ""
  metadata: {a: b}
  extendedMetadata: {a: {b: [1, true, null]}, c: text}`}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "a boot volume", reason: "it is another source",
		spec: "instanceConfiguration: {shape: a, instanceSourceViaBootVolumeConfig: {bootVolumeId: ocid1.bootvolume.oc1.iad.a}}"}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "both sources", reason: "which of the two would it be?",
		spec:    ociPool(", instanceSourceViaBootVolumeConfig: {bootVolumeId: a}"),
		refused: []string{"spec.instanceConfiguration.instanceSourceViaBootVolumeConfig", "one of the two"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "no image", reason: "OCI launches nothing", spec: "instanceConfiguration: {shape: a}",
		refused: []string{"spec.instanceConfiguration.instanceSourceViaImageConfig", "must name the image"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "an empty image", reason: "OCI launches nothing",
		spec:    "instanceConfiguration: {shape: a, instanceSourceViaImageConfig: {imageId: ''}}",
		refused: []string{"spec.instanceConfiguration.instanceSourceViaImageConfig", "must name the image"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "no shape", reason: "OCI launches nothing",
		spec:    "instanceConfiguration: {" + ociImage + "}",
		refused: []string{"spec.instanceConfiguration.shape", "Required"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "no configuration", reason: "OCI launches nothing", spec: "placementDetails: []",
		refused: []string{"spec.instanceConfiguration", "Required"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "a number in words", reason: "the message tells what is allowed",
		spec:    ociPool(", shapeConfig: {ocpus: two}"),
		refused: []string{"spec.instanceConfiguration.shapeConfig.ocpus", "found two, must be a number such as 2 or 1.5"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "negative memory", reason: "there is nothing below none",
		spec:    ociPool(", shapeConfig: {memoryInGBs: '-1'}"),
		refused: []string{"spec.instanceConfiguration.shapeConfig.memoryInGBs", "found -1, must be a number"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "another baseline", reason: "the message lists what is allowed",
		spec:    ociPool(", shapeConfig: {baselineOcpuUtilization: BASELINE_1_4}"),
		refused: []string{"spec.instanceConfiguration.shapeConfig.baselineOcpuUtilization", "BASELINE_1_8"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "seven drives", reason: "the cloud's limit", spec: ociPool(", shapeConfig: {nvmes: 7}"),
		refused: []string{"spec.instanceConfiguration.shapeConfig.nvmes", "6"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "a fourth domain", reason: "regions have three",
		spec:    ociPool("") + "\nplacementDetails: [{availabilityDomain: 4}]",
		refused: []string{"spec.placementDetails[0].availabilityDomain", "3"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "a domain twice", reason: "the cloud takes one placement for each",
		spec:    ociPool("") + "\nplacementDetails: [{availabilityDomain: 1}, {availabilityDomain: 1}]",
		refused: []string{"spec.placementDetails[1]", "Duplicate value"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "six security groups", reason: "the cloud's limit",
		spec:    ociPool(", instanceVnicConfiguration: {nsgIds: [a, b, c, d, e, f]}"),
		refused: []string{"spec.instanceConfiguration.instanceVnicConfiguration.nsgIds", "at most 5"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "six names of security groups", reason: "the cloud's limit",
		spec:    ociPool(", instanceVnicConfiguration: {nsgNames: [a, b, c, d, e, f]}"),
		refused: []string{"spec.instanceConfiguration.instanceVnicConfiguration.nsgNames", "at most 5"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "another platform", reason: "the message lists what is allowed",
		spec:    ociPool(", platformConfig: {platformConfigType: AMD}"),
		refused: []string{"spec.instanceConfiguration.platformConfig.platformConfigType", "AMD_VM"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "a third of the cores", reason: "the cloud takes quarters",
		spec:    ociPool(", platformConfig: {amdRomeBmPlatformConfig: {percentageOfCoresEnabled: 33}}"),
		refused: []string{"spec.instanceConfiguration.platformConfig.amdRomeBmPlatformConfig.percentageOfCoresEnabled", "multiple of 25"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "a small boot volume", reason: "the cloud's limit",
		spec:    "instanceConfiguration: {shape: a, instanceSourceViaImageConfig: {imageId: a, bootVolumeSizeInGBs: 49}}",
		refused: []string{"spec.instanceConfiguration.instanceSourceViaImageConfig.bootVolumeSizeInGBs", "50"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "no volume unit", reason: "the cloud's limit",
		spec:    "instanceConfiguration: {shape: a, instanceSourceViaImageConfig: {imageId: a, bootVolumeVpusPerGB: 15}}",
		refused: []string{"spec.instanceConfiguration.instanceSourceViaImageConfig.bootVolumeVpusPerGB", "multiple of 10"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "metadata of another form", reason: "strings alone", spec: ociPool(", metadata: {a: [b]}"),
		refused: []string{"spec.instanceConfiguration.metadata", "string"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "extended metadata in a text", reason: "an object alone",
		spec:    ociPool(", extendedMetadata: a"),
		refused: []string{"spec.instanceConfiguration.extendedMetadata", "object"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "neither surge nor unavailability", reason: "no instance could be replaced",
		spec:    ociPool("") + "\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}}},
	{kind: ociPoolKind, ruleCase: ruleCase{name: "unknown field", reason: "a slip of the pen must not go unnoticed",
		spec: ociPool("") + "\nvnicAssignPublicIp: true", refused: []string{"spec.vnicAssignPublicIp", "unknown field"}}},

	{kind: ociManagedKind, ruleCase: ruleCase{name: "the least", reason: "the version is the MachinePool's", spec: ociNodes("")}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "the published flavor", reason: "published manifests apply as they are",
		spec: ociNodes(`version: v1.34.1
sshPublicKey: ""
nodeSourceViaImage: {imageId: "", bootVolumeSizeInGBs: 50}
nodeShapeConfig: {ocpus: "1"}
nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {cniType: FLANNEL_OVERLAY}}`)}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "everything of both versions", reason: "each field with an allowed value",
		spec: ociNodes(`providerID: ocid1.nodepool.oc1.iad.a
version: v1.34.1
id: ocid1.nodepool.oc1.iad.a
nodePoolNodeConfig:
  isPvEncryptionInTransitEnabled: true
  kmsKeyId: a
  placementConfigs: [{availabilityDomain: 'Uocm:PHX-AD-1', capacityReservationId: a, faultDomains: [FAULT-DOMAIN-1], subnetName: worker}]
  nsgNames: [worker]
  nodePoolPodNetworkOptionDetails: {cniType: OCI_VCN_IP_NATIVE, vcnIpNativePodNetworkOptions: {maxPodsPerNode: 20, nsgNames: [pod],
    subnetNames: [pod]}}
nodeEvictionNodePoolSettings: {evictionGraceDuration: PT30M, isForceDeleteAfterGraceDuration: true}
nodeShapeConfig: {memoryInGBs: "16", ocpus: "2"}
nodeSourceViaImage: {bootVolumeSizeInGBs: 32768, imageId: a}
sshPublicKey: ssh-rsa a
nodeMetadata: {user_data: a}
initialNodeLabels: [{key: dedicated, value: kafka}, {key: example.com/Team}]
providerIDList: [ocid1.instance.oc1.iad.a]
strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}`)}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "everything else", reason: "each field with an allowed value",
		spec: ociNodes("nodePoolCyclingDetails: {isNodeCyclingEnabled: true, maximumSurge: 10%, maximumUnavailable: '0', " +
			"cycleModes: [BOOT_VOLUME_REPLACE]}")}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "cycling in short", reason: "the documented manifest",
		spec: ociNodes("nodePoolCyclingDetails: {isNodeCyclingEnabled: true}")}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "no shape", reason: "OKE launches nothing", spec: "version: v1.34.1",
		refused: []string{"spec.nodeShape", "Required"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "a version without v", reason: "the ecosystem's limit", spec: ociNodes("version: 1.34.1"),
		refused: []string{"spec.version", "should match"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "no grace", reason: "OKE takes it", spec: ociNodes(ociGrace + "PT0M}")}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "an hour", reason: "OKE takes it", spec: ociNodes(ociGrace + "PT1H}")}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "more than an hour", reason: "OKE's limit", spec: ociNodes(ociGrace + "PT1H1M}"),
		refused: []string{"spec.nodeEvictionNodePoolSettings.evictionGraceDuration", "found PT1H1M, must be a duration from PT0M to PT60M"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "a duration of Go", reason: "OKE takes ISO 8601", spec: ociNodes(ociGrace + "30m}"),
		refused: []string{"spec.nodeEvictionNodePoolSettings.evictionGraceDuration", "found 30m, must be a duration"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "a duration without time", reason: "OKE takes ISO 8601", spec: ociNodes(ociGrace + "PT}"),
		refused: []string{"spec.nodeEvictionNodePoolSettings.evictionGraceDuration", "found PT, must be a duration"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "many pods", reason: "OKE's limit",
		spec: ociNodes("nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {vcnIpNativePodNetworkOptions: {maxPodsPerNode: 111}}}"),
		refused: []string{
			"spec.nodePoolNodeConfig.nodePoolPodNetworkOptionDetails.vcnIpNativePodNetworkOptions.maxPodsPerNode", "110"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "another plugin", reason: "the message lists what is allowed",
		spec:    ociNodes("nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {cniType: CALICO}}"),
		refused: []string{"spec.nodePoolNodeConfig.nodePoolPodNetworkOptionDetails.cniType", "FLANNEL_OVERLAY"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "a placement without a domain", reason: "OKE needs one",
		spec:    ociNodes("nodePoolNodeConfig: {placementConfigs: [{subnetName: a}]}"),
		refused: []string{"spec.nodePoolNodeConfig.placementConfigs[0].availabilityDomain", "Required"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "four fault domains", reason: "OKE's limit",
		spec:    ociNodes("nodePoolNodeConfig: {placementConfigs: [{availabilityDomain: a, faultDomains: [a, b, c, d]}]}"),
		refused: []string{"spec.nodePoolNodeConfig.placementConfigs[0].faultDomains", "at most 3"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "a label twice", reason: "which of the two would it be?",
		spec:    ociNodes("initialNodeLabels: [{key: a, value: b}, {key: a}]"),
		refused: []string{"spec.initialNodeLabels[1]", "Duplicate value"}}},
	{kind: ociManagedKind, ruleCase: ruleCase{name: "a label with a blank", reason: "the API server refuses it on nodes",
		spec: ociNodes("initialNodeLabels: [{key: 'a b'}]"), refused: []string{"spec.initialNodeLabels[0].key", "should match"}}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "no node at a time", reason: "no node could be replaced",
		spec:    ociNodes("nodePoolCyclingDetails: {isNodeCyclingEnabled: true, maximumSurge: 0%, maximumUnavailable: '0'}"),
		refused: []string{"spec.nodePoolCyclingDetails.maximumUnavailable", "at least 1 when maximumSurge is 0"}}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "no node added", reason: "the other has a default of 0",
		spec:    ociNodes("nodePoolCyclingDetails: {isNodeCyclingEnabled: true, maximumSurge: '0'}"),
		refused: []string{"spec.nodePoolCyclingDetails.maximumUnavailable", "at least 1 when maximumSurge is 0"}}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "a node missing instead", reason: "a node can be replaced",
		spec: ociNodes("nodePoolCyclingDetails: {isNodeCyclingEnabled: true, maximumSurge: '0', maximumUnavailable: '1'}")}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "more than all", reason: "OKE's limit",
		spec:    ociNodes("nodePoolCyclingDetails: {maximumSurge: 101%}"),
		refused: []string{"spec.nodePoolCyclingDetails.maximumSurge", "found 101%, must be a number of at most four digits, or a percentage"}}},
	{kind: ociManagedKind, newer: true, ruleCase: ruleCase{name: "two modes", reason: "OKE takes one",
		spec:    ociNodes("nodePoolCyclingDetails: {cycleModes: [INSTANCE_REPLACE, BOOT_VOLUME_REPLACE]}"),
		refused: []string{"spec.nodePoolCyclingDetails.cycleModes", "at most 1"}}},

	{kind: ociVirtualKind, ruleCase: ruleCase{name: "the published flavor", reason: "its specification is empty", spec: "{}"}},
	{kind: ociVirtualKind, ruleCase: ruleCase{name: "everything", reason: "each field with an allowed value", spec: `
providerID: ocid1.virtualnodepool.oc1.iad.a
id: ocid1.virtualnodepool.oc1.iad.a
placementConfigs: [{availabilityDomain: 'Uocm:PHX-AD-1', faultDomains: [FAULT-DOMAIN-1], subnetName: worker}]
nsgNames: [worker]
podConfiguration: {nsgNames: [pod], shape: Pod.Standard.E4.Flex, subnetName: pod}
taints: [{key: dedicated, value: kafka, effect: NoSchedule}]
initialVirtualNodeLabels: [{key: a, value: b}]
providerIDList: [ocid1.virtualnode.oc1.iad.a]`}},
	{kind: ociVirtualKind, ruleCase: ruleCase{name: "another effect", reason: "the message lists what is allowed",
		spec: "taints: [{key: a, effect: NO_SCHEDULE}]", refused: []string{"spec.taints[0].effect", "PreferNoSchedule"}}},
	{kind: ociVirtualKind, ruleCase: ruleCase{name: "six security groups of pods", reason: "OKE's limit",
		spec: "podConfiguration: {nsgNames: [a, b, c, d, e, f]}", refused: []string{"spec.podConfiguration.nsgNames", "at most 5"}}},
	{kind: ociVirtualKind, ruleCase: ruleCase{name: "a placement without a domain", reason: "OKE needs one",
		spec: "placementConfigs: [{subnetName: a}]", refused: []string{"spec.placementConfigs[0].availabilityDomain", "Required"}}},

	{kind: ociMachineKind, ruleCase: ruleCase{name: "everything", reason: "what the ecosystem's provider writes",
		spec: "{providerID: 'oci://ocid1.instance.oc1.iad.a', ocid: ocid1.instance.oc1.iad.a, instanceName: a, machineType: SELF_MANAGED_TYPE}"}},
	{kind: ociMachineKind, ruleCase: ruleCase{name: "another type", reason: "the message lists what is allowed", spec: "machineType: MANAGED",
		refused: []string{"spec.machineType", "MANAGED_TYPE"}}},
}

const ociGrace = "nodeEvictionNodePoolSettings: {evictionGraceDuration: "

// TestOCIRules holds the rules that one object shows, and that an object that is left as it is stays accepted.
func TestOCIRules(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		for _, c := range ociRulesCases {
			if c.newer && version == "v1beta1" {
				continue
			}
			t.Run(strings.Join([]string{version, c.kind, c.name}, "/"), func(t *testing.T) {
				t.Parallel()
				a := admissionOf(t, c.kind, version)
				is := func() map[string]any { return object(t, kindText(c.kind, version, c.spec)) }
				compare(t, c.reason, a.admit(is(), nil), c.refused)
				if c.refused == nil {
					compare(t, "left as it is: "+c.reason, a.admit(is(), is()), nil)
				}
			})
		}
	}
}

// TestOCIChanges holds what can be changed of an object: everything that the cloud can change of a pool, and nothing that makes a machine
// another one.
func TestOCIChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, before, after string
		refused             []string
	}{
		{ociPoolKind, ociPool("") + "\nplacementDetails: [{availabilityDomain: 1}]\nocid: a",
			strings.Replace(ociPool(", isPvEncryptionInTransitEnabled: false"), "E4", "E5", 1) + "\nocid: b", nil},
		{ociManagedKind, ociNodes("version: v1.34.1\nid: a"), "nodeShape: VM.Standard.A1.Flex\nversion: v1.35.0\nsshPublicKey: a", nil},
		{ociVirtualKind, "podConfiguration: {shape: Pod.Standard.E3.Flex}", "nsgNames: [a]", nil},
		{ociMachineKind, "instanceName: a", "{instanceName: a, providerID: a, ocid: a}", nil},
		{ociMachineKind, "providerID: a", "providerID: b", []string{"spec.providerID", "can't be changed once it is set"}},
		{ociMachineKind, "ocid: a", "{}", []string{"spec.ocid", "can't be changed once it is set"}},
	} {
		a := admissionOf(t, c.kind, "v1beta2")
		compare(t, c.after, a.admit(object(t, kindText(c.kind, "v1beta2", c.after)), object(t, kindText(c.kind, "v1beta2", c.before))), c.refused)
	}
}

// TestOCIVirtualWithoutSpecification holds that the published manifest of a virtual node pool applies: it has the key spec without a value,
// which an API server drops.
func TestOCIVirtualWithoutSpecification(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		is := object(t, kindText(ociVirtualKind, version, "{}"))
		delete(is, "spec")
		compare(t, "the published flavor", admissionOf(t, ociVirtualKind, version).admit(is, nil), nil)
	}
}
