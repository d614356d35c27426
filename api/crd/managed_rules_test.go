package crd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/muster-project/muster/api/aws/v1beta2"
)

// ruleCase is one specification, and what becomes of it.
type ruleCase struct {
	name, reason string
	spec         string
	// refused are parts of the one message that is wanted; none means that the object is taken.
	refused []string
	// only, when set, names the one version that knows the fields.
	only string
}

// tried returns the versions in which rules are tested: with -short only the stored one. The former version has a few additional rules.
func tried() []string {
	if testing.Short() {
		return []string{"v1beta2"}
	}
	return []string{"v1beta1", "v1beta2"}
}

// tryRules tests every case on a new object, and rejected ones also as an update of an object made of old: a rule that applies only to
// creation has no effect.
func tryRules(t *testing.T, kind, old string, cases []ruleCase) {
	for _, version := range tried() {
		a := admissionOf(t, kind, version)
		for _, c := range cases {
			if c.only != "" && c.only != version {
				continue
			}
			t.Run(strings.Join([]string{kind, version, c.name}, "/"), func(t *testing.T) {
				t.Parallel()
				compare(t, c.reason, a.admit(object(t, kindText(kind, version, c.spec)), nil), c.refused)
				if c.refused == nil {
					compare(t, "left as it is: "+c.reason, a.admit(object(t, kindText(kind, version, c.spec)),
						object(t, kindText(kind, version, c.spec))), nil)
					return
				}
				compare(t, "on update: "+c.reason, a.admit(object(t, kindText(kind, version, c.spec)), object(t, kindText(kind, version, old))),
					c.refused)
			})
		}
	}
}

// TestTemplateRules holds what a launch template may be, the same in both kinds.
func TestTemplateRules(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{v1beta2.AWSMachinePoolKind, v1beta2.AWSManagedMachinePoolKind} {
		cases := make([]ruleCase, len(templateRules))
		for k, c := range templateRules {
			c.spec = "awsLaunchTemplate: " + c.spec
			cases[k] = c
		}
		tryRules(t, kind, minimal, cases)
	}
	tryRules(t, v1beta2.AWSMachinePoolKind, minimal, []ruleCase{
		{name: "spot on a host", reason: "the cloud refuses it", spec: "awsLaunchTemplate: {spotMarketOptions: {}, placement: {tenancy: host}}",
			refused: []string{"spec.awsLaunchTemplate.placement", "must not be host for spot"}},
		{name: "spot on a host in other words", reason: "the cloud refuses it", only: "v1beta2",
			spec:    "awsLaunchTemplate: {marketType: Spot, placement: {tenancy: host}}",
			refused: []string{"spec.awsLaunchTemplate.placement", "must not be host for spot"}},
	})
}

