package crd_test

import (
	"strings"
	"testing"
)

const scalewayPoolKind = "ScalewayManagedMachinePool"

// uuid is the ID of a resource of Scaleway, and otherUUID that of another.
const (
	uuid      = "11111111-1111-1111-1111-111111111111"
	otherUUID = "22222222-2222-2222-2222-222222222222"
)

// scalewayPool returns an object with the fields that every one must have, and more.
func scalewayPool(version, more string) string {
	return kindText(scalewayPoolKind, version, "nodeType: PRO2-XXS\nzone: fr-par-1\n"+more)
}

// scalewayRulesCases are the cases of TestScalewayRules.
var scalewayRulesCases = []struct {
	ruleCase
	// newer is true for fields and limits that v1alpha1 does not have.
	newer bool
}{
	{ruleCase: ruleCase{name: "the least", reason: "the published flavor has no more"}},
	{ruleCase: ruleCase{name: "the published flavor", reason: "published manifests apply as they are", spec: "publicIPDisabled: true"}},
	{ruleCase: ruleCase{name: "everything of both versions", reason: "each field with an allowed value", spec: `
placementGroupID: ` + uuid + `
scaling: {autoscaling: true, minSize: 0, maxSize: 5}
autohealing: true
additionalTags: [team=a, "taint=dedicated=kafka:NoSchedule"]
kubeletArgs: {containerLogMaxFiles: '10'}
upgradePolicy: {maxUnavailable: 0, maxSurge: 2}
rootVolumeType: sbs_15k
rootVolumeSizeGB: 20
publicIPDisabled: false
securityGroupID: ` + uuid + `
labels: {dedicated: kafka, example.com/Team: A_b.c}
providerIDList: [scaleway://instance/fr-par-1/` + uuid + `]`}},
	{newer: true, ruleCase: ruleCase{name: "everything else", reason: "each field with an allowed value", spec: `
taints: [{key: dedicated, value: kafka, effect: NoSchedule}, {key: a, effect: NoExecute}]
startupTaints: [{key: example.com/agent, value: 'true', effect: PreferNoSchedule}]
providerID: scaleway://pool/fr-par/` + uuid}},

	{newer: true, ruleCase: ruleCase{name: "no volume", reason: "the ecosystem's limit", spec: "rootVolumeSizeGB: 19",
		refused: []string{"spec.rootVolumeSizeGB", "20"}}},
	{ruleCase: ruleCase{name: "another volume", reason: "the message lists what is allowed", spec: "rootVolumeType: b_ssd",
		refused: []string{"spec.rootVolumeType", "l_ssd", "sbs_5k", "sbs_15k"}}},
	{newer: true, ruleCase: ruleCase{name: "a placement group by name", reason: "the API takes IDs", spec: "placementGroupID: group",
		refused: []string{"spec.placementGroupID"}}},
	{newer: true, ruleCase: ruleCase{name: "a security group by name", reason: "the API takes IDs", spec: "securityGroupID: group",
		refused: []string{"spec.securityGroupID"}}},
	{newer: true, ruleCase: ruleCase{name: "an ID in upper case", reason: "the API shows lower case",
		spec: "securityGroupID: " + strings.ToUpper("aaaaaaaa-1111-1111-1111-111111111111"), refused: []string{"spec.securityGroupID",
			"should match"}}},
	{newer: true, ruleCase: ruleCase{name: "no scaling at all", reason: "the ecosystem's limit", spec: "scaling: {}",
		refused: []string{"spec.scaling", "at least 1 propert"}}},
	{newer: true, ruleCase: ruleCase{name: "a negative minimum", reason: "there is nothing below none", spec: "scaling: {minSize: -1}",
		refused: []string{"spec.scaling.minSize", "0"}}},
	{newer: true, ruleCase: ruleCase{name: "a negative maximum", reason: "there is nothing below none", spec: "scaling: {maxSize: -1}",
		refused: []string{"spec.scaling.maxSize", "0"}}},
	{newer: true, ruleCase: ruleCase{name: "bounds the wrong way round", reason: "no size is within",
		spec: "scaling: {minSize: 3, maxSize: 2}", refused: []string{"spec.scaling.maxSize", "must be at least minSize"}}},
	{newer: true, ruleCase: ruleCase{name: "an upgrade policy without a word", reason: "the ecosystem's limit", spec: "upgradePolicy: {}",
		refused: []string{"spec.upgradePolicy", "at least 1 propert"}}},
	{ruleCase: ruleCase{name: "a negative surge", reason: "there is nothing below none", spec: "upgradePolicy: {maxSurge: -1}",
		refused: []string{"spec.upgradePolicy.maxSurge", "0"}}},
	{ruleCase: ruleCase{name: "a negative unavailability", reason: "there is nothing below none", spec: "upgradePolicy: {maxUnavailable: -1}",
		refused: []string{"spec.upgradePolicy.maxUnavailable", "0"}}},
	{newer: true, ruleCase: ruleCase{name: "neither surge nor unavailability", reason: "no node could be replaced",
		spec:    "upgradePolicy: {maxSurge: 0, maxUnavailable: 0}",
		refused: []string{"spec.upgradePolicy.maxUnavailable", "at least 1 when maxSurge is 0"}}},
	{newer: true, ruleCase: ruleCase{name: "no tags", reason: "the ecosystem's limit", spec: "additionalTags: []",
		refused: []string{"spec.additionalTags", "at least 1"}}},
	{newer: true, ruleCase: ruleCase{name: "many tags", reason: "the ecosystem's limit",
		spec: "additionalTags: [" + strings.Repeat("a, ", 30) + "a]", refused: []string{"spec.additionalTags", "at most 30"}}},
	{newer: true, ruleCase: ruleCase{name: "an empty tag", reason: "the ecosystem's limit", spec: "additionalTags: ['']",
		refused: []string{"spec.additionalTags[0]", "at least 1"}}},
	{newer: true, ruleCase: ruleCase{name: "a long tag", reason: "the ecosystem's limit",
		spec: "additionalTags: [" + strings.Repeat("a", 129) + "]", refused: []string{"spec.additionalTags[0]", "128"}}},
	{ruleCase: ruleCase{name: "a tag of an owner", reason: "it would prove that the pool is another object's",
		spec: "additionalTags: [muster.dev/owner=x]", refused: []string{"spec.additionalTags", "name the owner"}}},
	{ruleCase: ruleCase{name: "a tag of an owner in another spelling", reason: "it would prove that the pool is another object's",
		spec: "additionalTags: [muster-dev-owner=x]", refused: []string{"spec.additionalTags", "name the owner"}}},
	{ruleCase: ruleCase{name: "a tag of the other provider", reason: "it would prove that the pool is another object's",
		spec: "additionalTags: [caps-namespace=x]", refused: []string{"spec.additionalTags", "name the owner"}}},
	{ruleCase: ruleCase{name: "the other provider's name", reason: "it would prove that the pool is another object's",
		spec: "additionalTags: [created-by=x]", refused: []string{"spec.additionalTags", "name the owner"}}},
	{ruleCase: ruleCase{name: "a label with a blank", reason: "the API server refuses it on nodes", spec: "labels: {'a b': c}",
		refused: []string{"spec.labels", "every key must be a label's"}}},
	{newer: true, ruleCase: ruleCase{name: "another effect", reason: "the message lists what is allowed",
		spec: "taints: [{key: k, effect: NO_SCHEDULE}]", refused: []string{"spec.taints[0].effect", "NoSchedule", "PreferNoSchedule"}}},
	{newer: true, ruleCase: ruleCase{name: "a startup taint without an effect", reason: "no default is better than another",
		spec: "startupTaints: [{key: k}]", refused: []string{"spec.startupTaints[0].effect", "Required"}}},
	{newer: true, ruleCase: ruleCase{name: "a taint with a blank", reason: "the API server refuses it on nodes",
		spec: "taints: [{key: 'a b', effect: NoExecute}]", refused: []string{"spec.taints[0].key", "should match"}}},
	{ruleCase: ruleCase{name: "unknown field", reason: "a slip of the pen must not go unnoticed", spec: "nodetype: a",
		refused: []string{"spec.nodetype", "unknown field"}}},
}

