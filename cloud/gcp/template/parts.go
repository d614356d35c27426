package template

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// version is that of the algorithm behind contents, contentDigits their length.
const (
	version       = "v1:"
	contentDigits = 16
)

// Parts are the values that machines get from a template, by their fields of the specification, in a form that what is sent and what
// Compute Engine answers have in common. Labels and bootstrap data are not among them.
type Parts map[string]string

const partImage, partRootSize = "image", "rootDeviceSize"

// PartsOf reads the properties of a template of a project.
func PartsOf(p *compute.InstanceProperties, project string) Parts {
	out := Parts{
		"instanceType":          session.LastName(p.MachineType),
		"ipForwarding":          written(p.CanIpForward),
		"serviceAccounts":       written(p.ServiceAccounts),
		"additionalMetadata":    written(metadataOf(p)),
		"guestAccelerators":     written(acceleratorsOf(p)),
		"confidentialCompute":   written(p.ConfidentialInstanceConfig),
		"additionalNetworkTags": written(tagsOf(p)),
	}
	if p.ShieldedInstanceConfig != nil {
		is := p.ShieldedInstanceConfig
		out["shieldedInstanceConfig"] = written([]bool{is.EnableSecureBoot, is.EnableVtpm, is.EnableIntegrityMonitoring})
	}
	if len(p.ResourceManagerTags) > 0 {
		out["resourceManagerTags"] = written(p.ResourceManagerTags)
	}
	out.addScheduling(p.Scheduling)
	out.addDisks(p.Disks, project)
	out.addNetwork(p.NetworkInterfaces, project)
	return out
}

func (p Parts) addScheduling(s *compute.Scheduling) {
	if s == nil {
		s = &compute.Scheduling{}
	}
	model, maintenance := s.ProvisioningModel, s.OnHostMaintenance
	if s.Preemptible && model != "SPOT" {
		model = "PREEMPTIBLE"
	}
	if model == "" {
		model = "STANDARD"
	}
	if maintenance == "" {
		maintenance = migrate
	}
	p["provisioningModel"], p["onHostMaintenance"] = model, maintenance
}

// addDisks reads the boot disk and the others.
func (p Parts) addDisks(disks []*compute.AttachedDisk, project string) {
	type disk struct {
		Type, Key, Account, Kind string
		Size                     int64
	}
	var others []disk
	for _, d := range disks {
		in := d.InitializeParams
		if in == nil {
			in = &compute.AttachedDiskInitializeParams{}
		}
		is := disk{Type: session.LastName(in.DiskType), Size: in.DiskSizeGb, Kind: d.Type}
		if is.Kind == "PERSISTENT" {
			is.Kind = ""
		}
		if is.Size == 0 {
			is.Size = d.DiskSizeGb
		}
		if is.Type == "" {
			is.Type = "pd-standard"
		}
		if d.DiskEncryptionKey != nil {
			is.Key, is.Account = keyOf(d.DiskEncryptionKey.KmsKeyName), d.DiskEncryptionKey.KmsKeyServiceAccount
		}
		if !d.Boot {
			others = append(others, is)
			continue
		}
		p[partImage] = imagePath(in.SourceImage, project)
		p["rootDeviceType"], p[partRootSize], p["rootDiskEncryptionKey"] = is.Type, written(is.Size), written([]string{is.Key, is.Account})
	}
	p["additionalDisks"] = written(others)
}

// keyOf returns the name of a key without the version that Compute Engine adds.
func keyOf(name string) string {
	name, _, _ = strings.Cut(name, "/cryptoKeyVersions/")
	return name
}

// imagePath returns the path of an image or of a family.
func imagePath(text, project string) string {
	if family, ok := familyPath(text, project); ok {
		return family
	}
	if p := session.ParseResource(text).In(project).Path(); p != "" {
		return p
	}
	return text
}