// templateRules are tried in both kinds that have a launch template.
var templateRules = []ruleCase{
	{name: "the least", reason: "everything has a default", spec: "{}"},
	{name: "placement", reason: "a group by its name", spec: "{placement: {groupName: pg, partitionNumber: 7, tenancy: dedicated}}"},
	{name: "placement by id", reason: "a group of another account", spec: "{placement: {groupId: pg-1}}"},
	{name: "placement on a host", reason: "a dedicated host", spec: "{placement: {tenancy: host, hostId: h-1, affinity: host}}"},
	{name: "placement in a resource group", reason: "tenancy follows from it",
		spec: "{placement: {hostResourceGroupArn: 'arn:aws:resource-groups:us-east-1:1:group/hosts'}}"},
	{name: "group twice", reason: "which of the two would hold?", spec: "{placement: {groupName: pg, groupId: pg-1}}",
		refused: []string{"spec.awsLaunchTemplate.placement.groupId", "by one of the two"}},
	{name: "partition of nothing", reason: "the cloud refuses it", spec: "{placement: {partitionNumber: 1}}",
		refused: []string{"spec.awsLaunchTemplate.placement.partitionNumber", "needs groupName"}},
	{name: "partition eight", reason: "the cloud's limit", spec: "{placement: {groupName: pg, partitionNumber: 8}}",
		refused: []string{"spec.awsLaunchTemplate.placement.partitionNumber", "less than or equal to 7"}},
	{name: "another tenancy", reason: "the message lists what is allowed", spec: "{placement: {tenancy: shared}}",
		refused: []string{"spec.awsLaunchTemplate.placement.tenancy", "shared", "default", "dedicated", "host"}},
	{name: "host without its tenancy", reason: "the cloud refuses it", spec: "{placement: {hostId: h-1}}",
		refused: []string{"spec.awsLaunchTemplate.placement.hostId", "needs tenancy to be host"}},
	{name: "affinity without a host", reason: "the cloud refuses it", spec: "{placement: {affinity: host, tenancy: default}}",
		refused: []string{"spec.awsLaunchTemplate.placement.affinity", "needs tenancy to be host"}},
	{name: "resource group of another tenancy", reason: "the cloud refuses it",
		spec:    "{placement: {hostResourceGroupArn: 'arn:x', tenancy: dedicated}}",
		refused: []string{"spec.awsLaunchTemplate.placement.hostResourceGroupArn", "host or absent"}},
	{name: "resource group and host", reason: "the group chooses the host",
		spec:    "{placement: {hostResourceGroupArn: 'arn:x', tenancy: host, hostId: h-1}}",
		refused: []string{"spec.awsLaunchTemplate.placement.hostResourceGroupArn", "hostId"}},

	{name: "a public address", reason: "the most common wish about interfaces",
		spec: "{networkInterfaces: [{associatePublicIpAddress: true, deleteOnTermination: true, description: first, securityGroups: [{id: " +
			"sg-1}]}]}"},
	{name: "two cards", reason: "an instance for high-performance computing",
		spec: "{networkInterfaces: [{interfaceType: efa}, {deviceIndex: 1, networkCardIndex: 1, interfaceType: efa-only}]}"},
	{name: "addresses", reason: "prefixes for pods",
		spec: "{networkInterfaces: [{ipv4PrefixCount: 2, ipv6AddressCount: 1, primaryIpv6: true}]}"},
	{name: "no interface at all", reason: "an empty list asks for nothing that exists", spec: "{networkInterfaces: []}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces", "at least 1"}},
	{name: "no first interface", reason: "no instance starts without", spec: "{networkInterfaces: [{deviceIndex: 1}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces", "must be the first"}},
	{name: "first interface without address", reason: "the cloud refuses it", spec: "{networkInterfaces: [{interfaceType: efa-only}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces", "not efa-only"}},
	{name: "one place twice", reason: "the cloud refuses it",
		spec:    "{networkInterfaces: [{}, {deviceIndex: 1}, {deviceIndex: 1, networkCardIndex: 0}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces", "no two interfaces"}},
	{name: "public address of several", reason: "the cloud refuses it only at launch",
		spec:    "{networkInterfaces: [{associatePublicIpAddress: true}, {deviceIndex: 1}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces", "single interface only"}},
	{name: "address where there is none", reason: "the cloud refuses it",
		spec:    "{networkInterfaces: [{}, {deviceIndex: 1, interfaceType: efa-only, ipv6AddressCount: 1}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces[1].interfaceType", "efa-only"}},
	{name: "prefixes and addresses", reason: "the cloud refuses it",
		spec:    "{networkInterfaces: [{ipv4PrefixCount: 1, secondaryPrivateIpAddressCount: 1}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces[0].ipv4PrefixCount", "secondaryPrivateIpAddressCount"}},
	{name: "prefixes and addresses of IPv6", reason: "the cloud refuses it",
		spec:    "{networkInterfaces: [{ipv6PrefixCount: 1, ipv6AddressCount: 1}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces[0].ipv6PrefixCount", "ipv6AddressCount"}},
	{name: "a subnet", reason: "a template that names one could not be launched in several zones",
		spec:    "{networkInterfaces: [{subnetId: subnet-1}]}",
		refused: []string{"spec.awsLaunchTemplate.networkInterfaces[0].subnetId", "unknown field"}},

	{name: "a volume in full", reason: "everything that the cloud offers",
		spec: "{rootVolume: {size: 8, type: gp3, iops: 3000, throughput: 125, encrypted: true, encryptionKey: alias/k, deleteOnTermination: " +
			"false, snapshotId: snap-1, volumeInitializationRate: 300}}"},
	{name: "iops of gp2", reason: "the cloud refuses it", spec: "{rootVolume: {size: 8, type: gp2, iops: 3000}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.iops", "gp3, io1 and io2 only"}},
	{name: "a key for nothing", reason: "the two contradict each other", spec: "{rootVolume: {size: 8, encrypted: false, encryptionKey: k}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.encrypted", "encryptionKey"}},
	{name: "a rate of nothing", reason: "the cloud refuses it", spec: "{rootVolume: {size: 8, volumeInitializationRate: 100}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.volumeInitializationRate", "snapshotId"}},

	{name: "brought by id", reason: "a template that another client keeps", spec: "{existing: {id: lt-0abc, version: 3}, versionsToKeep: 5}"},
	{name: "brought by name", reason: "the other way to say which", spec: "{existing: {name: golden, version: 1}}"},
	{name: "brought by both", reason: "which of the two would hold?", spec: "{existing: {id: lt-1, name: golden, version: 1}}",
		refused: []string{"spec.awsLaunchTemplate.existing", "exactly one of id and name"}},
	{name: "brought by nothing", reason: "there is nothing to launch", spec: "{existing: {version: 1}}",
		refused: []string{"spec.awsLaunchTemplate.existing", "exactly one of id and name"}},
	{name: "brought without a version", reason: "what it stands for could change behind the pool's back", spec: "{existing: {id: lt-1}}",
		refused: []string{"spec.awsLaunchTemplate.existing.version", "Required value"}},
	{name: "brought by a word", reason: "as above", spec: "{existing: {id: lt-1, version: $Latest}}",
		refused: []string{"spec.awsLaunchTemplate.existing.version", "integer"}},
	{name: "brought and made", reason: "which of the two would hold?", spec: "{existing: {id: lt-1, version: 1}, instanceType: m5.large}",
		refused: []string{"spec.awsLaunchTemplate.existing", "the template that is brought says it all"}},
	{name: "brought and placed", reason: "which of the two would hold?",
		spec:    "{existing: {id: lt-1, version: 1}, placement: {tenancy: dedicated}}",
		refused: []string{"spec.awsLaunchTemplate.existing", "the template that is brought says it all"}},

	{name: "keep two", reason: "one to go back to", spec: "{versionsToKeep: 2}"},
	{name: "keep one", reason: "there would be none to go back to", spec: "{versionsToKeep: 1}",
		refused: []string{"spec.awsLaunchTemplate.versionsToKeep", "greater than or equal to 2"}},
	{name: "keep all", reason: "the cloud has a limit", spec: "{versionsToKeep: 101}",
		refused: []string{"spec.awsLaunchTemplate.versionsToKeep", "less than or equal to 100"}},

	{name: "metadata over IPv6", reason: "the field is sent", only: "v1beta2",
		spec: "{instanceMetadataOptions: {httpProtocolIpv6: enabled}}"},
	{name: "enclaves off", reason: "a value like any other", only: "v1beta2", spec: "{enclaveOptions: {enabled: false}}"},
	{name: "host names", reason: "a value like any other", only: "v1beta2", spec: "{privateDnsName: {enableResourceNameDnsARecord: true}}"},
	{name: "volume without device", reason: "the cloud can't attach it", only: "v1beta2", spec: "{nonRootVolumes: [{size: 8}]}",
		refused: []string{"spec.awsLaunchTemplate.nonRootVolumes", "deviceName"}},
	{name: "io2 without iops", reason: "the cloud refuses it", spec: "{rootVolume: {size: 8, type: io2}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.iops", "io1 and io2"}},
	{name: "security group twice said", reason: "which of the two would hold?",
		spec:    "{additionalSecurityGroups: [{id: sg-1, filters: [{name: vpc-id, values: [a]}]}]}",
		refused: []string{"spec.awsLaunchTemplate.additionalSecurityGroups[0]", "exclude each other"}},
	{name: "block without reservation", reason: "a block is a reservation", only: "v1beta2", spec: "{marketType: CapacityBlock}",
		refused: []string{"spec.awsLaunchTemplate.marketType", "capacityReservationId"}},
	{name: "reservation with another preference", reason: "a named reservation is a must", only: "v1beta2",
		spec:    "{capacityReservationId: cr-1, capacityReservationPreference: None}",
		refused: []string{"spec.awsLaunchTemplate.capacityReservationPreference", "CapacityReservationsOnly"}},
}

