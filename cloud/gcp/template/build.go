package template

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

const (
	// userData is the key of the metadata that machines read their bootstrap data from, dataMost how much a value may hold.
	userData, dataMost = "user-data", 256 << 10
	// defaultAccount and defaultScope are those of instances whose specification names none.
	defaultAccount, defaultScope = "default", "https://www.googleapis.com/auth/cloud-platform"
	terminate, migrate           = "TERMINATE", "MIGRATE"
	// roleNode is the role of machines in labels and network tags, as the ecosystem's provider writes it.
	roleNode = "node"
)

// Source holds the inputs of a template.
type Source struct {
	Owner   cloud.Owner
	Pool    *gcpv1.GCPMachinePoolSpec
	Cluster gcpv1.ClusterView
	// Project is the ID of the project, Group the name of the group.
	Project, Group string
	// Image is the path of the image that machines boot, Family that of the family which it was found by; empty if the specification names
	// the image.
	Image, Family string
	Bootstrap     cloud.Bootstrap
}

// Template is an instance template as it is wanted.
type Template struct {
	pool.Template
	// Name of the template. It follows from its owner, its content and its bootstrap data.
	Name       string
	Properties *compute.InstanceProperties
	parts      fields.Description
	family     string
	sized      bool
}

// Build translates a source.
func (s Source) Build() (Template, error) {
	t := Template{family: s.Family, sized: s.Pool.RootDeviceSize != 0}
	disks, err := s.disks()
	if err != nil {
		return t, err
	}
	if len(s.Bootstrap.Data()) > dataMost {
		return t, cloud.Invalidf("spec.template.spec.bootstrap", "the bootstrap data has %d bytes, and metadata of instances holds %d at most",
			len(s.Bootstrap.Data()), dataMost)
	}
	t.Properties = &compute.InstanceProperties{
		MachineType: s.Pool.InstanceType, CanIpForward: s.Pool.IPForwarding == nil || *s.Pool.IPForwarding == gcpv1.Enabled,
		Disks: disks, NetworkInterfaces: []*compute.NetworkInterface{s.network()}, Metadata: s.metadata(),
		Tags:            &compute.Tags{Items: s.networkTags()},
		ServiceAccounts: []*compute.ServiceAccount{s.account()}, Scheduling: s.scheduling(), GuestAccelerators: s.accelerators(),
		ShieldedInstanceConfig: s.shielded(), ConfidentialInstanceConfig: s.confidential(), ResourceManagerTags: s.managerTags(),
	}
	t.parts = Rows.Describe(document{t.Properties, s.Project})
	t.Content = s.Bootstrap.Content(contentOf(t.parts))
	t.Data = s.Bootstrap.Hash()
	t.Name = Name(s.Group, s.Owner, t.Template)
	t.label(s)
	return t, nil
}

// label puts the labels to the template and its disks. They make no machine another.
func (t *Template) label(s Source) {
	labels := s.Labels()
	for _, d := range t.Properties.Disks {
		if d.Type != scratch {
			d.InitializeParams.Labels = maps.Clone(labels)
		}
	}
	t.Properties.Labels = labels
	labels[LabelContent], labels[LabelData] = strings.ReplaceAll(t.Content, ":", "-"), t.Data
}

// Labels are the labels of everything that belongs to the pool: those of the ecosystem, of the cluster, of the specification, and the
// owner's.
func (s Source) Labels() map[string]string {
	labels := map[string]string{"capg-role": roleNode, LabelValue(labelOwned + s.Cluster.ClusterName): owned}
	for key, value := range s.Cluster.AdditionalLabels {
		if !strings.HasPrefix(key, labelDomain) { // The cluster's kind is another controller's, which takes any key.
			labels[key] = value
		}
	}
	maps.Copy(labels, s.Pool.AdditionalLabels.Strings())
	maps.Copy(labels, OwnerLabels(s.Owner))
	return labels
}

// networkTags are the tags that firewall rules of the cluster select machines by, and those of the specification.
func (s Source) networkTags() []string {
	tags := append([]string{s.Cluster.ClusterName + "-" + roleNode, s.Cluster.ClusterName}, s.Pool.AdditionalNetworkTags...)
	slices.Sort(tags)
	return slices.Compact(tags)
}

// metadata holds the bootstrap data, as it is, and what the specification adds.
func (s Source) metadata() *compute.Metadata {
	items := []*compute.MetadataItems{}
	if !s.Bootstrap.Empty() {
		items = append(items, &compute.MetadataItems{Key: userData, Value: new(string(s.Bootstrap.Data()))})
	}
	for _, item := range s.Pool.AdditionalMetadata {
		value := item.Value
		if value == nil {
			value = new("")
		}
		items = append(items, &compute.MetadataItems{Key: item.Key, Value: value})
	}
	return &compute.Metadata{Items: items}
}

