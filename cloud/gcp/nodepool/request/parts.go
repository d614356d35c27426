package request

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"
)

// The names of parts that code depends on.
const (
	// ImageType is the image of nodes. It can be changed with the version.
	ImageType    = "imageType"
	partMachine  = "machineType"
	partDiskType = "diskType"
	partDiskSize = "diskSizeGb"
	partLinux    = "linuxNodeConfig"
	// Locations are the zones.
	Locations = "locations"
	// ResourceLabels are the labels of the cloud objects.
	ResourceLabels = "resourceLabels"
)

// parts are all parts of a node pool that a specification may name, in the order in which they are changed. The version goes after those
// that roll, with the image: nodes that have what is not wanted any more may never join. Labels, taints, tags and resource labels reach
// nodes that run; a list of zones is never sent with anything else, because GKE may ignore the rest then.
var parts = slices.Concat(rollingParts, partsInPlace, fixedParts)

var rollingParts = []Part{
	{Name: partMachine, Field: "spec.instanceType", Effect: Rolls,
		value: config(func(c *container.NodeConfig) any { return Text(c.MachineType) }),
		put: func(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
			r.MachineType = want.Config.MachineType
		}},
	{Name: partDiskType, Field: "spec.diskType", Effect: Rolls, With: partMachine,
		value: config(func(c *container.NodeConfig) any { return Text(c.DiskType) }),
		put: func(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
			r.DiskType = want.Config.DiskType
		}},
	{Name: partDiskSize, Field: "spec.diskSizeGb", Effect: Rolls, With: partMachine,
		value: config(func(c *container.NodeConfig) any { return Number(c.DiskSizeGb) }),
		put: func(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
			r.DiskSizeGb = want.Config.DiskSizeGb
		}},
	{Name: partLinux, Field: "spec.linuxNodeConfig", Effect: Rolls,
		value: config(func(c *container.NodeConfig) any { return linuxValue(c.LinuxNodeConfig) }),
		put: func(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
			r.LinuxNodeConfig = want.Config.LinuxNodeConfig
		}},
	{Name: ImageType, Field: "spec.imageType", Effect: Rolls,
		value: config(func(c *container.NodeConfig) any { return Text(strings.ToUpper(c.ImageType)) }),
		put: func(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
			r.ImageType = want.Config.ImageType
		}},
}

var partsInPlace = []Part{
	{Name: ResourceLabels, Field: "spec.additionalLabels", differs: exact(resourceLabels), put: putResourceLabels},
	{Name: "labels", Field: "spec.kubernetesLabels", differs: exact(labels), put: putLabels},
	{Name: "taints", Field: "spec.kubernetesTaints", differs: exact(taintsByKey), put: putTaints},
	{Name: "tags", Field: "spec.nodeNetwork.tags", differs: exact(tags), put: putTags},
	{Name: "upgradeSettings", Field: "spec.upgradeSettings", differs: upgradesDiffer,
		put: func(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
			r.UpgradeSettings = completed(want.UpgradeSettings, is.UpgradeSettings)
		}},
	{Name: "autoscaling", Field: "spec.scaling", Method: SetAutoscaling, differs: autoscalingDiffers},
	{Name: "management", Field: "spec.management", Method: SetManagement, differs: managementDiffers},
	{Name: Locations, Field: "spec.nodeLocations",
		value: func(n *container.NodePool) any { return list(n.Locations) },
		put:   func(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) { r.Locations = want.Locations }},
}

var fixedParts = []Part{
	fixed("localSsdCount", "spec.localSsdCount", config(func(c *container.NodeConfig) any { return Number(c.LocalSsdCount) })),
	fixed("maxPodsConstraint", "spec.maxPodsPerNode", func(n *container.NodePool) any {
		if n.MaxPodsConstraint == nil {
			return nil
		}
		return Number(n.MaxPodsConstraint.MaxPodsPerNode)
	}),
	fixed("serviceAccount", "spec.nodeSecurity.serviceAccount.email",
		config(func(c *container.NodeConfig) any { return Text(c.ServiceAccount) })),
	fixed("oauthScopes", "spec.nodeSecurity.serviceAccount.scopes", config(func(c *container.NodeConfig) any { return list(c.OauthScopes) })),
	fixed("sandboxConfig", "spec.nodeSecurity.sandboxType", config(func(c *container.NodeConfig) any {
		if c.SandboxConfig == nil {
			return nil
		}
		return Text(c.SandboxConfig.Type)
	})),
	fixed("shieldedInstanceConfig", "spec.nodeSecurity", config(func(c *container.NodeConfig) any {
		if s := c.ShieldedInstanceConfig; s != nil {
			return [2]bool{s.EnableSecureBoot, s.EnableIntegrityMonitoring}
		}
		return nil
	})),
	fixed("podRange", "spec.nodeNetwork.podRangeName", func(n *container.NodePool) any {
		if n.NetworkConfig == nil {
			return nil
		}
		return Text(n.NetworkConfig.PodRange)
	}),
	fixed("preemptible", "spec.preemptible", config(func(c *container.NodeConfig) any { return truth(c.Preemptible) })),
	fixed("spot", "spec.spot", config(func(c *container.NodeConfig) any { return truth(c.Spot) })),
}

// fixed is a part that GKE changes in no node pool that exists.
func fixed(name, field string, value func(*container.NodePool) any) Part {
	return Part{Name: name, Field: field, Effect: Refused, value: value}
}

// config is a value of the configuration of nodes.
func config(value func(*container.NodeConfig) any) func(*container.NodePool) any {
	return func(n *container.NodePool) any {
		if n.Config == nil {
			return nil
		}
		return value(n.Config)
	}
}

// Text returns a text as the value of a part; nil for the empty one, which names nothing.
func Text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Number returns a number as the value of a part; nil for zero, which names nothing.
func Number(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func truth(b bool) any {
	if !b {
		return nil
	}
	return true
}

// list is a list whose order means nothing.
func list(items []string) any {
	if len(items) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(items))
}

// linuxValue returns the settings of the operating system that specifications name; nil for none, absent or empty.
func linuxValue(c *container.LinuxNodeConfig) any {
	if c == nil {
		return nil
	}
	out := map[string]any{}
	if len(c.Sysctls) > 0 {
		out["sysctls"] = maps.Clone(c.Sysctls)
	}
	if c.CgroupMode != "" && c.CgroupMode != "CGROUP_MODE_UNSPECIFIED" {
		out["cgroupMode"] = c.CgroupMode
	}
	if h := c.Hugepages; h != nil {
		out["hugepages"] = []int64{h.HugepageSize2m, h.HugepageSize1g}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
