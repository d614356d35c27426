package nodeconfig

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// ProvisioningLabel is the label that GKE adds to a node pool's resource labels: on-demand, spot or preemptible.
const ProvisioningLabel = "goog-gke-node-pool-provisioning-model"

// Cluster holds the settings that a node pool takes from its cluster.
type Cluster struct {
	// Locations are the zones of its nodes, Channel its release channel, "" for none.
	Locations []string
	Channel   string
	// Region is the region that it is in.
	Region string
	// Subnetwork is a path such as projects/p/regions/r/subnetworks/s, PodRange the name of the range of its pods' addresses, PodBlock the
	// range.
	Subnetwork, PodRange, PodBlock string
	// MaxPods is the default maximum number of pods per node.
	MaxPods string
}

// Scopes are the access scopes of a node's service account where none are given.
var Scopes = []string{
	"https://www.googleapis.com/auth/devstorage.read_only", "https://www.googleapis.com/auth/logging.write",
	"https://www.googleapis.com/auth/monitoring", "https://www.googleapis.com/auth/service.management.readonly",
	"https://www.googleapis.com/auth/servicecontrol", "https://www.googleapis.com/auth/trace.append",
}

// Defaults adds to the description of a new node pool what GKE adds where it is not given.
func Defaults(pool document.Object, c Cluster) {
	document.Preset(pool, "config", document.Object{})
	ConfigDefaults(document.Under(pool, "config"))
	document.Preset(pool, "locations", document.List(c.Locations))
	document.Preset(pool, "management", document.Object{"autoRepair": true, "autoUpgrade": true})
	document.Preset(pool, "maxPodsConstraint.maxPodsPerNode", c.MaxPods)
	pool["podIpv4CidrSize"] = podRangeSize(number(pool, "maxPodsConstraint.maxPodsPerNode"))
	for path, v := range map[string]any{
		"networkConfig.podIpv4CidrBlock": c.PodBlock, "networkConfig.podRange": c.PodRange, "networkConfig.subnetwork": c.Subnetwork,
		"networkConfig.networkTierConfig.networkTier": "NETWORK_TIER_DEFAULT",
	} {
		document.Preset(pool, path, v)
	}
	delete(document.Under(pool, "networkConfig"), "createPodRange")
	UpgradeDefaults(pool)
	SetAutoscaling(pool, document.Under(pool, "autoscaling"))
}

// ConfigDefaults adds what GKE adds to the configuration of nodes.
func ConfigDefaults(config document.Object) {
	model := "on-demand"
	switch {
	case document.Truth(config, "spot"):
		model = "spot"
	case document.Truth(config, "preemptible"):
		model = "preemptible"
	}
	disk := "pd-balanced"
	if strings.HasPrefix(document.Text(config, "machineType"), "n4-") {
		disk = "hyperdisk-balanced"
	}
	for path, v := range map[string]any{
		"machineType": "e2-medium", "diskSizeGb": 100.0, "diskType": disk, "imageType": "COS_CONTAINERD", "serviceAccount": "default",
		"oauthScopes": document.List(Scopes), "shieldedInstanceConfig": document.Object{"enableIntegrityMonitoring": true},
		"effectiveCgroupMode":                              "EFFECTIVE_CGROUP_MODE_V2",
		"kubeletConfig.insecureKubeletReadonlyPortEnabled": false, "kubeletConfig.maxParallelImagePulls": 2.0,
		"windowsNodeConfig": document.Object{},
	} {
		document.Preset(config, path, v)
	}
	for path, v := range map[string]string{"metadata": "disable-legacy-endpoints", "resourceLabels": ProvisioningLabel} {
		document.Preset(config, path, document.Object{})
		value := "true"
		if v == ProvisioningLabel {
			value = model
		}
		document.Under(config, path)[v] = value
	}
	normalize(config)
}

// normalize writes what can be said in several ways in one.
func normalize(config document.Object) {
	config["imageType"] = strings.ToUpper(document.Text(config, "imageType"))
	config["bootDisk"] = document.Object{"diskType": config["diskType"], "sizeGb": strconv.Itoa(number(config, "diskSizeGb"))}
	if mode := document.Text(config, "linuxNodeConfig.cgroupMode"); mode == "CGROUP_MODE_V1" {
		config["effectiveCgroupMode"] = "EFFECTIVE_CGROUP_MODE_V1"
	} else {
		config["effectiveCgroupMode"] = "EFFECTIVE_CGROUP_MODE_V2"
	}
	for _, name := range []string{"linuxNodeConfig", "taints", "labels", "tags"} {
		if empty(config[name]) {
			delete(config, name)
		}
	}
}

// empty reports whether a value is an object or a list without elements.
func empty(v any) bool {
	switch t := v.(type) {
	case document.Object:
		return len(t) == 0
	case []any:
		return len(t) == 0
	}
	return false
}

// UpgradeDefaults adds what GKE adds to the settings of upgrades.
func UpgradeDefaults(pool document.Object) {
	if document.Under(pool, "upgradeSettings") == nil {
		pool["upgradeSettings"] = document.Object{"maxSurge": 1.0}
	}
	document.Preset(pool, "upgradeSettings.strategy", "SURGE")
	if document.Text(pool, "upgradeSettings.strategy") != "BLUE_GREEN" {
		return
	}
	document.Preset(pool, "upgradeSettings.blueGreenSettings.nodePoolSoakDuration", "3600s")
	document.Preset(pool, "upgradeSettings.blueGreenSettings.standardRolloutPolicy", document.Object{"batchNodeCount": 1.0})
}

// SetAutoscaling sets the settings of a node pool's autoscaler as GKE keeps them: none while it is off.
func SetAutoscaling(pool, settings document.Object) {
	delete(pool, "autoscaling")
	if !document.Truth(settings, "enabled") {
		return
	}
	out := document.Copied(settings)
	if named := document.Text(out, "locationPolicy"); named == "" || named == "LOCATION_POLICY_UNSPECIFIED" {
		out["locationPolicy"] = "BALANCED"
		if spot(pool) {
			out["locationPolicy"] = "ANY"
		}
	}
	pool["autoscaling"] = out
}

func spot(pool document.Object) bool {
	return document.Truth(pool, "config.spot") || document.Truth(pool, "config.preemptible")
}

// podRangeSize is the length of the prefix of a node's range: twice as many addresses as pods, rounded up to a power of two.
func podRangeSize(pods int) float64 {
	return float64(32 - bits.Len(uint(2*pods-1)))
}