// TestManagedRules holds what an AWSManagedMachinePool may be.
func TestManagedRules(t *testing.T) {
	t.Parallel()
	const kind = v1beta2.AWSManagedMachinePoolKind
	tryRules(t, kind, "{}", []ruleCase{
		{name: "nothing", reason: "EKS has a default for everything", spec: "{}"},
		{name: "a published manifest", reason: "published manifests apply as they are", spec: `
eksNodegroupName: general-workers
instanceType: m6i.xlarge
scaling: {minSize: 3, maxSize: 20}
diskSize: 100
amiType: AL2023_x86_64_STANDARD
labels: {workload-type: general, environment: production}
updateConfig: {maxUnavailable: 1}
additionalTags: {k8s.io/cluster-autoscaler/enabled: "true"}
availabilityZones: [us-east-1a]
roleName: nodes-general
capacityType: onDemand`},
		{name: "every family", reason: "those of the existing provider and of today's EKS", spec: "amiType: BOTTLEROCKET_x86_64_NVIDIA_FIPS"},
		{name: "a family of tomorrow", reason: "the message lists what is allowed", spec: "amiType: AL3",
			refused: []string{"spec.amiType", "AL3", "AL2023_x86_64_STANDARD", "WINDOWS_FULL_2025_x86_64"}},
		{name: "unknown field", reason: "a slip of the pen must not go unnoticed", spec: "diskSizeGB: 1",
			refused: []string{"spec.diskSizeGB", "unknown field"}},
		{name: "a short release", reason: "the existing provider's limit", spec: "amiVersion: '1'",
			refused: []string{"spec.amiVersion", "at least 2"}},

		{name: "min alone", reason: "either bound may be set alone", spec: "scaling: {minSize: 2}"},
		{name: "max alone", reason: "either bound may be set alone", spec: "scaling: {maxSize: 2}"},
		{name: "from zero", reason: "a pool may shrink to nothing", spec: "scaling: {minSize: 0, maxSize: 1}"},
		{name: "min above max", reason: "EKS refuses it, and only in its own words", spec: "scaling: {minSize: 3, maxSize: 2}",
			refused: []string{"spec.scaling.minSize", "minSize is 3 and maxSize is 2"}},
		{name: "negative min", reason: "no group has less than nothing", spec: "scaling: {minSize: -1}",
			refused: []string{"spec.scaling.minSize", "greater than or equal to 0"}},
		{name: "no room", reason: "EKS wants one at least", spec: "scaling: {maxSize: 0}",
			refused: []string{"spec.scaling.maxSize", "greater than or equal to 1"}},

		{name: "two ways of updating", reason: "EKS takes one", only: "v1beta2",
			spec: "updateConfig: {maxUnavailable: 1, maxUnavailablePercentage: 10}", refused: []string{"spec.updateConfig", "exactly one"}},
		{name: "two ways of updating, older", reason: "EKS takes one", only: "v1beta1",
			spec: "updateConfig: {maxUnavailable: 1, maxUnavailablePrecentage: 10}", refused: []string{"spec.updateConfig", "exactly one"}},
		{name: "no way of updating", reason: "EKS needs one", spec: "updateConfig: {updateStrategy: MINIMAL}",
			refused: []string{"spec.updateConfig", "exactly one"}},
		{name: "a share", reason: "the right spelling of the stored version", only: "v1beta2",
			spec: "updateConfig: {maxUnavailablePercentage: 33, updateStrategy: MINIMAL, force: true}"},
		{name: "a share, older", reason: "how the older version has always spelled it", only: "v1beta1",
			spec: "updateConfig: {maxUnavailablePrecentage: 33, updateStrategy: DEFAULT}"},
		{name: "more than all", reason: "EKS's limit", only: "v1beta2", spec: "updateConfig: {maxUnavailablePercentage: 101}",
			refused: []string{"spec.updateConfig.maxUnavailablePercentage", "101", "100"}},
		{name: "none", reason: "nothing could ever be replaced", spec: "updateConfig: {maxUnavailable: 0}",
			refused: []string{"spec.updateConfig.maxUnavailable", "greater than or equal to 1"}},
		{name: "another strategy", reason: "the message lists what is allowed", spec: "updateConfig: {maxUnavailable: 1, updateStrategy: FAST}",
			refused: []string{"spec.updateConfig.updateStrategy", "FAST", "DEFAULT", "MINIMAL"}},

		{name: "taints", reason: "with a value, an empty one and none",
			spec: "taints: [{key: a, value: b, effect: no-schedule}, {key: a, value: '', effect: no-execute}, {key: example.com/c, effect: " +
				"prefer-no-schedule}]"},
		{name: "another effect", reason: "the spelling of Kubernetes is a common slip", spec: "taints: [{key: a, value: b, effect: NoSchedule}]",
			refused: []string{"spec.taints[0].effect", "NoSchedule", "no-schedule"}},
		{name: "a taint twice", reason: "Kubernetes refuses it",
			spec:    "taints: [{key: a, value: b, effect: no-schedule}, {key: a, value: c, effect: no-schedule}]",
			refused: []string{"spec.taints", "no two taints"}},
		{name: "a taint without key", reason: "EKS refuses it", spec: "taints: [{value: b, effect: no-schedule}]",
			refused: []string{"spec.taints[0].key", "Required value"}},
		{name: "a value with a blank", reason: "Kubernetes refuses it", spec: "taints: [{key: a, value: b c, effect: no-schedule}]",
			refused: []string{"spec.taints[0].value", "b c"}},
		{name: "fifty-one taints", reason: "EKS's limit", spec: "taints: [" + repeated(51, "{key: k%d, effect: no-schedule}") + "]",
			refused: []string{"spec.taints", "at most 50"}},

		{name: "labels", reason: "with and without a domain, and without a value",
			spec: "labels: {a: b, example.com/A_b.c: 'x.y', node.kubernetes.io/role: w, empty: ''}"},
		{name: "label key with a blank", reason: "Kubernetes refuses it", spec: "labels: {a b: c}",
			refused: []string{"spec.labels", "every key must be a label's"}},
		{name: "label value with a slash", reason: "Kubernetes refuses it", spec: "labels: {a: b/c}", refused: []string{"spec.labels.a", "b/c"}},
		{name: "label value too long", reason: "Kubernetes refuses it", spec: "labels: {a: " + strings.Repeat("v", 64) + "}",
			refused: []string{"spec.labels.a", "63"}},
		{name: "label of EKS", reason: "EKS refuses it", spec: "labels: {eks.amazonaws.com/x: y}",
			refused: []string{"spec.labels", "EKS keeps these"}},
		{name: "label of a role", reason: "EKS refuses it, and with it the whole group", spec: "labels: {node-role.kubernetes.io/worker: ''}",
			refused: []string{"spec.labels", "EKS keeps these"}},
	})
}

