package request

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
)

// Wanted returns the node pool that a specification asks for, without its name, version and size. labels are those of its cloud objects.
func Wanted(s *gcpv1.GCPManagedMachinePoolSpec, labels map[string]string) *container.NodePool {
	n := &container.NodePool{
		Locations: slices.Sorted(slices.Values(s.NodeLocations)), Autoscaling: autoscaling(s.Scaling), Management: management(s.Management),
		UpgradeSettings: upgradeSettings(s.UpgradeSettings), NetworkConfig: network(s.NodeNetwork),
		Config: &container.NodeConfig{
			MachineType: s.Machine(), ImageType: deref(s.ImageType), DiskType: string(deref(s.DiskType)),
			DiskSizeGb: s.DiskSize(), LocalSsdCount: int64(deref(s.LocalSsdCount)),
			Labels: s.KubernetesLabels.Strings(), Taints: taints(s.KubernetesTaints), ResourceLabels: labels,
			Preemptible: deref(s.Preemptible), Spot: deref(s.Spot), LinuxNodeConfig: linux(s.LinuxNodeConfig),
		},
	}
	if s.MaxPodsPerNode != nil {
		n.MaxPodsConstraint = &container.MaxPodsConstraint{MaxPodsPerNode: *s.MaxPodsPerNode}
	}
	if s.NodeNetwork != nil {
		n.Config.Tags = slices.Sorted(slices.Values(s.NodeNetwork.Tags))
	}
	secure(n.Config, s.NodeSecurity)
	return n
}

// autoscaling returns the bounds of GKE's autoscaler; one that is off without any.
func autoscaling(s *gcpv1.NodePoolAutoScaling) *container.NodePoolAutoscaling {
	if !s.On() {
		return &container.NodePoolAutoscaling{}
	}
	return &container.NodePoolAutoscaling{
		Enabled: true, MinNodeCount: int64(deref(s.MinCount)), MaxNodeCount: int64(deref(s.MaxCount)),
		TotalMinNodeCount: int64(deref(s.TotalMinCount)), TotalMaxNodeCount: int64(deref(s.TotalMaxCount)),
		LocationPolicy: strings.ToUpper(string(deref(s.LocationPolicy))),
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
		CreatePodRange: deref(c.CreatePodRange), PodRange: deref(c.PodRangeName), PodIpv4CidrBlock: deref(c.PodRangeCidrBlock),
	}
}

// secure sets how nodes are secured.
func secure(n *container.NodeConfig, s *gcpv1.NodeSecurityConfig) {
	if s == nil {
		return
	}
	if a := s.ServiceAccount; a != nil {
		n.ServiceAccount, n.OauthScopes = deref(a.Email), slices.Clone(a.Scopes)
	}
	if kind := deref(s.SandboxType); kind != "" {
		n.SandboxConfig = &container.SandboxConfig{Type: strings.ToUpper(kind)}
	}
	if s.EnableSecureBoot == nil && s.EnableIntegrityMonitoring == nil {
		return
	}
	// GKE monitors the integrity of nodes unless it is told otherwise.
	shielded := &container.ShieldedInstanceConfig{EnableSecureBoot: deref(s.EnableSecureBoot), EnableIntegrityMonitoring: true}
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
	if mode := deref(c.CgroupMode); mode != 0 {
		out.CgroupMode = fmt.Sprintf("CGROUP_MODE_V%d", mode)
	}
	if h := c.Hugepages; h != nil {
		out.Hugepages = &container.HugepagesConfig{HugepageSize2m: int64(deref(h.HugepageSize2m)), HugepageSize1g: int64(deref(h.HugepageSize1g))}
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

// deref returns what a pointer points at, or the zero value.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
