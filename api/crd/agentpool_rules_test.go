package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	agentPoolKind = "AzureManagedMachinePool"
	// agentPoolLeast is the least that an AzureManagedMachinePool must say.
	agentPoolLeast = "mode: User\nsku: Standard_D2s_v3"
	// agentPoolPrefix is the prefix of the ID of a public IP prefix.
	agentPoolPrefix = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.Network/publicIPPrefixes/"
)

// agentPool returns a specification with some more fields.
func agentPool(fields string) string { return agentPoolLeast + "\n" + fields }

// agentPoolRulesCases are the cases of TestAgentPoolRules.
var agentPoolRulesCases = []ruleCase{
	{name: "the least", reason: "everything else has a default", spec: agentPoolLeast},
	{name: "the published flavor", reason: "published manifests apply as they are", spec: "mode: System\nname: pool0\nsku: Standard_D2s_v3"},
	{name: "everything", reason: "each field with an allowed value", spec: agentPool(`additionalTags: {team: a}
name: pool1
osDiskSizeGB: 0
availabilityZones: ['1', '2']
nodeLabels: {dedicated: kafka}
taints: [{effect: NoSchedule, key: dedicated, value: kafka}]
scaling: {minSize: 0, maxSize: 5}
maxPods: 32
osDiskType: Ephemeral
enableUltraSSD: true
enableNodePublicIP: true
nodePublicIPPrefixID: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.Network/publicipprefixes/p
scaleSetPriority: Spot
spotMaxPrice: '0.04'
scaleDownMode: Deallocate
kubeletDiskType: OS
subnetName: my.sub-net_1
enableFIPS: true
enableEncryptionAtHost: true
asoManagedClustersAgentPoolPatches: ['{"spec": {"enableCustomCATrust": true}}']
upgradeSettings: {drainTimeoutInMinutes: 1440, nodeSoakDurationInMinutes: 30, undrainableNodeBehavior: Cordon}
linuxOSConfig: {swapFileSizeMB: 1500, transparentHugePageEnabled: madvise, transparentHugePageDefrag: defer+madvise,
  sysctls: {fsAioMaxNr: 65536, netIpv4IPLocalPortRange: '32768 60999', netIpv4TCPTwReuse: true}}
kubeletConfig: {cpuManagerPolicy: static, cpuCfsQuota: false, cpuCfsQuotaPeriod: 200ms, imageGcHighThreshold: 90, imageGcLowThreshold: 70, topologyManagerPolicy: best-effort, allowedUnsafeSysctls: ['kernel.shm*', kernel.sem, net.core.somaxconn], failSwapOn: false, containerLogMaxSizeMB: 20, containerLogMaxFiles: 2, podMaxPids: -1}`)},

	{name: "no mode", reason: "AKS has two kinds of pools", spec: "sku: S", refused: []string{"spec.mode", "Required"}},
	{name: "another mode", reason: "the message lists what is allowed", spec: "mode: Gateway\nsku: S",
		refused: []string{"spec.mode", "System", "User"}},
	{name: "no size", reason: "AKS has no default", spec: "mode: User", refused: []string{"spec.sku", "Required"}},
	{name: "a name with a dash", reason: "AKS refuses it", spec: agentPool("name: pool-1"),
		refused: []string{"spec.name", "^[a-z][a-z0-9]*$"}},
	{name: "a name that begins with a digit", reason: "AKS refuses it", spec: agentPool("name: 1pool"),
		refused: []string{"spec.name", "^[a-z][a-z0-9]*$"}},
	{name: "a long name", reason: "AKS's limit on Linux", spec: agentPool("name: abcdefghijklm"), refused: []string{"spec.name", "12"}},
	{name: "a long name on Windows", reason: "AKS's limit on Windows", spec: agentPool("osType: Windows\nname: abcdefg"),
		refused: []string{"spec.name", "at most 6 characters"}},
	{name: "six characters on Windows", reason: "the limit itself is allowed", spec: agentPool("osType: Windows\nname: abcdef")},
	{name: "System on Windows", reason: "AKS's own pods need Linux", spec: "mode: System\nsku: S\nosType: Windows",
		refused: []string{"spec.osType", "must be Linux"}},
	{name: "another system", reason: "the message lists what is allowed", spec: agentPool("osType: BeOS"),
		refused: []string{"spec.osType", "Linux", "Windows"}},
	{name: "few pods", reason: "AKS's limit", spec: agentPool("maxPods: 9"), refused: []string{"spec.maxPods", "10"}},
	{name: "many pods", reason: "AKS's limit", spec: agentPool("maxPods: 251"), refused: []string{"spec.maxPods", "250"}},
	{name: "a surge of spot nodes", reason: "AKS adds none", spec: agentPool("scaleSetPriority: Spot\nupgradeSettings: {maxSurge: '1'}"),
		refused: []string{"spec.upgradeSettings", "Spot"}},
	{name: "a drain timeout of spot nodes", reason: "AKS takes it",
		spec: agentPool("scaleSetPriority: Spot\nupgradeSettings: {drainTimeoutInMinutes: 10}")},
	{name: "the label of spot nodes", reason: "users name what AKS adds",
		spec: agentPool("scaleSetPriority: Spot\nnodeLabels: {kubernetes.azure.com/scalesetpriority: spot}")},
	{name: "a label of AKS", reason: "AKS sets it", spec: agentPool("nodeLabels: {kubernetes.azure.com/mode: system}"),
		refused: []string{"spec.nodeLabels", "kubernetes.azure.com"}},
	{name: "another effect", reason: "the message lists what is allowed", spec: agentPool("taints: [{effect: Never, key: a, value: b}]"),
		refused: []string{"spec.taints[0].effect", "NoSchedule", "NoExecute", "PreferNoSchedule"}},
	{name: "bounds the wrong way round", reason: "no size is within", spec: agentPool("scaling: {minSize: 3, maxSize: 2}"),
		refused: []string{"spec.scaling.minSize", "must not be greater than maxSize"}},
	{name: "System scaled to zero", reason: "AKS refuses it", spec: "mode: System\nsku: S\nscaling: {minSize: 0, maxSize: 2}",
		refused: []string{"spec.scaling.minSize", "at least 1"}},
	{name: "a prefix without addresses", reason: "it would have no effect",
		spec: agentPool("nodePublicIPPrefixID: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/" +
			"Microsoft.Network/publicIPPrefixes/p"),
		refused: []string{"spec.enableNodePublicIP", "must be true"}},
	{name: "a prefix that is none", reason: "AKS refuses it", spec: agentPool("enableNodePublicIP: true\nnodePublicIPPrefixID: p"),
		refused: []string{"spec.nodePublicIPPrefixID", "resource ID of a public IP prefix"}},
	{name: "another disk", reason: "the message lists what is allowed", spec: agentPool("osDiskType: Floppy"),
		refused: []string{"spec.osDiskType", "Ephemeral", "Managed"}},
	{name: "spot nodes for System", reason: "AKS refuses them", spec: "mode: System\nsku: S\nscaleSetPriority: Spot",
		refused: []string{"spec.scaleSetPriority", "User pools"}},
	{name: "another priority", reason: "the message lists what is allowed", spec: agentPool("scaleSetPriority: Low"),
		refused: []string{"spec.scaleSetPriority", "Regular", "Spot"}},
	{name: "a price of a regular node", reason: "it would have no effect", spec: agentPool("spotMaxPrice: 1"),
		refused: []string{"spec.spotMaxPrice", "scaleSetPriority is Spot"}},
	{name: "a price of nothing", reason: "AKS refuses it", spec: agentPool("scaleSetPriority: Spot\nspotMaxPrice: 0"),
		refused: []string{"spec.spotMaxPrice", "more than 0, or -1"}},
	{name: "the price of a regular node", reason: "-1 is the documented value", spec: agentPool("scaleSetPriority: Spot\nspotMaxPrice: -1")},
	{name: "another way of scaling in", reason: "the message lists what is allowed", spec: agentPool("scaleDownMode: Stop"),
		refused: []string{"spec.scaleDownMode", "Deallocate", "Delete"}},
	{name: "another disk of the kubelet", reason: "the message lists what is allowed", spec: agentPool("kubeletDiskType: Floppy"),
		refused: []string{"spec.kubeletDiskType", "OS", "Temporary"}},
	{name: "a long subnet", reason: "Azure's limit", spec: agentPool("subnetName: " + strings.Repeat("a", 81)),
		refused: []string{"spec.subnetName", "80"}},
	{name: "a subnet that ends in a dash", reason: "Azure refuses it", spec: agentPool("subnetName: a-"),
		refused: []string{"spec.subnetName"}},
	{name: "one zone twice", reason: "AKS refuses it", spec: agentPool("availabilityZones: ['1', '1']"),
		refused: []string{"spec.availabilityZones", "twice"}},

	{name: "a period without a unit", reason: "AKS refuses it", spec: agentPool("kubeletConfig: {cpuCfsQuotaPeriod: '100'}"),
		refused: []string{"spec.kubeletConfig.cpuCfsQuotaPeriod", "suffix ms"}},
	{name: "thresholds the wrong way round", reason: "AKS refuses them",
		spec:    agentPool("kubeletConfig: {imageGcLowThreshold: 80, imageGcHighThreshold: 70}"),
		refused: []string{"spec.kubeletConfig.imageGcLowThreshold", "must not be greater than imageGcHighThreshold"}},
	{name: "a threshold over 100", reason: "it is a percentage", spec: agentPool("kubeletConfig: {imageGcHighThreshold: 101}"),
		refused: []string{"spec.kubeletConfig.imageGcHighThreshold", "100"}},
	{name: "a safe sysctl", reason: "AKS allows five patterns", spec: agentPool("kubeletConfig: {allowedUnsafeSysctls: [vm.swappiness]}"),
		refused: []string{"spec.kubeletConfig.allowedUnsafeSysctls", "kernel.shm*"}},
	{name: "one log file", reason: "the kubelet needs two", spec: agentPool("kubeletConfig: {containerLogMaxFiles: 1}"),
		refused: []string{"spec.kubeletConfig.containerLogMaxFiles", "2"}},
	{name: "pids below no limit", reason: "-1 is the least", spec: agentPool("kubeletConfig: {podMaxPids: -2}"),
		refused: []string{"spec.kubeletConfig.podMaxPids", "-1"}},
	{name: "another CPU policy", reason: "the message lists what is allowed", spec: agentPool("kubeletConfig: {cpuManagerPolicy: dynamic}"),
		refused: []string{"spec.kubeletConfig.cpuManagerPolicy", "none", "static"}},
	{name: "another topology policy", reason: "the message lists what is allowed",
		spec:    agentPool("kubeletConfig: {topologyManagerPolicy: any}"),
		refused: []string{"spec.kubeletConfig.topologyManagerPolicy", "best-effort", "restricted", "single-numa-node"}},
	{name: "swap on which the kubelet fails", reason: "the node would not join", spec: agentPool("linuxOSConfig: {swapFileSizeMB: 1}"),
		refused: []string{"spec.linuxOSConfig.swapFileSizeMB", "failSwapOn"}},
	{name: "Linux settings on Windows", reason: "they would have no effect",
		spec:    agentPool("osType: Windows\nlinuxOSConfig: {transparentHugePageEnabled: always}"),
		refused: []string{"spec.linuxOSConfig", "Windows"}},
	{name: "a low sysctl", reason: "AKS's range", spec: agentPool("linuxOSConfig: {sysctls: {fsAioMaxNr: 65535}}"),
		refused: []string{"spec.linuxOSConfig.sysctls.fsAioMaxNr", "65536"}},
	{name: "a high sysctl", reason: "AKS's range", spec: agentPool("linuxOSConfig: {sysctls: {vmVfsCachePressure: 501}}"),
		refused: []string{"spec.linuxOSConfig.sysctls.vmVfsCachePressure", "500"}},
	{name: "ports in words", reason: "two numbers are wanted",
		spec:    agentPool("linuxOSConfig: {sysctls: {netIpv4IPLocalPortRange: low high}}"),
		refused: []string{"netIpv4IPLocalPortRange", "two numbers"}},
	{name: "a low first port", reason: "AKS's range", spec: agentPool("linuxOSConfig: {sysctls: {netIpv4IPLocalPortRange: '1023 33000'}}"),
		refused: []string{"netIpv4IPLocalPortRange", "1024"}},
	{name: "a high last port", reason: "AKS's range", spec: agentPool("linuxOSConfig: {sysctls: {netIpv4IPLocalPortRange: '1024 65001'}}"),
		refused: []string{"netIpv4IPLocalPortRange", "65000"}},
	{name: "ports the wrong way round", reason: "the range is empty",
		spec:    agentPool("linuxOSConfig: {sysctls: {netIpv4IPLocalPortRange: '60000 40000'}}"),
		refused: []string{"netIpv4IPLocalPortRange", "not below the first"}},
	{name: "another way of huge pages", reason: "the message lists what is allowed",
		spec:    agentPool("linuxOSConfig: {transparentHugePageEnabled: defer}"),
		refused: []string{"spec.linuxOSConfig.transparentHugePageEnabled", "always", "madvise", "never"}},
	{name: "another way of defragmenting huge pages", reason: "the message lists what is allowed",
		spec:    agentPool("linuxOSConfig: {transparentHugePageDefrag: often}"),
		refused: []string{"spec.linuxOSConfig.transparentHugePageDefrag", "always", "defer", "madvise", "never"}},

	{name: "neither surge nor unavailability", reason: "no node could be replaced",
		spec:    agentPool("upgradeSettings: {maxSurge: '0', maxUnavailable: 0%}"),
		refused: []string{"spec.upgradeSettings.maxUnavailable", "must not be 0"}},
	{name: "both surge and unavailability", reason: "AKS refuses it",
		spec:    agentPool("upgradeSettings: {maxSurge: '1', maxUnavailable: '1'}"),
		refused: []string{"spec.upgradeSettings.maxUnavailable", "maxSurge to be 0"}},
	{name: "unavailability alone", reason: "AKS's way without surge",
		spec: agentPool("upgradeSettings: {maxSurge: '0', maxUnavailable: '2'}")},
	{name: "a share", reason: "AKS's default is one", spec: agentPool("upgradeSettings: {maxSurge: 33%}")},
	{name: "surge over all", reason: "AKS's limit", spec: agentPool("upgradeSettings: {maxSurge: 101%}"),
		refused: []string{"spec.upgradeSettings.maxSurge", "100%"}},
	{name: "a node image", reason: "as AKS writes it", spec: agentPool("nodeImageVersion: AKSUbuntu-2204gen2containerd-202610.01.0")},
	{name: "its release", reason: "it is what tells node images of a pool apart", spec: agentPool("nodeImageVersion: 202610.01.0")},
	{name: "no release", reason: "nothing could be compared", spec: agentPool("nodeImageVersion: AKSUbuntu-2204gen2containerd"),
		refused: []string{"spec.nodeImageVersion"}},
	{name: "a long soak", reason: "AKS's limit", spec: agentPool("upgradeSettings: {nodeSoakDurationInMinutes: 31}"),
		refused: []string{"spec.upgradeSettings.nodeSoakDurationInMinutes", "30"}},
	{name: "another behavior", reason: "the message lists what is allowed",
		spec:    agentPool("upgradeSettings: {undrainableNodeBehavior: Delete}"),
		refused: []string{"spec.upgradeSettings.undrainableNodeBehavior", "Schedule", "Cordon"}},
}

