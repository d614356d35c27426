package body

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
)

// OfManaged returns the properties that an AzureManagedMachinePool asks for, its patches applied. subnetID is the resource ID of the subnet
// that its nodes are in; empty leaves it to AKS. tags are those of the agent pool with the tags of its owner.
func OfManaged(s *aksv1.AzureManagedMachinePoolSpec, subnetID string, tags azurev1.Tags) (Properties, error) {
	p := Properties{Mode: s.Mode, VMSize: s.SKU, Type: "VirtualMachineScaleSets", Tags: stringMap(tags)}
	for name, value := range map[string]any{
		"osType": s.OSType, "osDiskType": s.OsDiskType, "kubeletDiskType": s.KubeletDiskType, "scaleSetPriority": s.ScaleSetPriority,
		ScaleDownMode: s.ScaleDownMode, "maxPods": s.MaxPods, "enableUltraSSD": s.EnableUltraSSD, "enableFIPS": s.EnableFIPS,
		"enableNodePublicIP": s.EnableNodePublicIP, "nodePublicIPPrefixID": s.NodePublicIPPrefixID,
		"enableEncryptionAtHost": s.EnableEncryptionAtHost, "kubeletConfig": s.KubeletConfig, "upgradeSettings": s.UpgradeSettings,
	} {
		if err := p.set(name, value); err != nil {
			return nil, err
		}
	}
	if s.OSDiskSizeGB != nil && *s.OSDiskSizeGB != 0 {
		p["osDiskSizeGB"] = float64(*s.OSDiskSizeGB)
	}
	if len(s.AvailabilityZones) > 0 {
		p["availabilityZones"] = texts(s.AvailabilityZones)
	}
	if subnetID != "" {
		p["vnetSubnetID"] = subnetID
	}
	p[NodeLabels] = stringMap(s.NodeLabels)
	p[NodeTaints] = texts(taints(s.Taints))
	if s.NodeImageVersion != nil {
		p[NodeImage] = *s.NodeImageVersion
	}
	if s.SpotMaxPrice != nil {
		p["spotMaxPrice"] = s.SpotMaxPrice.AsApproximateFloat64()
	}
	p.scaling(s.Scaling)
	if err := p.linux(s.LinuxOSConfig); err != nil {
		return nil, err
	}
	patched, err := p.patched(s.ASOManagedClustersAgentPoolPatches)
	if err != nil {
		return nil, err
	}
	patched[Mode], patched[Tags] = s.Mode, withOwnTags(patched[Tags], tags)
	return patched.flatSpec(func(property string) string {
		if property == EnableAutoScaling {
			return "spec.scaling"
		}
		return fieldPatches + ": spec." + property
	})
}

// set sets a property from a field of a specification; a nil pointer sets none.
func (p Properties) set(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return fmt.Errorf("decode %s: %w", name, err)
	}
	if decoded != nil {
		p[name] = decoded
	}
	return nil
}

// scaling sets the bounds of AKS's own autoscaler. AKS takes bounds only while the autoscaler is on.
func (p Properties) scaling(s *aksv1.ManagedMachinePoolScaling) {
	p[EnableAutoScaling] = s != nil
	if s == nil {
		return
	}
	if s.MinSize != nil {
		p[MinCount] = float64(*s.MinSize)
	}
	if s.MaxSize != nil {
		p[MaxCount] = float64(*s.MaxSize)
	}
}

// sysctlSpelling are the parts of names that AKS's API spells differently.
var sysctlSpelling = strings.NewReplacer("TCP", "Tcp", "IPLocal", "IpLocal")

// linux sets the settings of the operating system.
func (p Properties) linux(c *aksv1.LinuxOSConfig) error {
	if c == nil {
		return nil
	}
	if err := p.set("linuxOSConfig", c); err != nil {
		return err
	}
	config, _ := p["linuxOSConfig"].(map[string]any)
	sysctls, _ := config["sysctls"].(map[string]any)
	if sysctls == nil {
		return nil
	}
	spelled := make(map[string]any, len(sysctls))
	for name, value := range sysctls {
		spelled[sysctlSpelling.Replace(name)] = value
	}
	config["sysctls"] = spelled
	return nil
}

// taints returns taints as AKS's API writes them: key=value:effect.
func taints(list []aksv1.Taint) []string {
	out := make([]string, 0, len(list))
	for _, t := range list {
		out = append(out, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	slices.Sort(out)
	return out
}

// texts returns strings as a JSON document has them.
func texts(list []string) []any {
	out := make([]any, 0, len(list))
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

// stringMap returns a map of strings as a JSON document has it.
func stringMap[M ~map[string]string](m M) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		out[key] = value
	}
	return out
}

// Bracket brings the bounds of AKS's autoscaler and the count together, because AKS takes none without the other: the count is raised to
// the lower bound, and the upper bound is no less than the present count until the pool has become small enough.
func Bracket(p Properties, count int) {
	if minCount, ok := p[MinCount].(float64); ok && int(minCount) > count {
		p[Count] = minCount
	}
	if maxCount, ok := p[MaxCount].(float64); ok && int(maxCount) < count {
		p[MaxCount] = float64(count)
	}
}
