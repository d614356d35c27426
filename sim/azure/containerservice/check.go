package containerservice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
)

const (
	// maxNodes bounds a pool, maxPools the pools of a cluster.
	maxNodes, maxPools = 1000, 100
	// minPods and maxPods bound the pods of a node.
	minPods, maxPods = 10, 250
	// maxDisk is the largest OS disk in GB.
	maxDisk = 2048
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
		"scaleDownMode": "Delete", "enableNodePublicIP": false, "mode": modeUser, "osType": "Linux",
		"enableFIPS":                false,
		"powerState.code":           powerRunning,
		"securityProfile.sshAccess": "LocalUser", "securityProfile.enableVTPM": false, "securityProfile.enableSecureBoot": false,
	} {
		document.Preset(d, path, v)
	}
	sku := "Ubuntu"
	if document.Text(d, "osType") == "Windows" {
		sku = "Windows2022"
	}
	document.Preset(d, "osSKU", sku)
	if spot(d) {
		document.Preset(d, "scaleSetEvictionPolicy", "Delete")
		document.Preset(d, "spotMaxPrice", float64(-1))
		return
	}
	document.Preset(d, "upgradeSettings.maxSurge", "10%")
	document.Preset(d, "upgradeSettings.maxUnavailable", "0")
}

// spotRefuses are the settings of upgrades that a pool of spot machines can't have, as AKS words them.
var spotRefuses = map[string]string{"maxSurge": "max surge", "maxUnavailable": "maxUnavailable"}

// spot reports whether the nodes of a pool are spot machines.
func spot(d document.Object) bool { return document.Text(d, "scaleSetPriority") == "Spot" }

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
	case document.Text(d, "mode") == modeSystem && spot(d):
		return invalid("agentPoolProfile.scaleSetPriority", "System agent pool '%s' can't be of priority Spot.", name)
	}
	if err := checkType(d); err != nil {
		return err
	}
	if err := checkNumbers(d); err != nil {
		return err
	}
	if err := checkCount(d); err != nil {
		return err
	}
	return checkNodes(d)
}

// checkNumbers holds the pods and the disk of a node against what they may be.
func checkNumbers(d document.Object) error {
	if n, _ := document.Number(d, "maxPods"); n < minPods || n > maxPods {
		return invalid("agentPoolProfile.maxPods", "The value of parameter agentPoolProfile.maxPods is invalid: %d must be from %d to %d.", n,
			minPods, maxPods)
	}
	if n, _ := document.Number(d, "osDiskSizeGB"); n < 0 || n > maxDisk {
		return invalid("agentPoolProfile.osDiskSizeGB",
			"The value of parameter agentPoolProfile.osDiskSizeGB is invalid: %d must be from 0 to %d.", n, maxDisk)
	}
	return nil
}

