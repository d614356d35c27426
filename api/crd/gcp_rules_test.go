package crd_test

import "testing"

const (
	gcpKind = "GCPMachinePool"
	// gcpLeast is the least that a GCPMachinePool must say.
	gcpLeast = "instanceType: n2-standard-4"
)

// gcpPool returns a specification with some more fields.
func gcpPool(fields string) string { return gcpLeast + "\n" + fields }

const managedKey = "managedKey: {kmsKeyName: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k}"

// gcpMachinePoolRulesCases are the cases of TestGCPMachinePoolRules.
var gcpMachinePoolRulesCases = []ruleCase{
	{name: "the least", reason: "everything else has a default", spec: gcpLeast},
	{name: "everything", reason: "each field with an allowed value", spec: gcpPool(`providerIDList: [gce://p/us-central1-a/i]
subnet: nodes
aliasIPRanges: [{ipCidrRange: /24, subnetworkRangeName: pods}, {ipCidrRange: 10.0.0.0/24}, {ipCidrRange: 10.1.2.3}]
imageFamily: projects/p/global/images/family/f
image: projects/p/global/images/i
additionalLabels: {team: a, cost_center-1: ''}
additionalMetadata: [{key: serial-port-enable, value: 'true'}, {key: empty}]
publicIP: true
additionalNetworkTags: [web]
resourceManagerTags: [{parentID: '123', key: env, value: prod}, {parentID: my-project, key: k, value: 'v @x'}]
rootDeviceSize: 50
rootDeviceType: hyperdisk-balanced
additionalDisks: [{deviceType: pd-ssd, size: 100, encryptionKey: {keyType: Managed, ` + managedKey + `}}, {deviceType: local-ssd}, {}]
serviceAccounts: {email: a@p.iam.gserviceaccount.com, scopes: ['https://www.googleapis.com/auth/cloud-platform']}
provisioningModel: Spot
ipForwarding: Disabled
shieldedInstanceConfig: {secureBoot: Enabled, virtualizedTrustedPlatformModule: Enabled, integrityMonitoring: Disabled}
onHostMaintenance: Terminate
confidentialCompute: IntelTrustedDomainExtensions
rootDiskEncryptionKey: {keyType: Supplied, suppliedKey: {rawKey: SGVsbG8gZnJvbSBHb29nbGUgQ2xvdWQgUGxhdGZvcm0=},
  kmsKeyServiceAccount: a@p.iam.gserviceaccount.com}
guestAccelerators: [{count: 1, type: projects/p/zones/us-central1-c/acceleratorTypes/nvidia-tesla-p100}]
strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1, deletePolicy: Newest}}
distributionPolicy: {zones: [us-central1-a, us-central1-ai1a], targetShape: AnySingleZone}
autoHealing: {healthCheck: hc, initialDelaySec: 3600}
instanceLifecyclePolicy: {defaultActionOnFailure: DoNothing, forceUpdateOnRepair: true}`)},
	{name: "both names of an image", reason: "the ecosystem documents that image takes precedence",
		spec: gcpPool("image: i\nimageFamily: f")},
	{name: "both ways to capacity that goes", reason: "the ecosystem documents that Spot takes precedence",
		spec: gcpPool("preemptible: true\nprovisioningModel: Spot")},

	{name: "no machine type", reason: "Compute Engine has no default", spec: "publicIP: true",
		refused: []string{"spec.instanceType", "Required"}},
	{name: "the URL of a machine type", reason: "templates take the name",
		spec: "instanceType: zones/us-central1-a/machineTypes/n2-standard-4", refused: []string{"spec.instanceType", "^[a-z]"}},
	{name: "a label in upper case", reason: "Compute Engine refuses it", spec: gcpPool("additionalLabels: {Team: a}"),
		refused: []string{"spec.additionalLabels", "begin with a lower-case letter"}},
	{name: "a label's value in upper case", reason: "Compute Engine refuses it", spec: gcpPool("additionalLabels: {team: A}"),
		refused: []string{"spec.additionalLabels.team", "should match"}},
	{name: "a label with a long value", reason: "Compute Engine's limit",
		spec:    gcpPool("additionalLabels: {team: abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd}"),
		refused: []string{"spec.additionalLabels.team", "63"}},
	{name: "a label of the owner", reason: "it would take the group from its owner",
		spec: gcpPool("additionalLabels: {muster-dev_owner-id: a}"), refused: []string{"spec.additionalLabels", "muster-dev_"}},
	{name: "metadata over the bootstrap data", reason: "nodes would not join",
		spec:    gcpPool("additionalMetadata: [{key: user-data, value: x}]"),
		refused: []string{"spec.additionalMetadata[0].key", "must not be user-data"}},
	{name: "one key of metadata twice", reason: "Compute Engine refuses it", spec: gcpPool("additionalMetadata: [{key: a}, {key: a}]"),
		refused: []string{"spec.additionalMetadata[1]", "Duplicate"}},
	{name: "a network tag with a dot", reason: "Compute Engine refuses it", spec: gcpPool("additionalNetworkTags: [a.b]"),
		refused: []string{"spec.additionalNetworkTags[0]", "should match"}},
	{name: "a tag without a parent", reason: "its value can't be found", spec: gcpPool("resourceManagerTags: [{key: k, value: v}]"),
		refused: []string{"spec.resourceManagerTags[0].parentID", "Required"}},
	{name: "a parent with a leading zero", reason: "no organization has such a number",
		spec:    gcpPool("resourceManagerTags: [{parentID: '012', key: k, value: v}]"),
		refused: []string{"spec.resourceManagerTags[0].parentID", "should match"}},
	{name: "a boot disk over the limit", reason: "Compute Engine's limit", spec: gcpPool("rootDeviceSize: 65537"),
		refused: []string{"spec.rootDeviceSize", "65536"}},
	{name: "a negative boot disk", reason: "0 is the default", spec: gcpPool("rootDeviceSize: -1"),
		refused: []string{"spec.rootDeviceSize", "0"}},
	{name: "a boot disk on the host", reason: "Compute Engine refuses it", spec: gcpPool("rootDeviceType: local-ssd"),
		refused: []string{"spec.rootDeviceType", "can't boot from a local SSD"}},
	{name: "a disk of nothing", reason: "Compute Engine's limit", spec: gcpPool("additionalDisks: [{size: 0}]"),
		refused: []string{"spec.additionalDisks[0].size", "1"}},
	{name: "a key for a disk on the host", reason: "Compute Engine refuses it",
		spec:    gcpPool("additionalDisks: [{deviceType: local-ssd, encryptionKey: {keyType: Managed, " + managedKey + "}}]"),
		refused: []string{"spec.additionalDisks[0].encryptionKey", "local-ssd"}},
	{name: "no managed key", reason: "the disk would not be encrypted with it", spec: gcpPool("rootDiskEncryptionKey: {keyType: Managed}"),
		refused: []string{"spec.rootDiskEncryptionKey.managedKey", "must be set"}},
	{name: "no supplied key", reason: "the disk would not be encrypted with it", spec: gcpPool("rootDiskEncryptionKey: {keyType: Supplied}"),
		refused: []string{"spec.rootDiskEncryptionKey.suppliedKey", "must be set"}},
	{name: "a supplied key too", reason: "one of the two would have no effect",
		spec:    gcpPool("rootDiskEncryptionKey: {keyType: Managed, " + managedKey + ", suppliedKey: {rawKey: YQ==}}"),
		refused: []string{"spec.rootDiskEncryptionKey.suppliedKey", "can't be set"}},
	{name: "a managed key too", reason: "one of the two would have no effect",
		spec:    gcpPool("rootDiskEncryptionKey: {keyType: Supplied, " + managedKey + ", suppliedKey: {rawKey: YQ==}}"),
		refused: []string{"spec.rootDiskEncryptionKey.managedKey", "can't be set"}},
	{name: "a key in both forms", reason: "one of the two would have no effect",
		spec:    gcpPool("rootDiskEncryptionKey: {keyType: Supplied, suppliedKey: {rawKey: YQ==, rsaEncryptedKey: YQ==}}"),
		refused: []string{"spec.rootDiskEncryptionKey.suppliedKey", "at most 1"}},
	{name: "a key by its short name", reason: "it can't be found",
		spec:    gcpPool("rootDiskEncryptionKey: {keyType: Managed, managedKey: {kmsKeyName: k}}"),
		refused: []string{"spec.rootDiskEncryptionKey.managedKey.kmsKeyName", "keyRings"}},
	{name: "another provisioning model", reason: "the message lists what is allowed", spec: gcpPool("provisioningModel: Preemptible"),
		refused: []string{"spec.provisioningModel", "Standard", "Spot"}},
	{name: "another IP forwarding", reason: "the message lists what is allowed", spec: gcpPool("ipForwarding: 'yes'"),
		refused: []string{"spec.ipForwarding", "Enabled", "Disabled"}},
	{name: "confidential and migrated", reason: "Compute Engine refuses it",
		spec:    gcpPool("confidentialCompute: Enabled\nonHostMaintenance: Migrate"),
		refused: []string{"spec.onHostMaintenance", "confidentialCompute"}},
	{name: "confidential alone", reason: "Compute Engine would migrate by default",
		spec: gcpPool("confidentialCompute: AMDEncryptedVirtualization"), refused: []string{"spec.onHostMaintenance", "must be Terminate"}},
	{name: "not confidential", reason: "it is the default", spec: gcpPool("confidentialCompute: Disabled\nonHostMaintenance: Migrate")},
	{name: "accelerators and migrated", reason: "Compute Engine refuses it",
		spec:    gcpPool("guestAccelerators: [{count: 1, type: nvidia-tesla-t4}]\nonHostMaintenance: Migrate"),
		refused: []string{"spec.onHostMaintenance", "guestAccelerators"}},
	{name: "Spot and migrated", reason: "Compute Engine refuses it", spec: gcpPool("provisioningModel: Spot\nonHostMaintenance: Migrate"),
		refused: []string{"spec.onHostMaintenance", "Spot"}},
	{name: "preemptible and migrated", reason: "Compute Engine refuses it", spec: gcpPool("preemptible: true\nonHostMaintenance: Migrate"),
		refused: []string{"spec.onHostMaintenance", "preemptible"}},
	{name: "another technology", reason: "the message lists what is allowed",
		spec:    gcpPool("confidentialCompute: SEV\nonHostMaintenance: Terminate"),
		refused: []string{"spec.confidentialCompute", "AMDEncryptedVirtualization"}},
	{name: "neither surge nor unavailability", reason: "nothing could be replaced", spec: gcpPool("strategy: {rollingUpdate: {maxSurge: 0}}"),
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
	{name: "one zone twice", reason: "Compute Engine refuses it",
		spec:    gcpPool("distributionPolicy: {zones: [us-central1-a, us-central1-a]}"),
		refused: []string{"spec.distributionPolicy.zones[1]", "Duplicate"}},
	{name: "another shape", reason: "the message lists what is allowed", spec: gcpPool("distributionPolicy: {targetShape: EVEN}"),
		refused: []string{"spec.distributionPolicy.targetShape", "Even", "AnySingleZone"}},
	{name: "no health check", reason: "there is nothing to check", spec: gcpPool("autoHealing: {initialDelaySec: 60}"),
		refused: []string{"spec.autoHealing.healthCheck", "Required"}},
	{name: "a long delay", reason: "Compute Engine's limit", spec: gcpPool("autoHealing: {healthCheck: h, initialDelaySec: 3601}"),
		refused: []string{"spec.autoHealing.initialDelaySec", "3600"}},
	{name: "another action", reason: "the message lists what is allowed",
		spec:    gcpPool("instanceLifecyclePolicy: {defaultActionOnFailure: DELETE}"),
		refused: []string{"spec.instanceLifecyclePolicy.defaultActionOnFailure", "Repair", "DoNothing"}},
}

// TestGCPMachinePoolRules holds the rules that one object shows.
func TestGCPMachinePoolRules(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, gcpKind, "v1beta1")
	for _, c := range gcpMachinePoolRulesCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := kindText(gcpKind, "v1beta1", c.spec)
			compare(t, c.reason, a.admit(object(t, text), nil), c.refused)
			if c.refused == nil {
				compare(t, "left as it is: "+c.reason, a.admit(object(t, text), object(t, text)), nil)
			}
		})
	}
}