// TestManagedPlaces holds what an AWSManagedMachinePool may say of names, roles, access and capacity.
func TestManagedPlaces(t *testing.T) {
	t.Parallel()
	const kind = v1beta2.AWSManagedMachinePoolKind
	tryRules(t, kind, "{}", []ruleCase{
		{name: "name too long", reason: "EKS's limit", spec: "eksNodegroupName: " + strings.Repeat("n", 64),
			refused: []string{"spec.eksNodegroupName", "63"}},
		{name: "name with a dot", reason: "EKS refuses it", spec: "eksNodegroupName: a.b", refused: []string{"spec.eksNodegroupName", "a.b"}},
		{name: "role too long", reason: "IAM's limit", spec: "roleName: " + strings.Repeat("r", 65), refused: []string{"spec.roleName", "64"}},
		{name: "role by its ARN", reason: "the field is a name", spec: "roleName: 'arn:aws:iam::1:role/x'", refused: []string{"spec.roleName"}},
		{name: "role in a path", reason: "the path of a role that is made", only: "v1beta2",
			spec: "rolePath: /nodes/eu/\nrolePermissionsBoundary: 'arn:aws:iam::1:policy/b'"},
		{name: "path without end", reason: "IAM refuses it", only: "v1beta2", spec: "rolePath: /nodes",
			refused: []string{"spec.rolePath", "/nodes"}},
		{name: "boundary by its name", reason: "IAM wants an ARN", only: "v1beta2", spec: "rolePermissionsBoundary: b",
			refused: []string{"spec.rolePermissionsBoundary"}},

		{name: "access from somewhere", reason: "the rule's other side", spec: "remoteAccess: {sshKeyName: k, sourceSecurityGroups: [sg-1]}"},
		{name: "access from everywhere and somewhere", reason: "which of the two would hold?",
			spec:    "remoteAccess: {public: true, sourceSecurityGroups: [sg-1]}",
			refused: []string{"spec.remoteAccess.sourceSecurityGroups", "public"}},

		{name: "spot", reason: "the field for it", spec: "capacityType: spot\ninstanceTypes: [m5.large, m5a.large]"},
		{name: "one type and several", reason: "which of the two would hold?", spec: "instanceType: m5.large\ninstanceTypes: [m5a.large]",
			refused: []string{"spec.instanceTypes", "one of the two"}},
		{name: "a type twice", reason: "EKS refuses it", spec: "instanceTypes: [m5.large, m5.large]",
			refused: []string{"spec.instanceTypes", "twice"}},
		{name: "twenty-one types", reason: "EKS's limit", spec: "instanceTypes: [" + repeated(21, "t%d") + "]",
			refused: []string{"spec.instanceTypes", "at most 20"}},
		{name: "a capacity of tomorrow", reason: "the message lists what is allowed", spec: "capacityType: SPOT",
			refused: []string{"spec.capacityType", "SPOT", "onDemand", "spot"}},
		{name: "a block without template", reason: "a reservation stands in a template", spec: "capacityType: capacityBlock",
			refused: []string{"spec.capacityType", "awsLaunchTemplate"}},

		{name: "hooks", reason: "taken for older manifests' sake", only: "v1beta2", spec: "lifecycleHooks: [" + hook("") + "]"},
		{name: "a hook that no group takes", reason: "the same rules for both kinds", only: "v1beta2",
			spec: "lifecycleHooks: [" + hook("roleARN: r") + "]", refused: []string{"spec.lifecycleHooks[0]", "set both or none"}},
		{name: "repair", reason: "a switch", only: "v1beta2", spec: "nodeRepairConfig: {enabled: true}"},
		{name: "a tag of Muster's", reason: "it would make the pool's group another owner's", spec: "additionalTags: {'muster.dev/owner': v}",
			refused: []string{"spec.additionalTags", "muster.dev/"}},
	})
}

