package template

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// version is that of the algorithm behind contents, contentDigits their length.
const (
	version       = "v1:"
	contentDigits = 16
)

const partImage, partRootSize = "image", "rootDeviceSize"

// disk is a disk of a machine.
type disk struct {
	Type, Key, Account, Kind string
	Size                     int64
	image                    string
}

// diskOf reads a disk.
func diskOf(d *compute.AttachedDisk) disk {
	in := d.InitializeParams
	if in == nil {
		in = &compute.AttachedDiskInitializeParams{}
	}
	is := disk{Type: cmp.Or(session.LastName(in.DiskType), "pd-standard"), Size: cmp.Or(in.DiskSizeGb, d.DiskSizeGb), Kind: d.Type,
		image: in.SourceImage}
	if is.Kind == "PERSISTENT" {
		is.Kind = ""
	}
	if d.DiskEncryptionKey != nil {
		is.Key, is.Account = keyOf(d.DiskEncryptionKey.KmsKeyName), d.DiskEncryptionKey.KmsKeyServiceAccount
	}
	return is
}

// ofBoot returns a value of the boot disk; nil where there is none.
func ofBoot(value func(document, disk) any) func(document) any {
	return func(d document) any {
		var out any
		for _, is := range d.Disks {
			if is.Boot {
				out = value(d, diskOf(is))
			}
		}
		return out
	}
}

// additionalDisks returns the disks beside the boot disk.
func additionalDisks(d document) any {
	var others []disk
	for _, is := range d.Disks {
		if !is.Boot {
			others = append(others, diskOf(is))
		}
	}
	return written(others)
}

func provisioningModel(d document) any {
	switch s := d.Scheduling; {
	case s == nil:
		return "STANDARD"
	case s.Preemptible && s.ProvisioningModel != "SPOT":
		return "PREEMPTIBLE"
	default:
		return cmp.Or(s.ProvisioningModel, "STANDARD")
	}
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

// network is the network of an interface; its subnetwork alone where it has one.
type network struct{ Network, Subnetwork string }

func (d document) networks() []network {
	out := []network{}
	for _, n := range d.NetworkInterfaces {
		is := network{Subnetwork: session.ParseResource(n.Subnetwork).In(d.project).Path()}
		if is.Subnetwork == "" {
			is.Network = session.ParseResource(n.Network).In(d.project).Path()
		}
		out = append(out, is)
	}
	return out
}

func (d document) public() bool {
	return slices.ContainsFunc(d.NetworkInterfaces, func(n *compute.NetworkInterface) bool { return len(n.AccessConfigs) > 0 })
}

func (d document) aliasRanges() []compute.AliasIpRange {
	out := []compute.AliasIpRange{}
	for _, n := range d.NetworkInterfaces {
		for _, r := range n.AliasIpRanges {
			out = append(out, compute.AliasIpRange{IpCidrRange: r.IpCidrRange, SubnetworkRangeName: r.SubnetworkRangeName})
		}
	}
	return out
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

// contentOf is the hash of what machines get from a template. Labels and bootstrap data are not among it.
func contentOf(parts fields.Description) string {
	return version + cloud.Digest([]byte(written(parts)), contentDigits)
}

// Existing is an instance template that exists.
type Existing struct {
	pool.Template
	// Labels are those of its properties.
	Labels map[string]string
	parts  fields.Description
}

// Read reads a template of a project. Content and data of one that Muster made are those that its labels name.
func Read(is *compute.InstanceTemplate, project string) Existing {
	out := Existing{Template: pool.Template{Ref: is.Name}}
	if is.Properties == nil {
		return out
	}
	out.Labels, out.parts = is.Properties.Labels, Rows.Describe(document{is.Properties, project})
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
		if out.Content = contentOf(e.parts); want.Content != "" && len(e.differing(want)) == 0 {
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
	paths := Rows.SpecsOf(e.differing(want))
	if cloud.OtherBootstrap(e.Content, want.Content) {
		paths = append(paths, "spec.template.spec.bootstrap")
	}
	return paths
}

// differing names the parts that differ. A family stands for the image that was found by it, and a boot disk without a size for one of the
// default size.
func (e Existing) differing(want Template) []string {
	return slices.DeleteFunc(Rows.Changed(want.parts, e.parts, fields.Rolls), func(name string) bool {
		switch name {
		case partImage:
			return want.family != "" && e.parts[name] == want.family
		case partRootSize:
			return !want.sized && e.parts[name] == "0"
		}
		return false
	})
}
