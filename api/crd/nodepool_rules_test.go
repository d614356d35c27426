package crd_test

import (
	"strings"
	"testing"
)

const nodePoolKind = "GCPManagedMachinePool"

// nodePool returns an object with a specification, whose name GKE takes.
func nodePool(spec string) string {
	if spec == "" {
		spec = "{}"
	}
	return kindText(nodePoolKind, "v1beta1", spec)
}

// nodePoolRulesCases are the cases of TestNodePoolRules.
var nodePoolRulesCases = []ruleCase{
	{name: "the least", reason: "the published flavor has an empty specification"},
	{name: "everything", reason: "each field with an allowed value", spec: `nodePoolName: pool-0
machineType: e2-medium
instanceType: n2-standard-4
diskSizeGb: 100
diskSizeGB: 10
localSsdCount: 1
scaling: {minCount: 0, maxCount: 5, enableAutoscaling: true, locationPolicy: balanced}
nodeLocations: [us-central1-a, us-central1-b]
imageType: COS_CONTAINERD
diskType: pd-ssd
maxPodsPerNode: 110
nodeNetwork: {tags: [web], createPodRange: true, podRangeName: pods, podRangeCidrBlock: /20}
nodeSecurity: {serviceAccount: {email: a@p.iam.gserviceaccount.com, scopes: ['https://www.googleapis.com/auth/cloud-platform']},
  sandboxType: gvisor, enableSecureBoot: true, enableIntegrityMonitoring: true}
kubernetesLabels: {dedicated: kafka, example.com/Team: A_b.c}
kubernetesTaints: [{effect: NoSchedule, key: dedicated, value: kafka}]
additionalLabels: {team: a}
management: {autoUpgrade: false, autoRepair: true}
linuxNodeConfig: {sysctls: [{parameter: net.core.somaxconn, value: '2048'}], cgroupMode: 2, hugepages: {hugepageSize2m: 1024,
  hugepageSize1g: 1}}
preemptible: false
spot: true
upgradeSettings: {strategy: BlueGreen, blueGreenSettings: {standardRolloutPolicy: {batchPercentage: 25, batchSoakDuration: 30s},
  nodePoolSoakDuration: 168h}}
providerIDList: [gce://p/us-central1-a/i]`},
	{name: "an empty name", reason: "another client writes it; the object's name is taken", spec: "nodePoolName: ''"},
	{name: "the default size of a disk", reason: "GKE takes 0 for its default", spec: "diskSizeGb: 0"},
	{name: "no autoscaler", reason: "spec.replicas counts", spec: "scaling: {enableAutoscaling: false}"},
	{name: "an autoscaler without bounds", reason: "the ecosystem takes it", spec: "scaling: {}"},
	{name: "bounds of all zones", reason: "GKE has them", spec: "scaling: {totalMinCount: 0, totalMaxCount: 10}"},
	{name: "surge", reason: "GKE's limit itself is allowed", spec: "upgradeSettings: {strategy: Surge, maxSurge: 15, maxUnavailable: 5}"},

	{name: "a long name", reason: "GKE's limit", spec: "nodePoolName: " + strings.Repeat("a", 41),
		refused: []string{"spec.nodePoolName", "40"}},
	{name: "a name with a dot", reason: "GKE refuses it", spec: "nodePoolName: a.b", refused: []string{"spec.nodePoolName", "should match"}},
	{name: "a small disk", reason: "GKE's limit", spec: "diskSizeGb: 9", refused: []string{"spec.diskSizeGb", "9", "must be at least 10"}},
	{name: "a small disk by the older name", reason: "GKE's limit", spec: "diskSizeGB: 9", refused: []string{"spec.diskSizeGB", "10"}},
	{name: "a negative disk", reason: "it would be taken for the default", spec: "diskSizeGb: -1",
		refused: []string{"spec.diskSizeGb", "-1", "at least 10"}},
	{name: "fewer than no local SSD", reason: "there is nothing below none", spec: "localSsdCount: -1",
		refused: []string{"spec.localSsdCount", "0"}},
	{name: "few pods", reason: "GKE's limit", spec: "maxPodsPerNode: 7", refused: []string{"spec.maxPodsPerNode", "8"}},
	{name: "many pods", reason: "GKE's limit", spec: "maxPodsPerNode: 257", refused: []string{"spec.maxPodsPerNode", "256"}},
	{name: "another disk", reason: "the message lists what is allowed", spec: "diskType: local-ssd",
		refused: []string{"spec.diskType", "pd-standard", "pd-balanced", "hyperdisk-balanced"}},
	{name: "a minimum without the autoscaler", reason: "it would have no effect", spec: "scaling: {enableAutoscaling: false, minCount: 1}",
		refused: []string{"spec.scaling.minCount", "enableAutoscaling is false"}},
	{name: "a maximum without the autoscaler", reason: "it would have no effect", spec: "scaling: {enableAutoscaling: false, maxCount: 1}",
		refused: []string{"spec.scaling.maxCount", "enableAutoscaling is false"}},
	{name: "a total minimum without the autoscaler", reason: "it would have no effect",
		spec:    "scaling: {enableAutoscaling: false, totalMinCount: 1}",
		refused: []string{"spec.scaling.totalMinCount", "enableAutoscaling is false"}},
	{name: "a total maximum without the autoscaler", reason: "it would have no effect",
		spec:    "scaling: {enableAutoscaling: false, totalMaxCount: 1}",
		refused: []string{"spec.scaling.totalMaxCount", "enableAutoscaling is false"}},
	{name: "a policy without the autoscaler", reason: "it would have no effect",
		spec:    "scaling: {enableAutoscaling: false, locationPolicy: any}",
		refused: []string{"spec.scaling.locationPolicy", "enableAutoscaling is false"}},
	{name: "a negative minimum", reason: "there is nothing below none", spec: "scaling: {minCount: -1}",
		refused: []string{"spec.scaling.minCount", "0"}},
	{name: "bounds the wrong way round", reason: "no size is within", spec: "scaling: {minCount: 3, maxCount: 2}",
		refused: []string{"spec.scaling.maxCount", "must be at least minCount"}},
	{name: "total bounds the wrong way round", reason: "no size is within", spec: "scaling: {totalMinCount: 3, totalMaxCount: 2}",
		refused: []string{"spec.scaling.totalMaxCount", "must be at least totalMinCount"}},
	{name: "bounds of both kinds", reason: "GKE refuses it", spec: "scaling: {minCount: 1, totalMaxCount: 2}",
		refused: []string{"spec.scaling.totalMaxCount", "each zone or the whole pool"}},
	{name: "another policy", reason: "the message lists what is allowed", spec: "scaling: {locationPolicy: BALANCED}",
		refused: []string{"spec.scaling.locationPolicy", "balanced", "any"}},
	{name: "one zone twice", reason: "GKE refuses it", spec: "nodeLocations: [a-b, a-b]", refused: []string{"spec.nodeLocations", "twice"}},
	{name: "another effect", reason: "the message lists what is allowed", spec: "kubernetesTaints: [{effect: NO_SCHEDULE, key: k, value: v}]",
		refused: []string{"spec.kubernetesTaints[0].effect", "NoSchedule", "PreferNoSchedule"}},
	{name: "a label with a blank", reason: "the API server refuses it on nodes", spec: "kubernetesLabels: {'a b': c}",
		refused: []string{"spec.kubernetesLabels", "every key must be a label's"}},
	{name: "a resource label in upper case", reason: "Compute Engine refuses it", spec: "additionalLabels: {Team: a}",
		refused: []string{"spec.additionalLabels", "begin with a lower-case letter"}},
	{name: "another version of cgroups", reason: "there are two", spec: "linuxNodeConfig: {cgroupMode: 3}",
		refused: []string{"spec.linuxNodeConfig.cgroupMode", "2"}},
	{name: "one parameter twice", reason: "GKE takes a map",
		spec:    "linuxNodeConfig: {sysctls: [{parameter: a, value: b}, {parameter: a, value: c}]}",
		refused: []string{"spec.linuxNodeConfig.sysctls", "twice"}},
	{name: "spot and preemptible", reason: "GKE refuses it", spec: "preemptible: true\nspot: true",
		refused: []string{"spec.spot", "must not be true when preemptible is true"}},
	{name: "neither surge nor unavailability", reason: "no node could be replaced", spec: "upgradeSettings: {maxSurge: 0, maxUnavailable: 0}",
		refused: []string{"spec.upgradeSettings.maxUnavailable", "at least 1"}},
	{name: "surge over the limit", reason: "GKE's limit", spec: "upgradeSettings: {maxSurge: 15, maxUnavailable: 6}",
		refused: []string{"spec.upgradeSettings.maxSurge", "at most 20"}},
	{name: "surge with blue-green", reason: "it would have no effect", spec: "upgradeSettings: {strategy: BlueGreen, maxSurge: 1}",
		refused: []string{"spec.upgradeSettings.maxSurge", "BlueGreen"}},
	{name: "blue-green settings with surge", reason: "they would have no effect",
		spec:    "upgradeSettings: {blueGreenSettings: {nodePoolSoakDuration: 1h}}",
		refused: []string{"spec.upgradeSettings.blueGreenSettings", "strategy is BlueGreen"}},
	{name: "a batch in both units", reason: "GKE refuses it",
		spec:    "upgradeSettings: {strategy: BlueGreen, blueGreenSettings: {standardRolloutPolicy: {batchPercentage: 10, batchNodeCount: 1}}}",
		refused: []string{"spec.upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchNodeCount", "batchPercentage"}},
	{name: "a long soak", reason: "GKE's limit",
		spec:    "upgradeSettings: {strategy: BlueGreen, blueGreenSettings: {nodePoolSoakDuration: 169h}}",
		refused: []string{"spec.upgradeSettings.blueGreenSettings.nodePoolSoakDuration", "168h"}},
	{name: "another strategy", reason: "the message lists what is allowed", spec: "upgradeSettings: {strategy: SURGE}",
		refused: []string{"spec.upgradeSettings.strategy", "Surge", "BlueGreen"}},
}