// TestGCPMachinePoolChanges holds what Compute Engine can't change of a group, and what it can.
func TestGCPMachinePoolChanges(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, gcpKind, "v1beta1")
	change := func(from, to string) []string {
		return []string{kindText(gcpKind, "v1beta1", from), kindText(gcpKind, "v1beta1", to)}
	}
	for _, c := range []struct {
		reason  string
		texts   []string
		refused []string
	}{
		{"another template is made", change(gcpLeast, "instanceType: e2-medium\nrootDeviceSize: 99\npreemptible: true"), nil},
		{"the group's policies are Compute Engine's to change", change(gcpPool("distributionPolicy: {zones: [a-b, a-c], targetShape: Even}"),
			gcpPool("distributionPolicy: {zones: [a-c, a-b], targetShape: Any}\nautoHealing: {healthCheck: h}")), nil},
		{"a group can't move", change(gcpPool("distributionPolicy: {zones: [a-b]}"), gcpPool("distributionPolicy: {zones: [a-c]}")),
			[]string{"spec.distributionPolicy.zones", "can't be changed"}},
		{"a group can't grow into another zone", change(gcpPool("distributionPolicy: {zones: [a-b]}"),
			gcpPool("distributionPolicy: {zones: [a-b, a-c]}")), []string{"spec.distributionPolicy.zones", "can't be changed"}},
	} {
		compare(t, c.reason, a.admit(object(t, c.texts[1]), object(t, c.texts[0])), c.refused)
	}
}