// checkPlace refuses a size and zones that the cluster's location does not have.
func checkPlace(name string, d document.Object, location string) error {
	if size := document.Text(d, "vmSize"); !compute.KnownSize(size) {
		return refuse(400, "VMSizeNotSupported", "The VM size of %s is not allowed in your subscription in location '%s'.", size, location)
	}
	var known []string
	if where := arm.LocationOf(location); where != nil {
		known = where.ZoneNames()
	}
	var unknown []string
	for _, zone := range document.Texts(d, "availabilityZones") {
		if !slices.Contains(known, zone) {
			unknown = append(unknown, zone)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	e := refuse(400, "AvailabilityZoneNotSupported",
		"The zone(s) '%s' for resource '%s' is not supported. The supported zones for location '%s' are '%s'",
		strings.Join(unknown, ","), name, location, strings.Join(known, ","))
	e.Target = "agentPoolProfile.availabilityZones"
	return e
}

// checkCount holds the count against what a pool of its mode may have, and against its bounds.
func checkCount(d document.Object) error {
	minimum := 0
	if document.Text(d, "mode") == modeSystem {
		minimum = 1
	}
	count, _ := document.Number(d, "count")
	_, hasMin := document.Number(d, "minCount")
	_, hasMax := document.Number(d, "maxCount")
	switch autoscaled := document.Truth(d, "enableAutoScaling"); {
	case count < minimum || count > maxNodes:
		return invalid("agentPoolProfile.count", "The value of parameter agentPoolProfile.count is invalid: %d must be from %d to %d.",
			count, minimum, maxNodes)
	case autoscaled:
		return checkBounds(d, count, minimum)
	case hasMin || hasMax:
		return invalid("agentPoolProfile.enableAutoScaling", "Parameters agentPoolProfile.minCount and agentPoolProfile.maxCount need "+
			"agentPoolProfile.enableAutoScaling to be true.")
	}
	return nil
}

// checkBounds holds the bounds of the autoscaler against what they may be, and the count against them.
func checkBounds(d document.Object, count, minimum int) error {
	lowest, hasMin := document.Number(d, "minCount")
	highest, hasMax := document.Number(d, "maxCount")
	switch {
	case !hasMin || !hasMax || lowest < minimum || highest > maxNodes || lowest > highest:
		return invalid("agentPoolProfile.minCount", "The values of parameters agentPoolProfile.minCount and agentPoolProfile.maxCount "+
			"are invalid: %d and %d must be from %d to %d, and in order.", lowest, highest, minimum, maxNodes)
	case count < lowest || count > highest:
		return invalid("agentPoolProfile.count", "The value of parameter agentPoolProfile.count is invalid: %d must be from minCount %d "+
			"to maxCount %d.", count, lowest, highest)
	}
	return nil
}

// checkNodes holds labels and taints against what they may be.
func checkNodes(d document.Object) error {
	for key := range document.Under(d, "nodeLabels") {
		if domain, _, _ := strings.Cut(key, "/"); domain == "kubernetes.azure.com" && (key != spotLabel || !spot(d)) {
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
	if err := checkShares(d); err != nil {
		return err
	}
	surge, missing := document.Text(d, "upgradeSettings.maxSurge"), document.Text(d, "upgradeSettings.maxUnavailable")
	if strings.TrimSuffix(surge, "%") == "0" && strings.TrimSuffix(missing, "%") == "0" {
		return invalid("agentPoolProfile.upgradeSettings", "Parameters maxSurge and maxUnavailable can't both be 0.")
	}
	soak, _ := document.Number(d, "upgradeSettings.nodeSoakDurationInMinutes")
	drain, found := document.Number(d, "upgradeSettings.drainTimeoutInMinutes")
	if soak < 0 || soak > 30 || found && (drain < 1 || drain > 1440) {
		return invalid("agentPoolProfile.upgradeSettings", "nodeSoakDurationInMinutes must be from 0 to 30, drainTimeoutInMinutes from 1 to "+
			"1440.")
	}
	return nil
}

// checkShares holds the numbers of nodes of the upgrade settings against what they may be.
func checkShares(d document.Object) error {
	for _, member := range []string{"maxSurge", "maxUnavailable"} {
		v := document.Text(d, "upgradeSettings."+member)
		if v != "" && spot(d) {
			return invalid("agentPoolProfile.upgradeSettings."+member, "The value of parameter agentPoolProfile.upgradeSettings.%s is invalid. "+
				"Error details: Spot pools can't set %s.", member, spotRefuses[member])
		}
		if v != "" && !surgeValue.MatchString(v) {
			return invalid("agentPoolProfile.upgradeSettings."+member,
				"The value of parameter agentPoolProfile.upgradeSettings.%s is invalid: '%s' must be a number or a percentage.", member, v)
		}
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

// FeatureResize is the feature without which AKS changes no size of a pool that is a scale set.
const FeatureResize = "AgentPoolVMSSResize"

// checkResize refuses to change the size of a pool that is a scale set without the feature, and to a size of other hardware.
func (w *agentPools) checkResize(p *Pool, next document.Object) error {
	from, to := document.Text(p.Doc, "vmSize"), document.Text(next, "vmSize")
	switch {
	case strings.EqualFold(from, to) || p.ofVMs():
		return nil
	case w.features.Get(FeatureResize) == nil:
		e := refuse(400, "PropertyChangeNotAllowed", "Changing property 'properties.vmSize' is not allowed.")
		e.Target = "properties.vmSize"
		return e
	}
	if what := compute.Differing(from, to); what != "" {
		return invalid("agentPoolProfile.vmSize", "The value of parameter agentPoolProfile.vmSize is invalid. Error details: VM size %s can't "+
			"be changed to %s: they differ in %s.", from, to, what)
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