// TestNodePoolRules holds the rules that one object shows.
func TestNodePoolRules(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, nodePoolKind, "v1beta1")
	for _, c := range nodePoolRulesCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			compare(t, c.reason, a.admit(object(t, nodePool(c.spec)), nil), c.refused)
			if c.refused == nil {
				compare(t, "left as it is: "+c.reason, a.admit(object(t, nodePool(c.spec)), object(t, nodePool(c.spec))), nil)
			}
		})
	}
}

// TestNodePoolNames holds that an object without nodePoolName has a name that GKE takes.
func TestNodePoolNames(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, nodePoolKind, "v1beta1")
	for name, refused := range map[string]bool{"pool-0": false, strings.Repeat("a", 40): false, strings.Repeat("a", 41): true, "0-pool": true,
		"a.b": true} {
		for spec, counts := range map[string]bool{"": true, "nodePoolName: ''": true, "nodePoolName: pool": false} {
			var want []string
			if refused && counts {
				want = []string{"spec.nodePoolName", "must be set: metadata.name is " + name}
			}
			compare(t, name+" with "+spec, a.admit(object(t, strings.Replace(nodePool(spec), "capa-mp-0", name, 1)), nil), want)
		}
	}
}

// TestNodePoolChanges holds what GKE can't change of a node pool, and what it can.
func TestNodePoolChanges(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, nodePoolKind, "v1beta1")
	for field, values := range map[string][2]string{
		"nodePoolName": {"a", "b"}, "localSsdCount": {"1", "2"}, "maxPodsPerNode": {"30", "60"}, "preemptible": {"true", "false"},
		"spot":                          {"true", "false"},
		"nodeSecurity":                  {"{serviceAccount: {email: a}}", "{serviceAccount: {email: b}}"},
		"nodeNetwork.podRangeName":      {"{podRangeName: a}", "{podRangeName: b}"},
		"nodeNetwork.createPodRange":    {"{createPodRange: true}", "{createPodRange: false}"},
		"nodeNetwork.podRangeCidrBlock": {"{podRangeCidrBlock: /20}", "{podRangeCidrBlock: /21}"},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			top, _, _ := strings.Cut(field, ".")
			from, to := nodePool(top+": "+values[0]), nodePool(top+": "+values[1])
			compare(t, "GKE refuses it", a.admit(object(t, to), object(t, from)), []string{"spec." + field, "can't be changed"})
			compare(t, "GKE can't add it later", a.admit(object(t, from), object(t, nodePool(""))), []string{"spec." + field, "can't be changed"})
		})
	}
	for _, c := range []struct{ reason, from, to string }{
		{"GKE replaces the nodes", "machineType: e2-medium\ndiskSizeGb: 50\ndiskType: pd-ssd",
			"instanceType: n2-standard-4\ndiskSizeGB: 100\ndiskType: pd-balanced"},
		{"GKE changes it in place", "management: {autoUpgrade: true}",
			"management: {autoRepair: true}\nkubernetesLabels: {a: b}\nkubernetesTaints: [{effect: NoExecute, key: k, value: v}]"},
		{"GKE changes the tags alone", "nodeNetwork: {tags: [a], podRangeName: r}", "nodeNetwork: {tags: [b], podRangeName: r}"},
		{"tags may be added", "", "nodeNetwork: {tags: [b]}"},
		{"GKE changes the zones and the autoscaler", "nodeLocations: [a-b]\nscaling: {minCount: 1, maxCount: 2}",
			"nodeLocations: [a-c]\nscaling: {enableAutoscaling: false}\nupgradeSettings: {maxSurge: 2}"},
	} {
		compare(t, c.reason, a.admit(object(t, nodePool(c.to)), object(t, nodePool(c.from))), nil)
	}
}
