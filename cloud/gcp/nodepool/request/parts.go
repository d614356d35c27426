package request

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/fields"
)

// The names of parts that code depends on.
const (
	// ImageType is the image of nodes. It can be changed with the version.
	ImageType = "imageType"
	// MachineType, DiskType and DiskSize are parts of the templates of machines too.
	MachineType = "machineType"
	DiskType    = "diskType"
	DiskSize    = "diskSizeGb"
	partLinux   = "linuxNodeConfig"
	partVersion = "nodeVersion"
	// Locations are the zones.
	Locations = "locations"
	// ResourceLabels are the labels of the cloud objects.
	ResourceLabels = "resourceLabels"
)

// The documents of GKE that rows read and write.
type (
	nodeConfig = container.NodeConfig
	update     = container.UpdateNodePoolRequest
)

// Parts are all parts of a node pool that a specification may name, in the order in which they are changed. The version goes after those
// that roll, with the image: nodes that have what is not wanted any more may never join. Labels, taints, tags and resource labels reach
// nodes that run; a list of zones is never sent with anything else, because GKE may ignore the rest then.
var Parts = slices.Concat(rollingParts, partsInPlace, fixedParts)

var rollingParts = Table{
	rolling(Part{Name: MachineType, Spec: "spec.instanceType", Alias: "spec.machineType"}, fields.Text,
		func(c *nodeConfig) *string { return &c.MachineType }, func(r *update) *string { return &r.MachineType }),
	rolling(Part{Name: DiskType, Spec: "spec.diskType", With: MachineType}, fields.Text,
		func(c *nodeConfig) *string { return &c.DiskType }, func(r *update) *string { return &r.DiskType }),
	rolling(Part{Name: DiskSize, Spec: "spec.diskSizeGb", Alias: "spec.diskSizeGB", With: MachineType}, fields.Number,
		func(c *nodeConfig) *int64 { return &c.DiskSizeGb }, func(r *update) *int64 { return &r.DiskSizeGb }),
	rolling(Part{Name: partLinux, Spec: "spec.linuxNodeConfig", Compare: fields.Exact, Owned: fields.ServiceOwned{None: true}}, linuxValue,
		func(c *nodeConfig) **container.LinuxNodeConfig { return &c.LinuxNodeConfig },
		func(r *update) **container.LinuxNodeConfig { return &r.LinuxNodeConfig }),
	rolling(Part{Name: ImageType, Spec: "spec.imageType"}, func(image string) any { return fields.Text(strings.ToUpper(image)) },
		func(c *nodeConfig) *string { return &c.ImageType }, func(r *update) *string { return &r.ImageType }),
	{Name: partVersion, Spec: fields.Version, Effect: fields.Rolls},
}

var partsInPlace = Table{
	{Name: ResourceLabels, Spec: "spec.additionalLabels", Compare: fields.Exact, Owned: ownResourceLabels, Put: putResourceLabels,
		Value: func(n *container.NodePool) any { return configOf(n).ResourceLabels }},
	{Name: "labels", Spec: "spec.kubernetesLabels", Compare: fields.Exact, Owned: ownLabels, Put: putLabels,
		Value: func(n *container.NodePool) any { return configOf(n).Labels }},
	{Name: "taints", Spec: "spec.kubernetesTaints", Compare: fields.Exact, Owned: ownLabels, Put: putTaints, Value: taintValues},
	{Name: "tags", Spec: "spec.nodeNetwork.tags", Compare: fields.Unordered, Owned: fields.ServiceOwned{None: true}, Put: putTags,
		Value: func(n *container.NodePool) any { return configOf(n).Tags }},
	{Name: "upgradeSettings", Spec: "spec.upgradeSettings", Differs: upgradesDiffer,
		Put: func(r *update, want, is *container.NodePool) {
			r.UpgradeSettings = completed(want.UpgradeSettings, is.UpgradeSettings)
		}},
	{Name: "autoscaling", Spec: "spec.scaling", Method: SetAutoscaling, Differs: autoscalingDiffers},
	{Name: "management", Spec: "spec.management", Method: SetManagement, Differs: managementDiffers},
	{Name: Locations, Spec: "spec.nodeLocations", Owned: fields.ServiceOwned{None: true},
		Doc: "adds the nodes of new zones. Machines of zones that are named no more are drained and removed by Muster first (`ZoneRemoved`): " +
			"GKE would delete them with the zone. An emptied list changes nothing",
		Value: func(n *container.NodePool) any { return fields.Set(n.Locations) },
		Put:   func(r *update, want, _ *container.NodePool) { r.Locations = want.Locations }},
}