// network is the one interface of machines.
func (s Source) network() *compute.NetworkInterface {
	home := s.Cluster.NetworkProject
	if home == "" {
		home = s.Project
	}
	out := &compute.NetworkInterface{Network: path(s.Cluster.Network, "projects/"+home+"/global/networks/")}
	subnet := s.Cluster.NodeSubnet()
	if s.Pool.Subnet != nil && *s.Pool.Subnet != "" {
		subnet = *s.Pool.Subnet
	}
	if subnet != "" {
		out.Subnetwork = path(subnet, "projects/"+home+"/regions/"+s.Cluster.Region+"/subnetworks/")
	}
	for _, r := range s.Pool.AliasIPRanges {
		out.AliasIpRanges = append(out.AliasIpRanges, &compute.AliasIpRange{IpCidrRange: r.IPCidrRange,
			SubnetworkRangeName: r.SubnetworkRangeName})
	}
	if s.Pool.PublicIP != nil && *s.Pool.PublicIP {
		out.AccessConfigs = []*compute.AccessConfig{{Type: "ONE_TO_ONE_NAT", Name: "External NAT"}}
	}
	return out
}

// path returns the path of a resource that is named by its last part, or by a path or URL.
func path(name, parent string) string {
	if name == "" {
		return ""
	}
	if p := session.ParseResource(name).Path(); p != "" {
		return p
	}
	return parent + session.LastName(name)
}

// account returns the service account of machines.
func (s Source) account() *compute.ServiceAccount {
	out := &compute.ServiceAccount{Email: defaultAccount, Scopes: []string{defaultScope}}
	if is := s.Pool.ServiceAccount; is != nil {
		if is.Email != "" {
			out.Email = is.Email
		}
		if len(is.Scopes) > 0 {
			out.Scopes = is.Scopes
		}
	}
	return out
}

// scheduling returns the provisioning model of machines, and what happens when their host is maintained.
func (s Source) scheduling() *compute.Scheduling {
	out := &compute.Scheduling{OnHostMaintenance: migrate, AutomaticRestart: new(true), ProvisioningModel: "STANDARD"}
	if s.Pool.OnHostMaintenance != nil {
		out.OnHostMaintenance = strings.ToUpper(string(*s.Pool.OnHostMaintenance))
	}
	switch {
	case s.Pool.Spot():
		out.ProvisioningModel, out.AutomaticRestart, out.OnHostMaintenance = "SPOT", new(false), terminate
	case s.Pool.Preemptible:
		out.Preemptible, out.AutomaticRestart, out.OnHostMaintenance = true, new(false), terminate
	}
	if len(s.Pool.GuestAccelerators) > 0 || s.Pool.Confidential() != gcpv1.ConfidentialDisabled {
		out.OnHostMaintenance = terminate
	}
	return out
}

func (s Source) accelerators() []*compute.AcceleratorConfig {
	var out []*compute.AcceleratorConfig
	for _, a := range s.Pool.GuestAccelerators {
		out = append(out, &compute.AcceleratorConfig{AcceleratorType: session.LastName(a.Type), AcceleratorCount: a.Count})
	}
	return out
}

// shielded returns the settings that verify the boot; nil leaves them to Compute Engine.
func (s Source) shielded() *compute.ShieldedInstanceConfig {
	is := s.Pool.ShieldedInstanceConfig
	if is == nil {
		return nil
	}
	return &compute.ShieldedInstanceConfig{
		EnableSecureBoot: is.SecureBoot == gcpv1.Enabled, EnableVtpm: is.VirtualizedTrustedPlatformModule != gcpv1.Disabled,
		EnableIntegrityMonitoring: is.IntegrityMonitoring != gcpv1.Disabled,
		ForceSendFields:           []string{"EnableSecureBoot", "EnableVtpm", "EnableIntegrityMonitoring"},
	}
}

// ConfidentialTypes are the technologies of confidential computing, as Compute Engine names them.
var ConfidentialTypes = map[gcpv1.ConfidentialComputePolicy]string{
	gcpv1.ConfidentialSEV: "SEV", gcpv1.ConfidentialSEVSNP: "SEV_SNP", gcpv1.ConfidentialTDX: "TDX",
}

func (s Source) confidential() *compute.ConfidentialInstanceConfig {
	kind, on := ConfidentialTypes[s.Pool.Confidential()]
	if !on {
		return nil
	}
	return &compute.ConfidentialInstanceConfig{EnableConfidentialCompute: true, ConfidentialInstanceType: kind}
}

// managerTags are the tags of Resource Manager, by their names: the key with what it is defined in, and the value.
func (s Source) managerTags() map[string]string {
	out := map[string]string{}
	for _, t := range slices.Concat(s.Cluster.ResourceManagerTags, s.Pool.ResourceManagerTags) {
		out[t.ParentID+"/"+t.Key] = t.Value
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