// TestAgentPoolRules holds the rules of reference 2.3 that one object shows.
func TestAgentPoolRules(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, agentPoolKind, "v1beta1")
	for _, c := range agentPoolRulesCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := kindText(agentPoolKind, "v1beta1", c.spec)
			compare(t, c.reason, a.admit(object(t, text), nil), c.refused)
			if c.refused == nil {
				compare(t, "left as it is: "+c.reason, a.admit(object(t, text), object(t, text)), nil)
			}
		})
	}
}

// TestAgentPoolDefaults holds the defaults of a minimal specification.
func TestAgentPoolDefaults(t *testing.T) {
	t.Parallel()
	o := object(t, kindText(agentPoolKind, "v1beta1", agentPoolLeast))
	compare(t, "it is allowed", admissionOf(t, agentPoolKind, "v1beta1").admit(o, nil), nil)
	for name, want := range map[string]string{"osDiskType": "Managed", "osType": "Linux", "scaleDownMode": "Delete"} {
		if got, _, _ := unstructured.NestedString(o, "spec", name); got != want {
			t.Errorf("spec.%s: want %s by default, got %q", name, want, got)
		}
	}
}

// agentPoolRanges are the least and the greatest numbers that AKS allows, by field; a greatest of 0 is none.
var agentPoolRanges = map[string][2]int{
	"osDiskSizeGB": {0, 2048}, "maxPods": {10, 250}, "scaling.minSize": {0, 1000}, "scaling.maxSize": {1, 1000},
	"upgradeSettings.drainTimeoutInMinutes": {1, 1440}, "upgradeSettings.nodeSoakDurationInMinutes": {0, 30},
	"kubeletConfig.imageGcHighThreshold": {0, 100}, "kubeletConfig.imageGcLowThreshold": {0, 100},
	"kubeletConfig.containerLogMaxSizeMB": {1, 0},
	"kubeletConfig.containerLogMaxFiles":  {2, 0}, "kubeletConfig.podMaxPids": {-1, 0},
	"linuxOSConfig.sysctls.fsAioMaxNr": {65536, 6553500}, "linuxOSConfig.sysctls.fsFileMax": {8192, 12000500},
	"linuxOSConfig.sysctls.fsInotifyMaxUserWatches": {781250, 2097152}, "linuxOSConfig.sysctls.fsNrOpen": {8192, 20000500},
	"linuxOSConfig.sysctls.kernelThreadsMax": {20, 513785}, "linuxOSConfig.sysctls.netCoreNetdevMaxBacklog": {1000, 3240000},
	"linuxOSConfig.sysctls.netCoreOptmemMax": {20480, 4194304}, "linuxOSConfig.sysctls.netCoreRmemDefault": {212992, 134217728},
	"linuxOSConfig.sysctls.netCoreRmemMax": {212992, 134217728}, "linuxOSConfig.sysctls.netCoreSomaxconn": {4096, 3240000},
	"linuxOSConfig.sysctls.netCoreWmemDefault": {212992, 134217728}, "linuxOSConfig.sysctls.netCoreWmemMax": {212992, 134217728},
	"linuxOSConfig.sysctls.netIpv4NeighDefaultGcThresh1": {128, 80000}, "linuxOSConfig.sysctls.netIpv4NeighDefaultGcThresh2": {512, 90000},
	"linuxOSConfig.sysctls.netIpv4NeighDefaultGcThresh3": {1024, 100000}, "linuxOSConfig.sysctls.netIpv4TCPFinTimeout": {5, 120},
	"linuxOSConfig.sysctls.netIpv4TCPKeepaliveProbes": {1, 15}, "linuxOSConfig.sysctls.netIpv4TCPKeepaliveTime": {30, 432000},
	"linuxOSConfig.sysctls.netIpv4TCPMaxSynBacklog": {128, 3240000}, "linuxOSConfig.sysctls.netIpv4TCPMaxTwBuckets": {8000, 1440000},
	"linuxOSConfig.sysctls.netIpv4TCPkeepaliveIntvl": {1, 75}, "linuxOSConfig.sysctls.netNetfilterNfConntrackBuckets": {65536, 147456},
	"linuxOSConfig.sysctls.netNetfilterNfConntrackMax": {131072, 1048576}, "linuxOSConfig.sysctls.vmMaxMapCount": {65530, 262144},
	"linuxOSConfig.sysctls.vmSwappiness": {0, 100}, "linuxOSConfig.sysctls.vmVfsCachePressure": {1, 500},
}