func (p Parts) addNetwork(interfaces []*compute.NetworkInterface, project string) {
	type network struct{ Network, Subnetwork string }
	networks, public := []network{}, false
	ranges := []compute.AliasIpRange{}
	for _, n := range interfaces {
		is := network{Subnetwork: session.ParseResource(n.Subnetwork).In(project).Path()}
		if is.Subnetwork == "" {
			is.Network = session.ParseResource(n.Network).In(project).Path()
		}
		networks, public = append(networks, is), public || len(n.AccessConfigs) > 0
		for _, r := range n.AliasIpRanges {
			ranges = append(ranges, compute.AliasIpRange{IpCidrRange: r.IpCidrRange, SubnetworkRangeName: r.SubnetworkRangeName})
		}
	}
	p["subnet"], p["publicIP"], p["aliasIPRanges"] = written(networks), written(public), written(ranges)
}

func metadataOf(p *compute.InstanceProperties) map[string]string {
	out := map[string]string{}
	if p.Metadata == nil {
		return out
	}
	for _, item := range p.Metadata.Items {
		if item.Key != userData && item.Value != nil {
			out[item.Key] = *item.Value
		}
	}
	return out
}

func acceleratorsOf(p *compute.InstanceProperties) []compute.AcceleratorConfig {
	out := []compute.AcceleratorConfig{}
	for _, a := range p.GuestAccelerators {
		out = append(out, compute.AcceleratorConfig{AcceleratorType: session.LastName(a.AcceleratorType), AcceleratorCount: a.AcceleratorCount})
	}
	return out
}

func tagsOf(p *compute.InstanceProperties) []string {
	if p.Tags == nil {
		return []string{}
	}
	return slices.Sorted(slices.Values(p.Tags.Items))
}

func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // Strings, numbers and structs of them can always be written.
	}
	return string(text)
}

// content is the hash of the parts.
func (p Parts) content() string { return version + cloud.Digest([]byte(written(p)), contentDigits) }

// Existing is an instance template that exists.
type Existing struct {
	pool.Template
	// Labels are those of its properties.
	Labels map[string]string
	parts  Parts
}

// Read reads a template of a project. Content and data of one that Muster made are those that its labels name.
func Read(is *compute.InstanceTemplate, project string) Existing {
	out := Existing{Template: pool.Template{Ref: is.Name}}
	if is.Properties == nil {
		return out
	}
	out.Labels, out.parts = is.Properties.Labels, PartsOf(is.Properties, project)
	out.Content, out.Data = strings.Replace(out.Labels[LabelContent], "-", ":", 1), out.Labels[LabelData]
	return out
}

// Known reports whether the template could be read.
func (e Existing) Known() bool { return e.parts != nil }

// Against returns an existing template, as it compares with the wanted one: of one that another tool has made the content is the wanted one
// if machines get the same from it.
func (e Existing) Against(want Template) pool.Template {
	out := e.Template
	if out.Content == "" && e.parts != nil {
		if out.Content = e.parts.content(); want.Content != "" && len(e.differing(want)) == 0 {
			out.Content = want.Content
		}
	}
	return out
}

// Differs names the fields of the specification in which an existing template differs from the wanted one.
func (e Existing) Differs(want Template) []string {
	if want.parts == nil || e.parts == nil {
		return nil
	}
	fields := driverkit.FieldsOf(e.differing(want), func(name string) string { return "spec." + name })
	if cloud.OtherBootstrap(e.Content, want.Content) {
		fields = append(fields, "spec.template.spec.bootstrap")
	}
	return fields
}

// differing names the parts that differ. A family stands for the image that was found by it, and a boot disk without a size for one of the
// default size.
func (e Existing) differing(want Template) []string {
	return slices.DeleteFunc(driverkit.Changed(e.parts, want.parts, func(a, b string) bool { return a == b }), func(name string) bool {
		switch name {
		case partImage:
			return want.family != "" && e.parts[name] == want.family
		case partRootSize:
			return !want.sized && e.parts[name] == "0"
		}
		return false
	})
}