// TestManagedTemplateRules holds which fields are allowed with a launch template of a managed pool, and in it.
func TestManagedTemplateRules(t *testing.T) {
	t.Parallel()
	const kind = v1beta2.AWSManagedMachinePoolKind
	const template = "awsLaunchTemplate: {instanceType: m5.large}"
	const image = "awsLaunchTemplate: {ami: {id: ami-1}}"
	tryRules(t, kind, template, []ruleCase{
		{name: "a template", reason: "the rule's other side", spec: template},
		{name: "a template with an image", reason: "EKS gives none then", spec: image},
		{name: "an image and its word", reason: "published manifests say so", spec: image + "\namiType: CUSTOM"},
		{name: "an image and a family", reason: "EKS refuses the pair", spec: image + "\namiType: AL2023_x86_64_STANDARD",
			refused: []string{"spec.amiType", "found AL2023_x86_64_STANDARD, must be CUSTOM or absent", "ami.eksLookupType"}},
		{name: "an image looked up and a family", reason: "EKS refuses the pair",
			spec:    "awsLaunchTemplate: {ami: {eksLookupType: AmazonLinux2023}}\namiType: AL2_x86_64",
			refused: []string{"spec.amiType", "must be CUSTOM or absent"}},
		{name: "an image by pattern and a family", reason: "EKS refuses the pair",
			spec: "awsLaunchTemplate: {imageLookupOrg: '1'}\namiType: AL2_x86_64", refused: []string{"spec.amiType", "must be CUSTOM or absent"}},
		{name: "no image and a family", reason: "EKS takes the family of its own images beside a template",
			spec: template + "\namiType: BOTTLEROCKET_ARM_64\namiVersion: 1.31.0-20250101"},
		{name: "no image and its word", reason: "published manifests have it looked up so", spec: template + "\namiType: CUSTOM"},
		{name: "no image and a release", reason: "it is one of EKS's own images", spec: template + "\namiVersion: 1.31.0-20250101"},
		{name: "an image and a release", reason: "EKS refuses the pair", spec: image + "\namiVersion: 1.31.0-20250101",
			refused: []string{"spec.amiVersion", "found 1.31.0-20250101, must be absent", "ami.id"}},
		{name: "an own image and a release", reason: "EKS refuses the pair", spec: template + "\namiType: CUSTOM\namiVersion: 1.31.0-20250101",
			refused: []string{"spec.amiVersion", "must be absent"}},
		{name: "an own image of nowhere", reason: "there is no template to name it", spec: "amiType: CUSTOM",
			refused: []string{"spec.amiType", "CUSTOM needs awsLaunchTemplate"}},
		{name: "instance type", reason: "the proposal's exclusion", spec: "awsLaunchTemplate: {}\ninstanceType: m5.large",
			refused: []string{"spec.instanceType", "set awsLaunchTemplate.instanceType"}},
		{name: "disk size", reason: "the proposal's exclusion", spec: template + "\ndiskSize: 20",
			refused: []string{"spec.diskSize", "set awsLaunchTemplate.rootVolume"}},
		{name: "instance profile", reason: "the proposal's exclusion", spec: "awsLaunchTemplate: {iamInstanceProfile: nodes}",
			refused: []string{"spec.awsLaunchTemplate.iamInstanceProfile", "roleName"}},
		{name: "remote access", reason: "EKS refuses the pair", spec: template + "\nremoteAccess: {sshKeyName: k}",
			refused: []string{"spec.remoteAccess", "set awsLaunchTemplate.sshKeyName"}},
		{name: "several types", reason: "EKS takes them beside a template that names none",
			spec: "awsLaunchTemplate: {}\ninstanceTypes: [m5.large, m5a.large]"},
		{name: "several types and one", reason: "EKS refuses the pair", spec: template + "\ninstanceTypes: [m5a.large]",
			refused: []string{"spec.instanceTypes", "from one of the two"}},
		{name: "spot options", reason: "EKS refuses them", spec: "awsLaunchTemplate: {spotMarketOptions: {}}",
			refused: []string{"spec.awsLaunchTemplate.spotMarketOptions", "set capacityType to spot"}},
		{name: "spot market", reason: "EKS refuses it", only: "v1beta2", spec: "awsLaunchTemplate: {marketType: Spot}",
			refused: []string{"spec.awsLaunchTemplate.marketType", "set capacityType to spot"}},
		{name: "spot on a host", reason: "the cloud refuses it", spec: "awsLaunchTemplate: {placement: {tenancy: host}}\ncapacityType: spot",
			refused: []string{"spec.awsLaunchTemplate.placement", "capacityType is spot"}},
		{name: "spot in a reservation", reason: "spot instances use none", only: "v1beta2",
			spec:    "awsLaunchTemplate: {capacityReservationId: cr-1}\ncapacityType: spot",
			refused: []string{"spec.awsLaunchTemplate.capacityReservationId", "spot"}},
		{name: "a reservation", reason: "EKS launches into it", only: "v1beta2", spec: "awsLaunchTemplate: {capacityReservationId: cr-1}"},
		{name: "a block", reason: "all three belong together", only: "v1beta2",
			spec: "awsLaunchTemplate: {marketType: CapacityBlock, capacityReservationId: cr-1}\ncapacityType: capacityBlock"},
		{name: "a block by half", reason: "EKS must know", only: "v1beta2",
			spec:    "awsLaunchTemplate: {marketType: CapacityBlock, capacityReservationId: cr-1}",
			refused: []string{"spec.awsLaunchTemplate.marketType", "capacityType to be capacityBlock"}},
		{name: "a block by the other half", reason: "there is no reservation", only: "v1beta2", spec: template + "\ncapacityType: capacityBlock",
			refused: []string{"spec.capacityType", "marketType CapacityBlock"}},
		{name: "a brought template and a family", reason: "it may name no image",
			spec: "awsLaunchTemplate: {existing: {id: lt-1, version: 1}}\namiType: AL2023_x86_64_STANDARD"},
		{name: "a brought template and types", reason: "what it names is not known here",
			spec: "awsLaunchTemplate: {existing: {id: lt-1, version: 1}}\namiType: CUSTOM\ninstanceTypes: [m5.large]"},
	})
}