var fixedParts = Table{
	fixed("nodePool.name", "spec.nodePoolName", nil),
	fixed("localSsdCount", "spec.localSsdCount", config(func(c *nodeConfig) any { return fields.Number(c.LocalSsdCount) })),
	fixed("maxPodsConstraint", "spec.maxPodsPerNode", func(n *container.NodePool) any {
		if n.MaxPodsConstraint == nil {
			return nil
		}
		return fields.Number(n.MaxPodsConstraint.MaxPodsPerNode)
	}),
	fixed("serviceAccount", "spec.nodeSecurity.serviceAccount.email",
		config(func(c *nodeConfig) any { return fields.Text(c.ServiceAccount) })),
	{Name: "oauthScopes", Spec: "spec.nodeSecurity.serviceAccount.scopes", Effect: fields.Fixed, Owned: fields.ServiceOwned{None: true},
		Value: config(func(c *nodeConfig) any { return fields.Set(c.OauthScopes) })},
	fixed("sandboxConfig", "spec.nodeSecurity.sandboxType", config(func(c *nodeConfig) any {
		if c.SandboxConfig == nil {
			return nil
		}
		return fields.Text(c.SandboxConfig.Type)
	})),
	fixed("shieldedInstanceConfig", "spec.nodeSecurity", config(func(c *nodeConfig) any {
		if s := c.ShieldedInstanceConfig; s != nil {
			return [2]bool{s.EnableSecureBoot, s.EnableIntegrityMonitoring}
		}
		return nil
	})),
	fixed("podRange", "spec.nodeNetwork.podRangeName", func(n *container.NodePool) any {
		if n.NetworkConfig == nil {
			return nil
		}
		return fields.Text(n.NetworkConfig.PodRange)
	}),
	fixed("createPodRange", "spec.nodeNetwork.createPodRange", nil),
	fixed("podIpv4CidrBlock", "spec.nodeNetwork.podRangeCidrBlock", nil),
	fixed("preemptible", "spec.preemptible", config(func(c *nodeConfig) any { return fields.Truth(c.Preemptible) })),
	fixed("confidentialNodes", "spec.confidentialCompute", config(func(c *nodeConfig) any {
		if n := c.ConfidentialNodes; n != nil && n.Enabled {
			return fields.Text(cmp.Or(n.ConfidentialInstanceType, "SEV"))
		}
		return nil
	})),
	fixed("spot", "spec.spot", config(func(c *nodeConfig) any { return fields.Truth(c.Spot) })),
}

// rolling completes a part whose change replaces nodes: value is that of what a configuration has at one place and a request at another.
func rolling[T any](p Part, value func(T) any, at func(*nodeConfig) *T, in func(*update) *T) Part {
	p.Effect = fields.Rolls
	p.Value = config(func(c *nodeConfig) any { return value(*at(c)) })
	p.Put = func(r *update, want, _ *container.NodePool) { *in(r) = *at(want.Config) }
	p.Copy = func(to, from *container.NodePool) { *at(to.Config) = *at(configOf(from)) }
	return p
}

// fixed is a part that GKE changes in no node pool that exists. One without a value is not compared: GKE does not show it.
func fixed(name, spec string, value func(*container.NodePool) any) Part {
	return Part{Name: name, Spec: spec, Effect: fields.Fixed, Value: value}
}

// config is a value of the configuration of nodes.
func config(value func(*nodeConfig) any) func(*container.NodePool) any {
	return func(n *container.NodePool) any {
		if n.Config == nil {
			return nil
		}
		return value(n.Config)
	}
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
