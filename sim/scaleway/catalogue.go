package scaleway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// regions are those of the service.
var regions = []string{"fr-par", "nl-ams", "pl-waw"}

// Zones returns the zones of all regions.
func Zones() []string {
	var out []string
	for _, r := range regions {
		for n := 1; n <= 3; n++ {
			out = append(out, fmt.Sprintf("%s-%d", r, n))
		}
	}
	return out
}

// regionOf returns the region of a zone.
func regionOf(zone string) string { return zone[:max(0, strings.LastIndex(zone, "-"))] }

// versions are those that are offered, the newest first.
var versions = []string{"1.36.1", "1.35.3", "1.35.2", "1.34.6", "1.34.2", "1.33.10", "1.33.2", "1.32.13", "1.32.2", "1.31.14", "1.31.2"}

// external is the node type of pools whose machines are not Scaleway's.
const external = "external"

// nodeType is a type of Instances.
type nodeType struct {
	cpus, memoryMiB int
	// local is true if the default root volume is a local one, small if nodes of the type are refused.
	local, small bool
}

// nodeTypes are the types of Instances by name.
var nodeTypes = map[string]nodeType{
	"dev1_s": {cpus: 2, memoryMiB: 2048, local: true, small: true}, "dev1_m": {cpus: 3, memoryMiB: 4096, local: true},
	"dev1_l": {cpus: 4, memoryMiB: 8192, local: true}, "dev1_xl": {cpus: 4, memoryMiB: 12288, local: true},
	"gp1_xs": {cpus: 4, memoryMiB: 16384, local: true}, "gp1_s": {cpus: 8, memoryMiB: 32768, local: true},
	"play2_pico": {cpus: 1, memoryMiB: 2048, small: true}, "play2_nano": {cpus: 2, memoryMiB: 4096}, "play2_micro": {cpus: 4, memoryMiB: 8192},
	"pro2_xxs": {cpus: 2, memoryMiB: 8192}, "pro2_xs": {cpus: 4, memoryMiB: 16384}, "pro2_s": {cpus: 8, memoryMiB: 32768},
	"stardust1_s": {cpus: 1, memoryMiB: 1024, local: true, small: true}, "coparm1_2c_8g": {cpus: 2, memoryMiB: 8192},
	external: {},
}

// normalized returns a node type as the service writes it, commercial as Instances and Nodes do.
func normalized(t string) string { return strings.ReplaceAll(strings.ToLower(t), "-", "_") }
func commercial(t string) string { return strings.ReplaceAll(strings.ToUpper(t), "_", "-") }

// clusterTypes are the types of control planes with how many nodes each has at most.
var clusterTypes = []struct {
	name     string
	maxNodes int
}{
	{"kapsule", 150}, {"kapsule-dedicated-4", 250}, {"kapsule-dedicated-8", 500}, {"kapsule-dedicated-16", 500},
	{"multicloud", 150}, {"multicloud-dedicated-4", 250}, {"multicloud-dedicated-8", 500}, {"multicloud-dedicated-16", 500},
}

// maxNodes returns how many nodes a cluster of a type has at most, 0 for a type that does not exist.
func maxNodes(name string) int {
	for _, t := range clusterTypes {
		if t.name == name {
			return t.maxNodes
		}
	}
	return 0
}

func showClusterTypes(kind string) (out []document.Object) {
	for _, t := range clusterTypes {
		dedicated := strings.Contains(t.name, "dedicated")
		if !strings.HasPrefix(t.name, kind) {
			continue
		}
		shown := document.Object{"name": t.name, "availability": "available", "max_nodes": t.maxNodes, "commitment_delay": "0s", "sla": 0,
			"resiliency": "standard", "memory": 4000000000, "dedicated": dedicated, "audit_logs_supported": dedicated}
		if dedicated {
			shown["commitment_delay"], shown["sla"], shown["resiliency"] = "2592000s", 99.5, "high_availability"
		}
		out = append(out, shown)
	}
	return out
}

func listClusterTypes(x *exchange, w *region) (any, error) {
	return x.page(w, "cluster_types", showClusterTypes(""))
}

func listAvailableTypes(x *exchange, _ *region, c *managed.Cluster) (any, error) {
	kind, _, _ := strings.Cut(clusterText(c, "type"), "-")
	types := showClusterTypes(kind)
	return document.Object{"cluster_types": types, "total_count": len(types)}, nil
}

// kubeletArgs are the arguments of kubelets that pools can set, with their types.
var kubeletArgs = document.Object{
	"containerLogMaxFiles": "uint16", "containerLogMaxSize": "quantity", "cpuCFSQuota": "bool", "cpuCFSQuotaPeriod": "duration",
	"cpuManagerPolicy": "enum:none|static", "cpuManagerPolicyOptions": "map[string]string", "evictionMinimumReclaim": "map[string]string",
	"enableDebuggingHandlers": "bool", "evictionHard": "map[string]string",
	"imageGCHighThresholdPercent": "uint32", "imageGCLowThresholdPercent": "uint32", "maxParallelImagePulls": "int32",
	"maxPods": "uint16", "registryBurst": "int32", "registryPullQPS": "int32", "serializeImagePulls": "bool",
}

func showVersion(region, v string) document.Object {
	return document.Object{
		"region": region, "name": v, "label": "Kubernetes " + v, "available_cnis": []string{"cilium", "cilium_native", "calico", "kilo", "none"},
		"available_container_runtimes": []string{"containerd"}, "available_feature_gates": []string{"HPAScaleToZero", "ImageVolume"},
		"available_admission_plugins": []string{"AlwaysPullImages", "PodNodeSelector", "PodTolerationRestriction"},
		"available_kubelet_args":      kubeletArgs, "deprecated_at": "2027-09-04T00:00:00Z", "end_of_life_at": "2027-11-04T00:00:00Z",
		"released_at": "2026-09-04T00:00:00Z",
	}
}

func showVersions(region string, all []string) document.Object {
	out := []document.Object{}
	for _, v := range all {
		out = append(out, showVersion(region, v))
	}
	return document.Object{"versions": out}
}

func listVersions(x *exchange, w *region) (any, error) {
	return showVersions(x.region, w.options.Versions), nil
}

func getVersion(x *exchange, w *region) (any, error) {
	if v := x.Vars["version_name"]; slices.Contains(w.options.Versions, v) {
		return showVersion(x.region, v), nil
	}
	return nil, missing("version", x.Vars["version_name"])
}

func listAvailableVersions(x *exchange, w *region, c *managed.Cluster) (any, error) {
	return showVersions(x.region, managed.Upgrades(w.options.Versions, c.Goal, "")), nil
}
