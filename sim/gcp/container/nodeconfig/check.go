package nodeconfig

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

const (
	// minPods and maxPods bound the pods of a node, minDisk its disk in GB, maxNodes the nodes of a pool in a zone.
	minPods, maxPods   = 8, 256
	minDisk, maxDisk   = 10, 65536
	maxNodes, maxSurge = 1000, 20
)

var (
	name = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)
	// Images are the image types that are offered, Disks the types of boot disks.
	Images = []string{"COS_CONTAINERD", "UBUNTU_CONTAINERD", "WINDOWS_LTSC_CONTAINERD", "COS", "UBUNTU"}
	disks  = []string{"pd-standard", "pd-ssd", "pd-balanced", "hyperdisk-balanced"}
)

// Check returns the words with which GKE refuses a node pool, "" for one that it takes. The machine type is checked against the zones
// elsewhere.
func Check(pool document.Object, c Cluster) string {
	if !name.MatchString(document.Text(pool, "name")) {
		return fmt.Sprintf("Invalid value for field \"node_pool.name\": %q. Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)'.",
			document.Text(pool, "name"))
	}
	pods := number(pool, "maxPodsConstraint.maxPodsPerNode")
	if pods < minPods || pods > maxPods {
		return fmt.Sprintf("Invalid value for field \"node_pool.max_pods_constraint.max_pods_per_node\": %d. Must be between %d and %d.", pods,
			minPods, maxPods)
	}
	for _, check := range []func() string{
		func() string { return CheckSize(number(pool, "initialNodeCount")) },
		func() string { return CheckConfig(document.Under(pool, "config")) },
		func() string { return CheckLocations(document.Texts(pool, "locations"), c) },
		func() string { return CheckManagement(document.Under(pool, "management"), c.Channel) },
		func() string { return CheckAutoscaling(document.Under(pool, "autoscaling")) },
		func() string { return CheckUpgrades(document.Under(pool, "upgradeSettings")) },
	} {
		if refusal := check(); refusal != "" {
			return refusal
		}
	}
	return ""
}

// CheckSize checks the number of nodes in a zone.
func CheckSize(nodes int) string {
	if nodes < 0 || nodes > maxNodes {
		return fmt.Sprintf("Node_count must be between 0 and %d, got %d.", maxNodes, nodes)
	}
	return ""
}

// CheckConfig checks the configuration of nodes.
func CheckConfig(config document.Object) string {
	size := number(config, "diskSizeGb")
	switch {
	case size < minDisk || size > maxDisk:
		return fmt.Sprintf("Invalid value for field \"node_pool.config.disk_size_gb\": %d. Must be between %d and %d.", size, minDisk, maxDisk)
	case !slices.Contains(disks, document.Text(config, "diskType")):
		return fmt.Sprintf("Disk type %q is not supported.", document.Text(config, "diskType"))
	case !slices.Contains(Images, document.Text(config, "imageType")):
		return fmt.Sprintf("Image type %q is not supported.", document.Text(config, "imageType"))
	case document.Truth(config, "spot") && document.Truth(config, "preemptible"):
		return "Only one of preemptible and spot can be set."
	}
	seen := map[string]bool{}
	for _, t := range document.Objects(config, "taints") {
		id := document.Text(t, "key") + ":" + document.Text(t, "effect")
		if document.Text(t, "key") == "" || seen[id] {
			return fmt.Sprintf("Node taint with key %q and effect %q is invalid: keys are required, and each may have an effect once.",
				document.Text(t, "key"), document.Text(t, "effect"))
		}
		seen[id] = true
	}
	return ""
}

// CheckLocations checks the zones of a node pool.
func CheckLocations(zones []string, c Cluster) string {
	seen := map[string]bool{}
	for _, z := range zones {
		if !strings.HasPrefix(z, c.Region+"-") {
			return fmt.Sprintf("Location %q is not in region %q of the cluster.", z, c.Region)
		}
		if seen[z] {
			return fmt.Sprintf("Location %q is specified more than once.", z)
		}
		seen[z] = true
	}
	if len(zones) == 0 {
		return "Node pool locations must not be empty."
	}
	return ""
}

// CheckManagement checks automatic repairs and upgrades against the release channel of the cluster, which demands both.
func CheckManagement(management document.Object, channel string) string {
	if channel == "" || channel == "UNSPECIFIED" {
		return ""
	}
	for _, flag := range []string{"autoUpgrade", "autoRepair"} {
		if !document.Truth(management, flag) {
			return fmt.Sprintf("%s cannot be false when release_channel %s is set.",
				map[string]string{"autoUpgrade": "Auto_upgrade", "autoRepair": "Auto_repair"}[flag], channel)
		}
	}
	return ""
}

// CheckAutoscaling checks the bounds of the autoscaler.
func CheckAutoscaling(a document.Object) string {
	if !document.Truth(a, "enabled") {
		return ""
	}
	minNodes, maxNodes := number(a, "minNodeCount"), number(a, "maxNodeCount")
	totalMin, totalMax := number(a, "totalMinNodeCount"), number(a, "totalMaxNodeCount")
	zonal, total := minNodes != 0 || maxNodes != 0, totalMin != 0 || totalMax != 0
	switch {
	case zonal && total:
		return "Only one of min/max_node_count and total_min/max_node_count can be set."
	case total:
		return checkBounds("total_", totalMin, totalMax)
	}
	return checkBounds("", minNodes, maxNodes)
}

func checkBounds(prefix string, minNodes, maxNodes int) string {
	if maxNodes >= 1 && minNodes >= 0 && minNodes <= maxNodes {
		return ""
	}
	return fmt.Sprintf("%smax_node_count must be at least 1 and greater than or equal to %smin_node_count, got %d and %d.", prefix,
		prefix, maxNodes,
		minNodes)
}

// CheckUpgrades checks the settings of upgrades.
func CheckUpgrades(u document.Object) string {
	surge, missing := number(u, "maxSurge"), number(u, "maxUnavailable")
	if document.Text(u, "strategy") == "BLUE_GREEN" {
		return checkBlueGreen(u, surge+missing)
	}
	switch {
	case document.Under(u, "blueGreenSettings") != nil:
		return "Blue_green_settings can only be set with the upgrade strategy BLUE_GREEN."
	case surge < 0 || missing < 0 || surge+missing == 0 || surge+missing > maxSurge:
		return fmt.Sprintf("The sum of max_surge and max_unavailable must be between 1 and %d, got %d and %d.", maxSurge, surge, missing)
	}
	return ""
}

func checkBlueGreen(u document.Object, parallel int) string {
	share := fraction(u, "blueGreenSettings.standardRolloutPolicy.batchPercentage")
	switch {
	case parallel != 0:
		return "Max_surge and max_unavailable can only be set with the upgrade strategy SURGE."
	case share < 0 || share > 1:
		return fmt.Sprintf("Batch_percentage must be in the range (0.0, 1.0], got %s.", strconv.FormatFloat(share, 'g', -1, 64))
	}
	return ""
}
