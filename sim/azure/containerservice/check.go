package containerservice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

const (
	// maxNodes bounds a pool, maxPools the pools of a cluster.
	maxNodes, maxPools = 1000, 100
	// leastPods and mostPods bound the pods of a node.
	leastPods, mostPods = 10, 250
)

var (
	linuxName   = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
	windowsName = regexp.MustCompile(`^[a-z][a-z0-9]{0,5}$`)
	clusterName = regexp.MustCompile(`^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$`)
	surgeValue  = regexp.MustCompile(`^[0-9]+%?$`)
)

func invalid(target, format string, args ...any) *arm.Error {
	e := refuse(400, "InvalidParameter", format, args...)
	e.Target = target
	return e
}

// poolDefaults puts there what a new pool has where it was not said.
func poolDefaults(d document.Object) {
	for path, v := range map[string]any{
		"count": float64(1), "osDiskSizeGB": float64(128), "osDiskType": "Managed", "kubeletDiskType": "OS", "maxPods": float64(250),
		"type":          typeScaleSets,
		"scaleDownMode": "Delete", "enableAutoScaling": false, "enableNodePublicIP": false, "mode": modeUser, "osType": "Linux",
		"enableFIPS":               false,
		"upgradeSettings.maxSurge": "10%", "upgradeSettings.maxUnavailable": "0", "powerState.code": powerRunning,
	} {
		document.Preset(d, path, v)
	}
	sku := "Ubuntu"
	if document.Text(d, "osType") == "Windows" {
		sku = "Windows2022"
	}
	document.Preset(d, "osSKU", sku)
	if document.Text(d, "scaleSetPriority") == "Spot" {
		document.Preset(d, "scaleSetEvictionPolicy", "Delete")
		document.Preset(d, "spotMaxPrice", float64(-1))
	}
}

// checkPool refuses a pool that AKS would not have.
func checkPool(name string, d document.Object) error {
	pattern := linuxName
	if document.Text(d, "osType") == "Windows" {
		pattern = windowsName
	}
	switch {
	case !pattern.MatchString(name):
		return invalid("agentPoolProfile.name", "The value of parameter agentPoolProfile.name is invalid. Error details: Agent pool name '%s' "+
			"must match %s. "+
			"Please see https://aka.ms/aks-naming-rules for more details.", name, pattern)
	case document.Text(d, "vmSize") == "":
		return invalid("agentPoolProfile.vmSize", "Required parameter agentPoolProfile.vmSize is missing (null).")
	case document.Text(d, "mode") == modeSystem && document.Text(d, "osType") == "Windows":
		return invalid("agentPoolProfile.osType", "System agent pool '%s' must be Linux.", name)
	case document.Text(d, "mode") == modeSystem && document.Text(d, "scaleSetPriority") == "Spot":
		return invalid("agentPoolProfile.scaleSetPriority", "System agent pool '%s' can't be of priority Spot.", name)
	}
	if err := checkType(d); err != nil {
		return err
	}
	if n, _ := document.Number(d, "maxPods"); n < leastPods || n > mostPods {
		return invalid("agentPoolProfile.maxPods", "The value of parameter agentPoolProfile.maxPods is invalid: %d must be from %d to %d.", n,
			leastPods, mostPods)
	}
	if err := checkCount(d); err != nil {
		return err
	}
	return checkNodes(d)
}

// checkCount holds the count against what a pool of its mode may have, and against its bounds.
func checkCount(d document.Object) error {
	least := 0
	if document.Text(d, "mode") == modeSystem {
		least = 1
	}
	count, _ := document.Number(d, "count")
	_, hasMin := document.Number(d, "minCount")
	_, hasMax := document.Number(d, "maxCount")
	switch autoscaled := document.Truth(d, "enableAutoScaling"); {
	case count < least || count > maxNodes:
		return invalid("agentPoolProfile.count", "The value of parameter agentPoolProfile.count is invalid: %d must be from %d to %d.",
			count, least, maxNodes)
	case autoscaled:
		return checkBounds(d, count, least)
	case hasMin || hasMax:
		return invalid("agentPoolProfile.enableAutoScaling", "Parameters agentPoolProfile.minCount and agentPoolProfile.maxCount need "+
			"agentPoolProfile.enableAutoScaling to be true.")
	}
	return nil
}

// checkBounds holds the bounds of the autoscaler against what they may be, and the count against them.
func checkBounds(d document.Object, count, least int) error {
	lowest, hasMin := document.Number(d, "minCount")
	highest, hasMax := document.Number(d, "maxCount")
	switch {
	case !hasMin || !hasMax || lowest < least || highest > maxNodes || lowest > highest:
		return invalid("agentPoolProfile.minCount", "The values of parameters agentPoolProfile.minCount and agentPoolProfile.maxCount "+
			"are invalid: %d and %d must be from %d to %d, and in order.", lowest, highest, least, maxNodes)
	case count < lowest || count > highest:
		return invalid("agentPoolProfile.count", "The value of parameter agentPoolProfile.count is invalid: %d must be from minCount %d "+
			"to maxCount %d.", count, lowest, highest)
	}
	return nil
}