// TestAgentPoolRanges holds the bounds of each number: the bounds are allowed, and values beyond are rejected with the bound in the
// message.
func TestAgentPoolRanges(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, agentPoolKind, "v1beta1")
	for path, bounds := range agentPoolRanges {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			at := func(value int) map[string]any {
				names := strings.Split(path, ".")
				text := fmt.Sprintf("%s: %d", names[len(names)-1], value)
				for k := len(names) - 2; k >= 0; k-- {
					text = names[k] + ": {" + text + "}"
				}
				return object(t, kindText(agentPoolKind, "v1beta1", agentPool(text)))
			}
			compare(t, "the least is allowed", a.admit(at(bounds[0]), nil), nil)
			compare(t, "less is refused", a.admit(at(bounds[0]-1), nil), []string{"spec." + path, fmt.Sprint(bounds[0])})
			if bounds[1] != 0 {
				compare(t, "the greatest is allowed", a.admit(at(bounds[1]), nil), nil)
				compare(t, "more is refused", a.admit(at(bounds[1]+1), nil), []string{"spec." + path, fmt.Sprint(bounds[1])})
			}
		})
	}
}

// TestAgentPoolChanges holds what AKS can't change of an agent pool, and what it can.
func TestAgentPoolChanges(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, agentPoolKind, "v1beta1")
	for field, values := range map[string][2]string{
		"name": {"a", "b"}, "osDiskSizeGB": {"64", "128"}, "availabilityZones": {"['1', '2']", "['1', '3']"}, "maxPods": {"30", "60"},
		"osDiskType": {"Managed", "Ephemeral"},
		"osType":     {"Linux", "Windows"}, "enableUltraSSD": {"true", "false"}, "enableNodePublicIP": {"true", "false"},
		"scaleSetPriority":     {"Regular", "Spot"},
		"nodePublicIPPrefixID": {agentPoolPrefix + "p\nenableNodePublicIP: true", agentPoolPrefix + "q\nenableNodePublicIP: true"},
		"kubeletConfig":        {"{podMaxPids: 100}", "{podMaxPids: 200}"}, "kubeletDiskType": {"OS", "Temporary"},
		"linuxOSConfig": {"{transparentHugePageEnabled: always}", "{transparentHugePageEnabled: never}"},
		"enableFIPS":    {"true", "false"}, "enableEncryptionAtHost": {"true", "false"}, "subnetName": {"a", "b"},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			from, to := kindText(agentPoolKind, "v1beta1", agentPool(field+": "+values[0])),
				kindText(agentPoolKind, "v1beta1", agentPool(field+": "+values[1]))
			compare(t, "AKS refuses it", a.admit(object(t, to), object(t, from)), []string{"spec." + field, "can't be changed"})
		})
	}
	for _, c := range []struct{ reason, from, to string }{
		{"AKS replaces the nodes", "mode: User\nsku: Standard_D2s_v3", "mode: User\nsku: Standard_D4s_v3"},
		{"AKS changes the mode in place", "mode: User\nsku: S", "mode: System\nsku: S"},
		{"the order of zones means nothing", agentPool("availabilityZones: ['1', '2']"), agentPool("availabilityZones: ['2', '1']")},
		{"the subnet may be set once", agentPoolLeast, agentPool("subnetName: a")},
		{"the default of the name may be written", agentPoolLeast, agentPool("name: a")},
		{"the size, labels, taints and settings of upgrades are AKS's to change", agentPool("scaling: {minSize: 1, maxSize: 2}"),
			agentPool("nodeLabels: {a: b}\ntaints: [{effect: NoExecute, key: k, value: v}]\nscaleDownMode: Deallocate\nupgradeSettings: " +
				"{maxSurge: '2'}")},
	} {
		from, to := kindText(agentPoolKind, "v1beta1", c.from), kindText(agentPoolKind, "v1beta1", c.to)
		compare(t, c.reason, a.admit(object(t, to), object(t, from)), nil)
	}
}
