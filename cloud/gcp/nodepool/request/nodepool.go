package request

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"
	"k8s.io/utils/ptr"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// NodePool returns the node pool of a specification, without its name, version and size. labels are those of its cloud objects.
func NodePool(s *gcpv1.GCPManagedMachinePoolSpec, labels map[string]string) *container.NodePool {
	n := &container.NodePool{
		Locations: slices.Sorted(slices.Values(s.NodeLocations)), Autoscaling: autoscaling(s.Scaling), Management: management(s.Management),
		UpgradeSettings: upgradeSettings(s.UpgradeSettings), NetworkConfig: network(s.NodeNetwork),
		Config: &container.NodeConfig{
			MachineType: s.Machine(), ImageType: ptr.Deref(s.ImageType, ""), DiskType: string(ptr.Deref(s.DiskType, "")),
			DiskSizeGb: s.DiskSize(), LocalSsdCount: int64(ptr.Deref(s.LocalSsdCount, 0)),
			Labels: s.KubernetesLabels.Strings(), Taints: taints(s.KubernetesTaints), ResourceLabels: labels,
			Preemptible: ptr.Deref(s.Preemptible, false), Spot: ptr.Deref(s.Spot, false), LinuxNodeConfig: linux(s.LinuxNodeConfig),
		},
	}
	if s.MaxPodsPerNode != nil {
		n.MaxPodsConstraint = &container.MaxPodsConstraint{MaxPodsPerNode: *s.MaxPodsPerNode}
	}
	if s.NodeNetwork != nil {
		n.Config.Tags = slices.Sorted(slices.Values(s.NodeNetwork.Tags))
	}
	secure(n.Config, s.NodeSecurity)
	if kind, on := template.ConfidentialTypes[s.Confidential()]; on {
		n.Config.ConfidentialNodes = &container.ConfidentialNodes{Enabled: true, ConfidentialInstanceType: kind}
	}
	return n
}

// autoscaling returns the bounds of GKE's autoscaler; one that is off without any.
func autoscaling(s *gcpv1.NodePoolAutoScaling) *container.NodePoolAutoscaling {
	if !s.On() {
		return &container.NodePoolAutoscaling{}
	}
	return &container.NodePoolAutoscaling{
		Enabled: true, MinNodeCount: int64(ptr.Deref(s.MinCount, 0)), MaxNodeCount: int64(ptr.Deref(s.MaxCount, 0)),
		TotalMinNodeCount: int64(ptr.Deref(s.TotalMinCount, 0)), TotalMaxNodeCount: int64(ptr.Deref(s.TotalMaxCount, 0)),
		LocationPolicy: strings.ToUpper(string(ptr.Deref(s.LocationPolicy, ""))),
	}
}

func management(m *gcpv1.NodePoolManagement) *container.NodeManagement {
	if m == nil {
		return nil
	}
	return &container.NodeManagement{
		AutoRepair: m.AutoRepair, AutoUpgrade: m.AutoUpgrade, ForceSendFields: []string{"AutoRepair", "AutoUpgrade"},
	}
}

// network returns where pods have their addresses; nil where that is the cluster's matter.
func network(c *gcpv1.NodeNetworkConfig) *container.NodeNetworkConfig {
	if c == nil || c.CreatePodRange == nil && c.PodRangeName == nil && c.PodRangeCidrBlock == nil {
		return nil
	}
	return &container.NodeNetworkConfig{
		CreatePodRange: ptr.Deref(c.CreatePodRange, false), PodRange: ptr.Deref(c.PodRangeName, ""),
		PodIpv4CidrBlock: ptr.Deref(c.PodRangeCidrBlock, ""),
	}
}

// secure sets how nodes are secured.
func secure(n *container.NodeConfig, s *gcpv1.NodeSecurityConfig) {
	if s == nil {
		return
	}
	if a := s.ServiceAccount; a != nil {
		n.ServiceAccount, n.OauthScopes = ptr.Deref(a.Email, ""), slices.Clone(a.Scopes)
	}
	if kind := ptr.Deref(s.SandboxType, ""); kind != "" {
		n.SandboxConfig = &container.SandboxConfig{Type: strings.ToUpper(kind)}
	}
	if s.EnableSecureBoot == nil && s.EnableIntegrityMonitoring == nil {
		return
	}
	// GKE monitors the integrity of nodes by default.
	shielded := &container.ShieldedInstanceConfig{EnableSecureBoot: ptr.Deref(s.EnableSecureBoot, false), EnableIntegrityMonitoring: true}
	if s.EnableIntegrityMonitoring != nil {
		shielded.EnableIntegrityMonitoring = *s.EnableIntegrityMonitoring
	}
	shielded.ForceSendFields = []string{"EnableSecureBoot", "EnableIntegrityMonitoring"}
	n.ShieldedInstanceConfig = shielded
}

// effects are the effects of taints as GKE's API has them.
var effects = map[string]string{"NoSchedule": "NO_SCHEDULE", "PreferNoSchedule": "PREFER_NO_SCHEDULE", "NoExecute": "NO_EXECUTE"}

func taints(list []gcpv1.Taint) []*container.NodeTaint {
	out := make([]*container.NodeTaint, 0, len(list))
	for _, t := range list {
		out = append(out, &container.NodeTaint{Key: t.Key, Value: t.Value, Effect: effects[t.Effect]})
	}
	return out
}

// linux returns the settings of the operating system; nil for none, whether the specification leaves them out or leaves them empty.
func linux(c *gcpv1.LinuxNodeConfig) *container.LinuxNodeConfig {
	if c == nil {
		return nil
	}
	out := &container.LinuxNodeConfig{}
	for _, s := range c.Sysctls {
		if out.Sysctls == nil {
			out.Sysctls = map[string]string{}
		}
		out.Sysctls[s.Parameter] = s.Value
	}
	if mode := ptr.Deref(c.CgroupMode, 0); mode != 0 {
		out.CgroupMode = fmt.Sprintf("CGROUP_MODE_V%d", mode)
	}
	if h := c.Hugepages; h != nil {
		out.Hugepages = &container.HugepagesConfig{
			HugepageSize2m: int64(ptr.Deref(h.HugepageSize2m, 0)), HugepageSize1g: int64(ptr.Deref(h.HugepageSize1g, 0)),
		}
	}
	if out.Sysctls == nil && out.CgroupMode == "" && out.Hugepages == nil {
		return nil
	}
	return out
}

// Labels returns the labels of a node pool's cloud objects: of several values for a key the last is taken.
func Labels(sets ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, set := range sets {
		maps.Copy(out, set)
	}
	return out
}