// checkNodes holds labels and taints against what they may be.
func checkNodes(d document.Object) error {
	for key := range document.Under(d, "nodeLabels") {
		if domain, _, _ := strings.Cut(key, "/"); domain == "kubernetes.azure.com" {
			return invalid("agentPoolProfile.nodeLabels", "Node label '%s' is invalid: the prefix kubernetes.azure.com is reserved for AKS.", key)
		}
	}
	for _, t := range document.Texts(d, "nodeTaints") {
		if _, ok := taintOf(t); !ok {
			return invalid("agentPoolProfile.nodeTaints", "Node taint '%s' is invalid: it must be key=value:effect.", t)
		}
	}
	return checkUpgrades(d)
}

// checkUpgrades holds the upgrade settings against what they may be.
func checkUpgrades(d document.Object) error {
	for _, member := range []string{"maxSurge", "maxUnavailable"} {
		if v := document.Text(d, "upgradeSettings."+member); v != "" && !surgeValue.MatchString(v) {
			return invalid("agentPoolProfile.upgradeSettings."+member,
				"The value of parameter agentPoolProfile.upgradeSettings.%s is invalid: '%s' must be a number or a percentage.", member, v)
		}
	}
	surge, missing := document.Text(d, "upgradeSettings.maxSurge"), document.Text(d, "upgradeSettings.maxUnavailable")
	if strings.TrimSuffix(surge, "%") == "0" && strings.TrimSuffix(missing, "%") == "0" {
		return invalid("agentPoolProfile.upgradeSettings", "Parameters maxSurge and maxUnavailable can't both be 0.")
	}
	soak, _ := document.Number(d, "upgradeSettings.nodeSoakDurationInMinutes")
	drain, given := document.Number(d, "upgradeSettings.drainTimeoutInMinutes")
	if soak < 0 || soak > 30 || given && (drain < 1 || drain > 1440) {
		return invalid("agentPoolProfile.upgradeSettings", "nodeSoakDurationInMinutes must be from 0 to 30, drainTimeoutInMinutes from 1 to "+
			"1440.")
	}
	return nil
}

// fixedMembers are those of a pool that can't be changed once it exists.
var fixedMembers = []string{
	"osDiskSizeGB", "osDiskType", "osType", "maxPods", "type", "vnetSubnetID", "podSubnetID", "enableEncryptionAtHost", "enableUltraSSD",
	"enableNodePublicIP", "nodePublicIPPrefixID", "scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice", "kubeletConfig",
	"kubeletDiskType", "linuxOSConfig",
	"gpuInstanceProfile", "proximityPlacementGroupID", "capacityReservationGroupID", "hostGroupID", "windowsProfile", "enableFIPS",
}

// resizable is the first version in which the size of a pool's machines can be changed.
const resizable = "2026-01-02-preview"

// checkFixed refuses to change what can't be changed.
func checkFixed(before, next document.Object, version string) error {
	for _, member := range fixedMembers {
		if !document.Same(before[member], next[member]) {
			e := refuse(400, "PropertyChangeNotAllowed", "Changing property 'properties.%s' is not allowed.", member)
			e.Target = "properties." + member
			return e
		}
	}
	had, has := document.Texts(before, "availabilityZones"), document.Texts(next, "availabilityZones")
	slices.Sort(had)
	slices.Sort(has)
	if !slices.Equal(had, has) {
		return refuse(400, "PropertyChangeNotAllowed", "Changing property 'properties.availabilityZones' is not allowed.")
	}
	if document.Same(before["vmSize"], next["vmSize"]) {
		return nil
	}
	ofVMs := document.Text(next, "type") == typeVMs
	switch {
	case ofVMs && document.Same(before["orchestratorVersion"], next["orchestratorVersion"]):
		return nil
	case version < resizable && !ofVMs:
		return refuse(400, "PropertyChangeNotAllowed",
			`Changing property "agentPoolProfile.vmSize" is not allowed in an api-version before "%s".`, resizable)
	case !document.Same(before["count"], next["count"]) || !document.Same(before["orchestratorVersion"], next["orchestratorVersion"]):
		return refuse(400, "PropertyChangeNotAllowed", "Changing property 'properties.vmSize' together with the count or the version is not "+
			"allowed.")
	}
	return nil
}

// Settable are the members of a pool that can be changed once it exists.
func Settable() []string {
	return []string{
		"count", "enableAutoScaling", "minCount", "maxCount", "mode", "nodeLabels", "nodeTaints", "orchestratorVersion", "powerState",
		"scaleDownMode", "tags",
		"upgradeSettings", "vmSize",
	}
}