// TestScalewayRules holds the rules that one object shows.
func TestScalewayRules(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1alpha1", "v1alpha2"} {
		a := admissionOf(t, scalewayPoolKind, version)
		for _, c := range scalewayRulesCases {
			if c.newer && version == "v1alpha1" {
				continue
			}
			t.Run(version+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				is := object(t, scalewayPool(version, c.spec))
				compare(t, c.reason, a.admit(is, nil), c.refused)
				if c.refused == nil {
					compare(t, "left as it is: "+c.reason, a.admit(is, object(t, scalewayPool(version, c.spec))), nil)
				}
			})
		}
	}
}

// TestScalewayRequired holds the fields that every object must have, and their limits.
func TestScalewayRequired(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, scalewayPoolKind, "v1alpha2")
	for spec, refused := range map[string][]string{
		"nodeType: external\nzone: fr-par-1":                   nil,
		"nodeType: PRO2-XXS\nzone: nl-ams-3":                   nil,
		"zone: fr-par-1":                                       {"spec.nodeType", "Required"},
		"nodeType: PRO2-XXS":                                   {"spec.zone", "Required"},
		"nodeType: a\nzone: fr-par-1":                          {"spec.nodeType", "at least 2"},
		"nodeType: PRO2-XXS\nzone: us-east-1a":                 {"spec.zone"},
		"nodeType: PRO2-XXS\nzone: fr-parr-1":                  {"spec.zone", "should match"},
		"zone: fr-par-1\nnodeType: " + strings.Repeat("a", 31): {"spec.nodeType", "30"},
	} {
		compare(t, spec, a.admit(object(t, kindText(scalewayPoolKind, "v1alpha2", spec)), nil), refused)
	}
}