// TestManagedChanges holds what may not be changed later, because EKS can't change it.
func TestManagedChanges(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		a := admissionOf(t, v1beta2.AWSManagedMachinePoolKind, version)
		for _, c := range managedChanges {
			if c.only != "" && c.only != version {
				continue
			}
			t.Run(version+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				text := func(spec string) map[string]any {
					return object(t, kindText(v1beta2.AWSManagedMachinePoolKind, version, spec))
				}
				compare(t, c.reason, a.admit(text(c.new), text(c.old)), c.refused)
			})
		}
	}
	pools := admissionOf(t, v1beta2.AWSMachinePoolKind, "v1beta2")
	for spec, refused := range map[string][]string{
		"awsLaunchTemplate: {existing: {id: lt-2, version: 7}}": nil,
		"awsLaunchTemplate: {instanceType: a}":                  {"spec.awsLaunchTemplate.existing", "another pool"},
	} {
		old := object(t, poolText("v1beta2", "awsLaunchTemplate: {existing: {id: lt-1, version: 1}}"))
		compare(t, "a group may launch from any template that is brought, and none is left behind",
			pools.admit(object(t, poolText("v1beta2", spec)), old), refused)
	}
}

const another = "create another pool"

// managedChanges are changes of an AWSManagedMachinePool, and what refuses them.
var managedChanges = []struct {
	name, reason, old, new string
	refused                []string
	only                   string
}{
	{name: "everything else", reason: "a pool follows its specification", old: "labels: {a: b}",
		new: "labels: {c: d}\ntaints: [{key: a, effect: no-schedule}]\nscaling: {maxSize: 9}\namiVersion: 1.31.0-2\nadditionalTags: {a: " +
			"b}\nroleAdditionalPolicies: ['arn:x']\nupdateConfig: {maxUnavailable: 3, force: true}\nroleName: at-last"},
	{name: "the template's content", reason: "a new version is made of it", old: "awsLaunchTemplate: {instanceType: a}",
		new: "awsLaunchTemplate: {instanceType: b, ami: {id: ami-1}, placement: {tenancy: dedicated}, versionsToKeep: 9}"},
	{name: "name", reason: "EKS can't", old: "eksNodegroupName: a", new: "eksNodegroupName: b",
		refused: []string{"spec.eksNodegroupName", another}},
	{name: "a name at last", reason: "another was taken before", old: "{}", new: "eksNodegroupName: b",
		refused: []string{"spec.eksNodegroupName", another}},
	{name: "subnets", reason: "EKS can't", old: "subnetIDs: [subnet-1]", new: "subnetIDs: [subnet-1, subnet-2]",
		refused: []string{"spec.subnetIDs", another}},
	{name: "zones", reason: "EKS can't", old: "availabilityZones: [a]", new: "{}", refused: []string{"spec.availabilityZones", another}},
	{name: "zones' subnets", reason: "EKS can't", only: "v1beta2", old: "availabilityZoneSubnetType: public",
		new: "availabilityZoneSubnetType: private", refused: []string{"spec.availabilityZoneSubnetType", another}},
	{name: "disk size", reason: "EKS can't", old: "diskSize: 20", new: "diskSize: 30", refused: []string{"spec.diskSize", another}},
	{name: "family", reason: "EKS can't", old: "amiType: AL2_x86_64", new: "amiType: AL2023_x86_64_STANDARD",
		refused: []string{"spec.amiType", another}},
	{name: "a family at last", reason: "EKS took one before", old: "{}", new: "amiType: AL2023_x86_64_STANDARD",
		refused: []string{"spec.amiType", another}},
	{name: "remote access", reason: "EKS can't", old: "{}", new: "remoteAccess: {sshKeyName: k}",
		refused: []string{"spec.remoteAccess", another}},
	{name: "instance type", reason: "EKS can't, and the existing provider said nothing", old: "instanceType: a", new: "instanceType: b",
		refused: []string{"spec.instanceType", "with awsLaunchTemplate"}},
	{name: "instance types", reason: "EKS can't", old: "instanceTypes: [a]", new: "instanceTypes: [a, b]",
		refused: []string{"spec.instanceTypes", another}},
	{name: "capacity", reason: "EKS can't", old: "capacityType: onDemand", new: "capacityType: spot",
		refused: []string{"spec.capacityType", another}},
	{name: "role", reason: "EKS can't", old: "roleName: a", new: "roleName: b", refused: []string{"spec.roleName", another}},
	{name: "no role any more", reason: "another would be taken", old: "roleName: a", new: "{}", refused: []string{"spec.roleName", another}},
	{name: "path of the role", reason: "IAM can't", only: "v1beta2", old: "rolePath: /a/", new: "rolePath: /b/",
		refused: []string{"spec.rolePath", another}},
	{name: "a template at last", reason: "EKS can't", old: "{}", new: "awsLaunchTemplate: {}",
		refused: []string{"spec.awsLaunchTemplate", another}},
	{name: "no template any more", reason: "EKS can't", old: "awsLaunchTemplate: {}", new: "{}",
		refused: []string{"spec.awsLaunchTemplate", another}},
	{name: "another template's name", reason: "EKS can't", old: "awsLaunchTemplate: {name: one}", new: "awsLaunchTemplate: {name: two}",
		refused: []string{"spec.awsLaunchTemplate.name", "can't be changed"}},
	{name: "another version that is brought", reason: "an update like any other",
		old: "awsLaunchTemplate: {existing: {id: lt-1, version: 1}}", new: "awsLaunchTemplate: {existing: {id: lt-1, version: 2}}"},
	{name: "another template that is brought", reason: "EKS can't", old: "awsLaunchTemplate: {existing: {id: lt-1, version: 1}}",
		new: "awsLaunchTemplate: {existing: {id: lt-2, version: 1}}", refused: []string{"spec.awsLaunchTemplate.existing", another}},
	{name: "another template that is brought by name", reason: "EKS can't", old: "awsLaunchTemplate: {existing: {name: abc, version: 1}}",
		new: "awsLaunchTemplate: {existing: {name: abd, version: 1}}", refused: []string{"spec.awsLaunchTemplate.existing", another}},
	{name: "brought at last", reason: "the pool's own would be left behind", old: "awsLaunchTemplate: {}",
		new: "awsLaunchTemplate: {existing: {name: abc, version: 1}}", refused: []string{"spec.awsLaunchTemplate.existing", "another pool"}},
	{name: "what the existing provider filled in", reason: "it sent no family beside an image, and its objects must stay writable",
		old: "awsLaunchTemplate: {ami: {id: ami-1}}\namiType: AL2_x86_64",
		new: "awsLaunchTemplate: {ami: {id: ami-1}}\namiType: AL2_x86_64\nproviderIDList: ['aws:///a/i-1']"},
	{name: "what the existing provider filled in beside a look-up", reason: "as above",
		old: "awsLaunchTemplate: {imageLookupOrg: '1'}\namiType: AL2_x86_64",
		new: "awsLaunchTemplate: {imageLookupOrg: '1', instanceType: b}\namiType: AL2_x86_64"},
	{name: "what the existing provider filled in, put right", reason: "CUSTOM is what it was all along",
		old: "awsLaunchTemplate: {ami: {id: ami-1}}\namiType: AL2_x86_64",
		new: "awsLaunchTemplate: {ami: {id: ami-2}}\namiType: CUSTOM"},
	{name: "what the existing provider filled in beside a template", reason: "as above",
		old: "awsLaunchTemplate: {instanceType: a}\namiType: AL2_x86_64\namiVersion: 1.29.0-1",
		new: "awsLaunchTemplate: {instanceType: b}\namiType: AL2_x86_64\namiVersion: 1.29.0-1\nscaling: {maxSize: 3}"},
	{name: "what the existing provider filled in, taken out", reason: "the pair is put right, and the node group has its family all the same",
		old: "awsLaunchTemplate: {instanceType: a}\namiType: AL2_x86_64\namiVersion: 1.29.0-1",
		new: "awsLaunchTemplate: {instanceType: a}"},
	{name: "another family beside a template", reason: "EKS can't",
		old:     "awsLaunchTemplate: {instanceType: a}\namiType: AL2_x86_64",
		new:     "awsLaunchTemplate: {instanceType: a}\namiType: AL2023_x86_64_STANDARD",
		refused: []string{"spec.amiType", another}},
	{name: "a family beside a template at last", reason: "EKS can't", old: "awsLaunchTemplate: {instanceType: a}",
		new:     "awsLaunchTemplate: {instanceType: a}\namiType: AL2023_x86_64_STANDARD",
		refused: []string{"spec.amiType", another}},
	{name: "a release beside a template at last", reason: "EKS updates it", old: "awsLaunchTemplate: {instanceType: a}",
		new: "awsLaunchTemplate: {instanceType: a}\namiVersion: 1.31.0-1"},
	{name: "another release beside a template", reason: "EKS updates it",
		old: "awsLaunchTemplate: {instanceType: a}\namiVersion: 1.31.0-1",
		new: "awsLaunchTemplate: {instanceType: a}\namiVersion: 1.31.0-2"},
	{name: "an image of EKS's again", reason: "EKS can't", old: "awsLaunchTemplate: {instanceType: a}\namiType: CUSTOM",
		new: "awsLaunchTemplate: {instanceType: a}", refused: []string{"spec.amiType", another}},
}

