package nodeconfig

import (
	"github.com/muster-project/muster/sim/document"
)

// recreating are the members of an update, other than the version, that GKE applies by recreating nodes with the pool's upgrade strategy.
var recreating = []string{
	"imageType", "machineType", "diskType", "diskSizeGb", "bootDisk", "kubeletConfig", "linuxNodeConfig", "windowsNodeConfig", "gvnic",
	"gcfsConfig", "confidentialNodes", "containerdConfig", "fastSocket", "loggingConfig", "workloadMetadataConfig", "accelerators",
	"storagePools", "maxRunDuration", "flexStart",
}

// inPlace are the members of an update that existing nodes get too, by the members that hold them.
var inPlace = map[string]string{"labels": "labels.labels", "taints": "taints.taints", "tags": "tags.tags",
	"resourceLabels": "resourceLabels.labels"}

// replaced are those that are replaced as they are: of the configuration of nodes, and of the pool.
var replaced = map[string]string{
	"resourceManagerTags": "config.resourceManagerTags", "taintConfig": "config.taintConfig",
	"consolidationDelay": "config.consolidationDelay",
	"upgradeSettings":    "upgradeSettings", "queuedProvisioning": "queuedProvisioning", "nodeNetworkConfig": "networkConfig",
	"nodeDrainConfig": "nodeDrainConfig",
}

// names are the members of an update that name the node pool or hold a condition.
var names = map[string]bool{"name": true, "projectId": true, "zone": true, "clusterId": true, "nodePoolId": true, "etag": true}

// Empty reports whether an update asks for nothing.
func Empty(update document.Object) bool {
	for member := range update {
		if !names[member] {
			return false
		}
	}
	return true
}

// Update returns a node pool after an update. Its version and locations are not changed. recreate is true if the update changes what nodes
// are created with and can't be given to those that exist.
func Update(pool, update document.Object) (next document.Object, recreate bool) {
	next = document.Copied(pool)
	config := document.Under(next, "config")
	for _, member := range recreating {
		if v, found := update[member]; found {
			config[member] = v
		}
	}
	disk(config, update)
	for member, at := range inPlace {
		if _, found := update[member]; found {
			replace(config, member, document.Dig(update, at))
		}
	}
	for member, at := range replaced {
		if v, found := update[member]; found {
			document.Place(next, at, document.Copied(v))
		}
	}
	if _, found := update["upgradeSettings"]; found {
		UpgradeDefaults(next)
	}
	ConfigDefaults(config)
	for _, member := range recreating {
		recreate = recreate || !document.Same(document.Dig(pool, "config."+member), config[member])
	}
	return next, recreate
}

// disk takes over what an update says of boot disks, in one of two ways.
func disk(config, update document.Object) {
	if kind := document.Text(update, "bootDisk.diskType"); kind != "" {
		config["diskType"] = kind
	}
	for _, at := range []string{"bootDisk.sizeGb", "diskSizeGb"} {
		if size := number(update, at); size > 0 {
			config["diskSizeGb"] = float64(size)
		}
	}
}

// replace replaces a whole member; nothing removes it.
func replace(config document.Object, member string, v any) {
	delete(config, member)
	if v != nil {
		config[member] = document.Copied(v)
	}
}