// TestScalewayNames holds that an object has a name that the ecosystem takes.
func TestScalewayNames(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1alpha1", "v1alpha2"} {
		a := admissionOf(t, scalewayPoolKind, version)
		for name, refused := range map[string][]string{
			"pool-0": nil, "0-pool": nil, strings.Repeat("a", 63): nil,
			strings.Repeat("a", 64): {"name must be between 1 and 63 characters"}, "a.b": {"name must be a valid DNS label"},
		} {
			compare(t, name, a.admit(object(t, strings.Replace(scalewayPool(version, ""), "capa-mp-0", name, 1)), nil), refused)
		}
	}
}

// TestScalewayChanges holds what Kapsule can't change of a pool, and what it can.
func TestScalewayChanges(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1alpha1", "v1alpha2"} {
		a := admissionOf(t, scalewayPoolKind, version)
		for field, values := range map[string][2]string{
			"placementGroupID": {uuid, otherUUID}, "rootVolumeType": {"sbs_5k", "l_ssd"}, "rootVolumeSizeGB": {"20", "30"},
			"publicIPDisabled": {"true", "false"},
		} {
			t.Run(version+"/"+field, func(t *testing.T) {
				t.Parallel()
				from, to := scalewayPool(version, field+": "+values[0]), scalewayPool(version, field+": "+values[1])
				compare(t, "Kapsule can't change it", a.admit(object(t, to), object(t, from)), []string{"spec." + field, "Value is immutable"})
				none := scalewayPool(version, "")
				compare(t, "Kapsule can't add it", a.admit(object(t, from), object(t, none)), []string{"spec." + field, "cannot be added or removed"})
				compare(t, "Kapsule can't remove it", a.admit(object(t, none), object(t, from)),
					[]string{"spec." + field, "cannot be added or removed"})
			})
		}
		for field, values := range map[string][2]string{"nodeType": {"PRO2-XXS", "PRO2-XS"}, "zone": {"fr-par-1", "fr-par-2"}} {
			from := scalewayPool(version, "")
			compare(t, field, a.admit(object(t, strings.Replace(from, values[0], values[1], 1)), object(t, from)),
				[]string{"spec." + field, "Value is immutable"})
		}
		for _, c := range []struct{ reason, from, to string }{
			{"the API changes it", "securityGroupID: " + uuid, "securityGroupID: " + otherUUID},
			{"the API sets it", "", "securityGroupID: " + uuid},
			{"the group stays as it is", "securityGroupID: " + uuid, ""},
			{"the API changes it in place", "scaling: {autoscaling: true}\nautohealing: true",
				"upgradePolicy: {maxSurge: 1}\nadditionalTags: [a]\nkubeletArgs: {a: b}\nlabels: {a: b}"},
		} {
			compare(t, c.reason, a.admit(object(t, scalewayPool(version, c.to)), object(t, scalewayPool(version, c.from))), nil)
		}
	}
}