// TestManagedDefaults holds what an API server fills in: what EKS would do without a word, and no family of images.
func TestManagedDefaults(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		a := admissionOf(t, v1beta2.AWSManagedMachinePoolKind, version)
		o := object(t, kindText(v1beta2.AWSManagedMachinePoolKind, version, "awsLaunchTemplate: {networkInterfaces: [{}]}"))
		compare(t, "defaults satisfy the rules", a.admit(o, nil), nil)
		got, err := json.Marshal(o["spec"])
		if err != nil {
			t.Fatal(err)
		}
		want := `{"awsLaunchTemplate":{"networkInterfaces":[{"deviceIndex":0}],"versionsToKeep":3},"capacityType":"onDemand","updateConfig":{"maxUnavailable":1}}`
		if string(got) != want {
			t.Errorf("%s: defaults:\n got %s\nwant %s", version, got, want)
		}
	}
}

// TestManagedStatus holds that what the controllers report fits the schema, so that no status write is ever refused.
func TestManagedStatus(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		o := object(t, kindText(v1beta2.AWSManagedMachinePoolKind, version, "providerID: 'arn:aws:eks:x'\nproviderIDList: ['aws:///a/i-1']")+`
status:
  initialization: {provisioned: true}
  ready: true
  replicas: 2
  desiredReplicas: 2
  state: Scaling
  template: lt-0123:4
  version: v1.31.0
  conditions: [{type: EKSNodegroupReady, status: 'False', reason: WaitingForEKSControlPlane, message: 'x',
    lastTransitionTime: '2026-01-01T00:00:00Z'}]
  instances: [{instanceID: i-1, providerID: 'aws:///us-east-1a/i-1', zone: us-east-1a, state: Running}]
  launchTemplateID: lt-0123
  launchTemplateVersion: "4"
  failureReason: x
  failureMessage: written by another provider
`)
		compare(t, version+" takes the whole status", admissionOf(t, v1beta2.AWSManagedMachinePoolKind, version).admit(o, nil), nil)
	}
}

// repeated returns a list of n items of a pattern with a number in it.
func repeated(n int, pattern string) string {
	items := make([]string, n)
	for k := range items {
		items[k] = fmt.Sprintf(pattern, k)
	}
	return strings.Join(items, ", ")
}
