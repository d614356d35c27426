package instancegroup_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/api/compute/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// validName matches a name that Compute Engine takes, validLabel a key or a value of a label.
var (
	validName  = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	validLabel = regexp.MustCompile(`^[a-z0-9_-]{0,63}$`)
)

// templateOf is that of a small pool in a network of another project.
func templateOf(change func(*gcpv1.GCPMachinePoolSpec)) template.Source {
	s := template.Source{
		Owner: cloud.Owner{ID: "0f6f8d5e-owner", Cluster: "c1", Namespace: "default", Name: "mp"},
		Pool:  &gcpv1.GCPMachinePoolSpec{InstanceType: "n2-standard-2"},
		Cluster: gcpv1.ClusterView{ClusterName: "c1", Project: "p", Region: "us-central1", Network: "net", NetworkProject: "host",
			Subnets: []gcpv1.SubnetView{{Name: "nodes", Region: "us-central1"}}, AdditionalLabels: map[string]string{"team": "a"}},
		Project: "p", Group: "mp-1234567890", Image: "projects/p/global/images/i",
		Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"),
	}
	if change != nil {
		change(s.Pool)
	}
	return s
}

func build(t *testing.T, s template.Source) template.Template {
	t.Helper()
	out, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDefaults holds what a specification gets that names a machine type alone.
func TestDefaults(t *testing.T) {
	t.Parallel()
	made := build(t, templateOf(nil))
	p := made.Properties
	p.Labels, p.Disks[0].InitializeParams.Labels = nil, nil
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"canIpForward":true,"disks":[{"autoDelete":true,"boot":true,"initializeParams":{"diskSizeGb":"30","diskType":"pd-standard","sourceImage":"projects/p/global/images/i"}}],` +
		`"machineType":"n2-standard-2","metadata":{"items":[{"key":"user-data","value":"#cloud-config\n"}]},` +
		`"networkInterfaces":[{"network":"projects/host/global/networks/net","subnetwork":"projects/host/regions/us-central1/subnetworks/nodes"}],` +
		`"scheduling":{"automaticRestart":true,"onHostMaintenance":"MIGRATE","provisioningModel":"STANDARD"},` +
		`"serviceAccounts":[{"email":"default","scopes":["https://www.googleapis.com/auth/cloud-platform"]}],"tags":{"items":["c1","c1-node"]}}`
	if string(text) != want {
		t.Errorf("want %s\ngot  %s", want, text)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	from := templateOf(func(s *gcpv1.GCPMachinePoolSpec) { s.AdditionalLabels = gcpv1.Labels{"team": "b"} })
	from.Cluster.AdditionalLabels = map[string]string{"team": "a", "env": "test", template.LabelSurge: "9-9", template.LabelOwner: "another"}
	made := build(t, from)
	for key, want := range map[string]string{
		"capg-cluster-c1": "owned", "capg-role": "node", "team": "b", "env": "test", template.LabelSurge: "",
		template.LabelOwner:   "0f6f8d5e-owner",
		template.LabelCluster: "c1", template.LabelNamespace: "default", template.LabelName: "mp",
		template.LabelContent: strings.Replace(made.Content, ":", "-", 1), template.LabelData: made.Data,
	} {
		if got := made.Properties.Labels[key]; got != want {
			t.Errorf("label %s: want %q, got %q", key, want, got)
		}
	}
	if got := made.Properties.Disks[0].InitializeParams.Labels["team"]; got != "b" {
		t.Errorf("want disks labelled as well, got %q", got)
	}
}

// TestFields holds what becomes of each field of the specification.
func TestFields(t *testing.T) {
	t.Parallel()
	type properties = *compute.InstanceProperties
	for _, c := range []struct {
		field string
		set   func(*gcpv1.GCPMachinePoolSpec)
		holds func(properties) bool
	}{
		{"subnet", func(s *gcpv1.GCPMachinePoolSpec) { s.Subnet = new("other") }, func(p properties) bool {
			return p.NetworkInterfaces[0].Subnetwork == "projects/host/regions/us-central1/subnetworks/other"
		}},
		{"aliasIPRanges", func(s *gcpv1.GCPMachinePoolSpec) {
			s.AliasIPRanges = []gcpv1.AliasIPRange{{IPCidrRange: "/24", SubnetworkRangeName: "pods"}}
		}, func(p properties) bool { return p.NetworkInterfaces[0].AliasIpRanges[0].SubnetworkRangeName == "pods" }},
		{"publicIP", func(s *gcpv1.GCPMachinePoolSpec) { s.PublicIP = new(true) }, func(p properties) bool {
			return p.NetworkInterfaces[0].AccessConfigs[0].Type == "ONE_TO_ONE_NAT"
		}},
		{"additionalMetadata", func(s *gcpv1.GCPMachinePoolSpec) { s.AdditionalMetadata = []gcpv1.MetadataItem{{Key: "k"}} },
			func(p properties) bool {
				return p.Metadata.Items[1].Key == "k" && *p.Metadata.Items[1].Value == ""
			}},
		{"additionalNetworkTags", func(s *gcpv1.GCPMachinePoolSpec) { s.AdditionalNetworkTags = []string{"a", "c1"} }, func(p properties) bool {
			return strings.Join(p.Tags.Items, " ") == "a c1 c1-node"
		}},
		{"resourceManagerTags", func(s *gcpv1.GCPMachinePoolSpec) {
			s.ResourceManagerTags = []gcpv1.ResourceManagerTag{{ParentID: "123", Key: "env", Value: "dev"}}
		}, func(p properties) bool { return p.ResourceManagerTags["123/env"] == "dev" }},
		{"rootDeviceSize", func(s *gcpv1.GCPMachinePoolSpec) { s.RootDeviceSize = 50 },
			func(p properties) bool { return p.Disks[0].InitializeParams.DiskSizeGb == 50 }},
		{"rootDeviceType", func(s *gcpv1.GCPMachinePoolSpec) { s.RootDeviceType = new(gcpv1.DiskTypeSSD) }, func(p properties) bool {
			return p.Disks[0].InitializeParams.DiskType == "pd-ssd"
		}},
		{"rootDiskEncryptionKey", func(s *gcpv1.GCPMachinePoolSpec) {
			s.RootDiskEncryptionKey = &gcpv1.CustomerEncryptionKey{KeyType: gcpv1.KeyManaged, ManagedKey: &gcpv1.ManagedKey{KMSKeyName: "k"},
				KMSKeyServiceAccount: new("a")}
		}, func(p properties) bool {
			return p.Disks[0].DiskEncryptionKey.KmsKeyName == "k" && p.Disks[0].DiskEncryptionKey.KmsKeyServiceAccount == "a"
		}},
		{"additionalDisks", func(s *gcpv1.GCPMachinePoolSpec) {
			s.AdditionalDisks = []gcpv1.AttachedDisk{{}, {DeviceType: new(gcpv1.DiskTypeLocalSSD)}}
		}, func(p properties) bool {
			return p.Disks[1].InitializeParams.DiskSizeGb == 30 && p.Disks[1].Type == "" && p.Disks[2].Type == "SCRATCH" &&
				p.Disks[2].Interface == "NVME" &&
				p.Disks[2].InitializeParams.DiskSizeGb == 375 && p.Disks[2].InitializeParams.Labels == nil && p.Disks[1].AutoDelete
		}},
		{"serviceAccounts", func(s *gcpv1.GCPMachinePoolSpec) {
			s.ServiceAccount = &gcpv1.ServiceAccount{Email: "a@b", Scopes: []string{"s"}}
		}, func(p properties) bool {
			return p.ServiceAccounts[0].Email == "a@b" && p.ServiceAccounts[0].Scopes[0] == "s"
		}},
		{"preemptible", func(s *gcpv1.GCPMachinePoolSpec) { s.Preemptible = true }, func(p properties) bool {
			return p.Scheduling.Preemptible && p.Scheduling.OnHostMaintenance == "TERMINATE" && !*p.Scheduling.AutomaticRestart &&
				p.Scheduling.ProvisioningModel == "STANDARD"
		}},
		{"provisioningModel", func(s *gcpv1.GCPMachinePoolSpec) {
			s.ProvisioningModel, s.Preemptible = new(gcpv1.ProvisioningSpot), true
		}, func(p properties) bool {
			return p.Scheduling.ProvisioningModel == "SPOT" && !p.Scheduling.Preemptible && p.Scheduling.OnHostMaintenance == "TERMINATE"
		}},
		{"ipForwarding", func(s *gcpv1.GCPMachinePoolSpec) { s.IPForwarding = new(gcpv1.Disabled) },
			func(p properties) bool { return !p.CanIpForward }},
		{"shieldedInstanceConfig", func(s *gcpv1.GCPMachinePoolSpec) {
			s.ShieldedInstanceConfig = &gcpv1.ShieldedInstanceConfig{SecureBoot: gcpv1.Enabled, IntegrityMonitoring: gcpv1.Disabled}
		}, func(p properties) bool {
			return p.ShieldedInstanceConfig.EnableSecureBoot && p.ShieldedInstanceConfig.EnableVtpm &&
				!p.ShieldedInstanceConfig.EnableIntegrityMonitoring
		}},
		{"onHostMaintenance", func(s *gcpv1.GCPMachinePoolSpec) { s.OnHostMaintenance = new(gcpv1.MaintenanceTerminate) },
			func(p properties) bool {
				return p.Scheduling.OnHostMaintenance == "TERMINATE" && *p.Scheduling.AutomaticRestart
			}},
		{"confidentialCompute", func(s *gcpv1.GCPMachinePoolSpec) { s.ConfidentialCompute = new(gcpv1.ConfidentialEnabled) },
			func(p properties) bool {
				return p.ConfidentialInstanceConfig.EnableConfidentialCompute && p.ConfidentialInstanceConfig.ConfidentialInstanceType == "SEV" &&
					p.Scheduling.OnHostMaintenance == "TERMINATE"
			}},
		{"guestAccelerators", func(s *gcpv1.GCPMachinePoolSpec) {
			s.GuestAccelerators = []gcpv1.Accelerator{{Type: "projects/p/zones/z/acceleratorTypes/nvidia-l4", Count: 1}}
		}, func(p properties) bool {
			return p.GuestAccelerators[0].AcceleratorType == "nvidia-l4" && p.Scheduling.OnHostMaintenance == "TERMINATE"
		}},
		{"instanceType", func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "e2-medium" },
			func(p properties) bool { return p.MachineType == "e2-medium" }},
	} {
		plain, changed := build(t, templateOf(nil)), build(t, templateOf(c.set))
		if !c.holds(changed.Properties) {
			t.Errorf("%s is not in the template: %+v", c.field, changed.Properties)
		}
		if changed.Same(plain.Template) || changed.Name == plain.Name {
			t.Errorf("%s: want another content and another name", c.field)
		}
		if differing := roundTrip(t, plain).Differs(changed); c.field != "resourceManagerTags" && c.field != "shieldedInstanceConfig" &&
			len(differing) == 0 {
			t.Errorf("%s: want a field named that differs", c.field)
		}
	}
}

// roundTrip reads a template as Compute Engine answers it: with what it adds, and without what it keeps to itself.
func roundTrip(t *testing.T, made template.Template) template.Existing {
	t.Helper()
	text, err := json.Marshal(&compute.InstanceTemplate{Name: made.Name, Properties: made.Properties})
	if err != nil {
		t.Fatal(err)
	}
	var is compute.InstanceTemplate
	if err := json.Unmarshal(text, &is); err != nil {
		t.Fatal(err)
	}
	is.Properties.ResourceManagerTags = nil
	for i, d := range is.Properties.Disks {
		if d.Type == "" {
			d.Type = "PERSISTENT"
		}
		d.Kind, d.Mode, d.DeviceName, d.Index = "compute#attachedDisk", "READ_WRITE", "persistent-disk", int64(i)
		if d.InitializeParams.SourceImage != "" {
			d.InitializeParams.SourceImage = "https://www.googleapis.com/compute/v1/" + d.InitializeParams.SourceImage
		}
	}
	for _, n := range is.Properties.NetworkInterfaces {
		n.Network, n.Subnetwork = "https://www.googleapis.com/compute/v1/"+n.Network, "https://www.googleapis.com/compute/v1/"+n.Subnetwork
		n.Name, n.Kind = "nic0", "compute#networkInterface"
	}
	return template.Read(&is, "p")
}

// TestOwnTemplates holds that a template is known again by its labels, and compares equal with what it was made of.
func TestOwnTemplates(t *testing.T) {
	t.Parallel()
	made := build(t, templateOf(func(s *gcpv1.GCPMachinePoolSpec) { s.ShieldedInstanceConfig = &gcpv1.ShieldedInstanceConfig{} }))
	is := roundTrip(t, made)
	if !is.Same(made.Template) || is.Data != made.Data || is.Ref != made.Name || len(is.Differs(made)) > 0 {
		t.Errorf("want the template known again, got %+v, differing in %v", is.Template, is.Differs(made))
	}
	// The same without Muster's labels, as another tool makes it.
	delete(is.Labels, template.LabelContent)
	is.Content = ""
	if got := is.Against(made); !got.Same(made.Template) {
		t.Errorf("want a template from which machines get the same taken for the same, got %+v", got)
	}
}

// TestDataAlone holds that bootstrap data makes another name and the same content, and another configuration another content.
func TestDataAlone(t *testing.T) {
	t.Parallel()
	first, other := templateOf(nil), templateOf(nil)
	other.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# another token\n"), "cloud-config")
	a, b := build(t, first), build(t, other)
	if !a.Same(b.Template) || a.Name == b.Name || a.Data == b.Data {
		t.Errorf("want one content and two names, got %+v and %+v", a.Template, b.Template)
	}
	other.Bootstrap = other.Bootstrap.Marked("x")
	if c := build(t, other); c.Same(a.Template) {
		t.Errorf("want another content for another configuration, got %+v", c.Template)
	}
}

func TestRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	large := templateOf(nil)
	large.Bootstrap = cloud.NewBootstrap(make([]byte, 256<<10+1), "")
	for field, s := range map[string]template.Source{
		"spec.template.spec.bootstrap": large,
		"spec.rootDiskEncryptionKey.keyType": templateOf(func(s *gcpv1.GCPMachinePoolSpec) {
			s.RootDiskEncryptionKey = &gcpv1.CustomerEncryptionKey{KeyType: gcpv1.KeySupplied}
		}),
		"spec.additionalDisks[0].encryptionKey.keyType": templateOf(func(s *gcpv1.GCPMachinePoolSpec) {
			s.AdditionalDisks = []gcpv1.AttachedDisk{{EncryptionKey: &gcpv1.CustomerEncryptionKey{KeyType: gcpv1.KeySupplied}}}
		}),
	} {
		if _, err := s.Build(); cloud.KindOf(err) != cloud.Invalid || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("want %s refused, got %v", field, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("pool.of.many.words-", 5)
	for _, c := range []struct{ name, want string }{
		{"mp-0", "mp-0-"}, {"Pool.A", "pool-a-"}, {"0-pool", "m0-pool-"}, {long, "pool-of-many-words-pool-of-many-words-pool-of-m-"[:48]},
	} {
		o := cloud.Owner{ID: "owner", Name: c.name}
		got, err := template.GroupName(o)
		if err != nil || !strings.HasPrefix(got, c.want) || len(got) > 58 || !validName.MatchString(got) {
			t.Errorf("%s: want a name that begins with %s, got %q, %v", c.name, c.want, got, err)
		}
		if made := build(t, template.Source{Owner: o, Pool: &gcpv1.GCPMachinePoolSpec{}, Project: "p", Group: got}); !validName.MatchString(
			made.Name) ||
			!strings.HasPrefix(made.Name, template.Prefix(got)) {
			t.Errorf("%s: want a name of a template, got %q", c.name, made.Name)
		}
	}
	if _, err := template.GroupName(cloud.Owner{GroupName: "No Name"}); cloud.KindOf(err) != cloud.Invalid {
		t.Errorf("want a name that Compute Engine does not take refused, got %v", err)
	}
	a, b := template.LabelValue("Team.A"), template.LabelValue("team-a")
	if a == b || !validLabel.MatchString(a) || b != "team-a" || !validLabel.MatchString(template.LabelValue(long+long)) {
		t.Errorf("want values that fit and are told apart, got %q and %q", a, b)
	}
	o := cloud.Owner{ID: "x", Cluster: "C.1", Namespace: "ns", Name: "pool.a"}
	if got := template.Spelling.Claim(o, template.In(template.OwnerLabels(o))).TaggedFor; got != "C.1/ns/pool.a" {
		t.Errorf("want the object that shortened labels name, got %q", got)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ image, family, kubernetes, path, of string }{
		{"", "", "v1.34.2", "", "projects/p/global/images/family/capi-ubuntu-1804-k8s-v1-34"},
		{"projects/q/global/images/i", "projects/q/global/images/family/f", "v1.34.2", "projects/q/global/images/i", ""},
		{"https://www.googleapis.com/compute/v1/projects/q/global/images/i", "", "", "projects/q/global/images/i", ""},
		{"i", "", "", "projects/p/global/images/i", ""},
		{"", "projects/q/global/images/family/f", "", "", "projects/q/global/images/family/f"},
		{"", "f", "", "", "projects/p/global/images/family/f"},
		{"projects/q/global/images/family/f", "", "", "", "projects/q/global/images/family/f"},
	} {
		got, err := template.ImageOf(&gcpv1.GCPMachinePoolSpec{Image: &c.image, ImageFamily: &c.family}, c.kubernetes, "p")
		if err != nil || got.Path != c.path || got.Family != c.of {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
	if _, err := template.ImageOf(&gcpv1.GCPMachinePoolSpec{}, "", "p"); cloud.KindOf(err) != cloud.Invalid {
		t.Errorf("want a specification refused that names no version and no image, got %v", err)
	}
	if project, name := template.SplitFamily("projects/q/global/images/family/f"); project != "q" || name != "f" {
		t.Errorf("got %q, %q", project, name)
	}
}

func TestFieldNames(t *testing.T) {
	t.Parallel()
	for property, want := range map[string]string{
		"resource.properties.machineType":                          "spec.instanceType",
		"resource.properties.disks[0].initializeParams.diskSizeGb": "spec.rootDeviceSize",
		"resource.properties.disks[2].initializeParams.diskType":   "spec.additionalDisks[1]",
		"resource.properties.networkInterfaces[0].subnetwork":      "spec.subnet",
		"resource.autoHealingPolicies[0].initialDelaySec":          "spec.autoHealing",
		"resource.unknown": "",
	} {
		if got := instancegroup.FieldOf(property); got != want {
			t.Errorf("%s: want %q, got %q", property, want, got)
		}
	}
}
