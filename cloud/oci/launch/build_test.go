package launch

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/session"
)

const image = "ocid1.image.oc1.phx.aaaaimage"

// source is that of a small pool.
func source(changes ...func(*ociv1.InstanceConfiguration)) Source {
	pool := &ociv1.OCIMachinePoolSpec{InstanceConfiguration: ociv1.InstanceConfiguration{
		Shape: "VM.Standard.E4.Flex", ShapeConfig: &ociv1.ShapeConfig{OCPUs: new(ociv1.Decimal("2"))},
		InstanceSourceViaImageConfig: &ociv1.InstanceSourceViaImageConfig{ImageID: new(image)},
	}}
	for _, change := range changes {
		change(&pool.InstanceConfiguration)
	}
	return Source{
		Owner: cloud.Owner{ID: "owner", Cluster: "c", Namespace: "ns", Name: "mp"}, Pool: pool, Group: "mp-0",
		Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"),
		Cluster: &ociv1.ClusterView{
			Name: "c", ClusterName: "c", CompartmentID: "ocid1.compartment.oc1..c", ResourceIdentifier: "id-of-c",
			FreeformTags: map[string]string{"team": "a", session.Spelling.Key(cloud.TagOwner): "forged"},
			DefinedTags:  map[string]map[string]string{"cost": {"center": "42"}},
			Subnets: []ociv1.NetworkPart{
				{Name: "lb", Role: "service-lb", ID: "ocid1.subnet.oc1.phx.lb"}, {Name: "worker", Role: ociv1.RoleWorker, ID: "ocid1.subnet.oc1.phx.w"},
				{Name: "late", Role: ociv1.RolePod},
			},
			SecurityGroups: []ociv1.NetworkPart{
				{Name: "worker", Role: ociv1.RoleWorker, ID: "ocid1.nsg.oc1.phx.w"}, {Name: "extra", Role: "x", ID: "ocid1.nsg.oc1.phx.x"},
			},
		},
	}
}

func built(t *testing.T, s Source) Template {
	t.Helper()
	out, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBuildNamesTheField holds that what can't be translated is refused before any request, with its field.
func TestBuildNamesTheField(t *testing.T) {
	t.Parallel()
	type is = ociv1.InstanceConfiguration
	for _, c := range []struct {
		reason, field, message string
		change                 func(*is)
	}{
		{"no pool launches on a dedicated host", "dedicatedVmHostId", "dedicated host", func(i *is) { i.DedicatedVMHostID = new("ocid1.host") }},
		{"without an image nothing boots", "instanceSourceViaImageConfig.imageId", "no image",
			func(i *is) { i.InstanceSourceViaImageConfig = nil }},
		{"an empty image is none", "instanceSourceViaImageConfig.imageId", "no image",
			func(i *is) { i.InstanceSourceViaImageConfig.ImageID = new("") }},
		{"one of two sources", "instanceSourceViaBootVolumeConfig", "together", func(i *is) {
			i.InstanceSourceViaBootVolumeConfig = &ociv1.InstanceSourceViaBootVolumeConfig{BootVolumeID: "ocid1.bootvolume"}
		}},
		{"an unknown subnet", "instanceVnicConfiguration.subnetName", "lb, worker, late",
			func(i *is) { i.InstanceVnicConfiguration = &ociv1.NetworkDetails{SubnetName: "nope"} }},
		{"a subnet that does not exist yet", "instanceVnicConfiguration.subnetName", "no OCID yet",
			func(i *is) { i.InstanceVnicConfiguration = &ociv1.NetworkDetails{SubnetName: "late"} }},
		{"an unknown security group", "instanceVnicConfiguration.nsgNames", "worker, extra",
			func(i *is) {
				i.InstanceVnicConfiguration = &ociv1.NetworkDetails{NSGNames: ociv1.SecurityGroupNames{"extra", "nope"}}
			}},
		{"a number that is none", "shapeConfig.ocpus", "two", func(i *is) { i.ShapeConfig.OCPUs = new(ociv1.Decimal("two")) }},
		{"no memory", "shapeConfig.memoryInGBs", `"0"`, func(i *is) { i.ShapeConfig.MemoryInGBs = new(ociv1.Decimal("0")) }},
		{"settings of no platform", "platformConfig.platformConfigType", "must name the platform",
			func(i *is) { i.PlatformConfig = &ociv1.PlatformConfig{AMDVM: &ociv1.BootPlatformConfig{}} }},
		{"a plugin without a name", "agentConfig.pluginsConfigs[0].name", "must be", func(i *is) {
			i.AgentConfig = &ociv1.LaunchInstanceAgentConfig{PluginsConfig: []ociv1.InstanceAgentPluginConfig{{DesiredState: "ENABLED"}}}
		}},
		{"a plugin without a state", "agentConfig.pluginsConfigs[0].desiredState", "ENABLED or DISABLED", func(i *is) {
			i.AgentConfig = &ociv1.LaunchInstanceAgentConfig{PluginsConfig: []ociv1.InstanceAgentPluginConfig{{Name: new("Vulnerability Scanning")}}}
		}},
		{"too much metadata", "metadata", "32000 at most", func(i *is) { i.Metadata = map[string]string{"x": strings.Repeat("x", 32000)} }},
	} {
		_, err := source(c.change).Build()
		var refused *cloud.Error
		if e, ok := err.(*cloud.Error); ok { //nolint:errorlint // the error itself is meant
			refused = e
		}
		if refused == nil || refused.Kind != cloud.Invalid || refused.Field != fieldConfiguration+c.field ||
			!strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: want a refusal of %s with %q, got %v", c.reason, c.field, c.message, err)
		}
	}
}

// TestNoShape holds that a specification without a shape is left to OCI to refuse.
func TestNoShape(t *testing.T) {
	t.Parallel()
	is := built(t, source(func(i *ociv1.InstanceConfiguration) { i.Shape, i.ShapeConfig = "", nil }))
	if is.Details.Shape != nil || is.Details.ShapeConfig != nil {
		t.Errorf("want no shape in the request, got %+v", is.Details)
	}
}

func TestBootstrapDataHasALimit(t *testing.T) {
	t.Parallel()
	s := source()
	s.Bootstrap = cloud.NewBootstrap([]byte(strings.Repeat("x", 23_000)), "cloud-config")
	if _, err := s.Build(); err != nil {
		t.Errorf("want 23,000 bytes to fit, which are 30,668 in base64, got %v", err)
	}
	s.Bootstrap = cloud.NewBootstrap([]byte(strings.Repeat("x", 24_000)), "cloud-config")
	_, err := s.Build()
	if err == nil || !strings.HasPrefix(err.Error(), FieldBootstrap) || !strings.Contains(err.Error(), "24000 bytes, which are 32") ||
		strings.Contains(err.Error(), "xxxx") {
		t.Errorf("want the sizes and the field, and nothing of the data, got %.300v", err)
	}
}

// TestTokenMakesNoInstanceStale holds that other bootstrap data is another configuration of the same content.
func TestTokenMakesNoInstanceStale(t *testing.T) {
	t.Parallel()
	before, s := built(t, source()), source()
	s.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# another token\n"), "cloud-config")
	after := built(t, s)
	if !after.Same(before.Template) || after.Data == before.Data || after.Name == before.Name {
		t.Errorf("want the same content, other data and another name, got %+v and %+v", before.Template, after.Template)
	}
	marked := source()
	marked.Bootstrap = marked.Bootstrap.Marked("another configuration")
	if is := built(t, marked); is.Same(before.Template) {
		t.Errorf("want another content with another bootstrap configuration, got %+v", is.Template)
	}
}

// TestContent holds the content of a pool: another one would have every Muster that is updated replace all instances.
func TestContent(t *testing.T) {
	t.Parallel()
	is := built(t, source())
	if diff := cmp.Diff([]string{"v1:06f4ccfadbcf4809", "mp-0-c6601736d2f1"}, []string{is.Content, is.Name}); diff != "" {
		t.Errorf("the content and the name (-want +got):\n%s", diff)
	}
}

// TestRequest holds the whole request of a pool with everything.
func TestRequest(t *testing.T) {
	t.Parallel()
	is := built(t, source(everything))
	text, err := json.MarshalIndent(is.Request(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"user_data": "I2Nsb3VkLWNvbmZpZwo="`, `"ssh_authorized_keys": "ssh-rsa AAAA"`, `"sourceType": "image"`, `"instanceType": "compute"`,
		`"type": "AMD_VM"`, `"type": "TERMINATE"`, `"capacityReservationId": ""`, `"team": "a"`, `"ClusterResourceIdentifier": "id-of-c"`,
		`"center": "42"`, `"` + session.Spelling.Key(cloud.TagOwner) + `": "owner"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("want %s in the request, got %s", want, text)
		}
	}
	if tags := is.Details.FreeformTags; tags[TagTemplate] != "" || is.Tags[TagTemplate] != is.Content+"/"+is.Data {
		t.Errorf("want the tag of the content on the configuration and not on instances, got %v and %v", is.Tags, tags)
	}
}

// everything sets every field.
func everything(is *ociv1.InstanceConfiguration) {
	is.ShapeConfig = &ociv1.ShapeConfig{OCPUs: new(ociv1.Decimal("2.5")), MemoryInGBs: new(ociv1.Decimal("16")),
		BaselineOCPUUtilization: "BASELINE_1_2", Nvmes: new(1)}
	is.InstanceVnicConfiguration = &ociv1.NetworkDetails{SubnetName: "lb", NSGNames: ociv1.SecurityGroupNames{"worker", "extra"},
		AssignPublicIP: true, AssignIPv6IP: true, SkipSourceDestCheck: new(true), HostnameLabel: new("node"), DisplayName: new("primary"),
		AssignPrivateDNSRecord: new(true)}
	is.PlatformConfig = &ociv1.PlatformConfig{PlatformConfigType: ociv1.PlatformAMDVirtualMachine,
		AMDVM: &ociv1.BootPlatformConfig{IsSecureBootEnabled: new(true)}}
	is.AgentConfig = &ociv1.LaunchInstanceAgentConfig{IsMonitoringDisabled: new(true),
		PluginsConfig: []ociv1.InstanceAgentPluginConfig{{Name: new("Bastion"), DesiredState: "ENABLED"}}}
	is.PreemptibleInstanceConfig = &ociv1.PreemptibleInstanceConfig{}
	is.AvailabilityConfig = &ociv1.LaunchInstanceAvailabilityConfig{IsLiveMigrationPreferred: new(false), RecoveryAction: "STOP_INSTANCE"}
	is.LaunchOptions = &ociv1.LaunchOptions{BootVolumeType: "PARAVIRTUALIZED", Firmware: "UEFI_64", NetworkType: "VFIO",
		RemoteDataVolumeType: "ISCSI", IsConsistentVolumeNamingEnabled: new(true)}
	is.InstanceOptions = &ociv1.InstanceOptions{AreLegacyIMDSEndpointsDisabled: new(true)}
	is.IsPvEncryptionInTransitEnabled = new(true)
	is.InstanceSourceViaImageConfig = &ociv1.InstanceSourceViaImageConfig{ImageID: new(image), KMSKeyID: new("ocid1.key"),
		BootVolumeSizeInGBs: new(int64(100)), BootVolumeVPUsPerGB: new(int64(20))}
	is.CapacityReservationID = new("")
	is.Metadata = map[string]string{"ssh_authorized_keys": "ssh-rsa AAAA", userData: "the user's own"}
	is.ExtendedMetadata = map[string]json.RawMessage{"nested": json.RawMessage(`{"a": [1, 2]}`)}
}

// TestEachFieldIsAnotherContent holds that a change of each field leads to another configuration, and is told by its path.
func TestEachFieldIsAnotherContent(t *testing.T) {
	t.Parallel()
	type is = ociv1.InstanceConfiguration
	for field, change := range map[string]func(*is){
		"shape":       func(i *is) { i.Shape = "VM.Standard.E5.Flex" },
		"shapeConfig": func(i *is) { i.ShapeConfig.MemoryInGBs = new(ociv1.Decimal("32")) },
		"instanceSourceViaImageConfig": func(i *is) {
			i.InstanceSourceViaImageConfig, i.InstanceSourceViaBootVolumeConfig = nil,
				&ociv1.InstanceSourceViaBootVolumeConfig{BootVolumeID: "ocid1.bootvolume"}
		},
		"instanceVnicConfiguration.subnetId":               func(i *is) { i.InstanceVnicConfiguration.SubnetID = new("ocid1.subnet.other") },
		"instanceVnicConfiguration.nsgIds":                 func(i *is) { i.InstanceVnicConfiguration.NSGIDs = []string{"ocid1.nsg.other"} },
		"instanceVnicConfiguration.assignPublicIp":         func(i *is) { i.InstanceVnicConfiguration.AssignPublicIP = false },
		"instanceVnicConfiguration.skipSourceDestCheck":    func(i *is) { i.InstanceVnicConfiguration.SkipSourceDestCheck = new(false) },
		"instanceVnicConfiguration.hostnameLabel":          func(i *is) { i.InstanceVnicConfiguration.HostnameLabel = new("other") },
		"instanceVnicConfiguration.displayName":            func(i *is) { i.InstanceVnicConfiguration.DisplayName = new("other") },
		"instanceVnicConfiguration.assignPrivateDnsRecord": func(i *is) { i.InstanceVnicConfiguration.AssignPrivateDNSRecord = new(false) },
		"platformConfig": func(i *is) { i.PlatformConfig.AMDVM.IsMeasuredBootEnabled = new(true) },
		"agentConfig":    func(i *is) { i.AgentConfig.PluginsConfig[0].DesiredState = "DISABLED" },
		"preemptibleInstanceConfig": func(i *is) {
			i.PreemptibleInstanceConfig.TerminatePreemptionAction = &ociv1.TerminatePreemptionAction{PreserveBootVolume: new(true)}
		},
		"availabilityConfig":             func(i *is) { i.AvailabilityConfig.RecoveryAction = "RESTORE_INSTANCE" },
		"launchOptions":                  func(i *is) { i.LaunchOptions.Firmware = "BIOS" },
		"instanceOptions":                func(i *is) { i.InstanceOptions.AreLegacyIMDSEndpointsDisabled = new(false) },
		"isPvEncryptionInTransitEnabled": func(i *is) { i.IsPvEncryptionInTransitEnabled = new(false) },
		"capacityReservationId":          func(i *is) { i.CapacityReservationID = new("ocid1.capacityreservation") },
		"metadata":                       func(i *is) { i.Metadata["ssh_authorized_keys"] = "ssh-rsa BBBB" },
		"extendedMetadata":               func(i *is) { i.ExtendedMetadata["nested"] = json.RawMessage(`{"a": [1]}`) },
	} {
		before, after := built(t, source(everything)), built(t, source(everything, change))
		if after.Same(before.Template) {
			t.Errorf("%s: want another content", field)
			continue
		}
		existing := Read(&core.InstanceConfiguration{FreeformTags: before.Tags,
			InstanceDetails: &core.InstanceConfigurationInstanceDetails{LaunchDetails: before.Details}})
		if diff := cmp.Diff([]string{fieldConfiguration + field}, existing.Differs(after)); diff != "" {
			t.Errorf("%s: the fields that differ (-want +got):\n%s", field, diff)
		}
	}
}

// TestEmptyTextsAreUnset holds that an empty text means the same as an absent one, except that of a reservation.
func TestEmptyTextsAreUnset(t *testing.T) {
	t.Parallel()
	empty := source(func(is *ociv1.InstanceConfiguration) {
		is.ShapeConfig.MemoryInGBs, is.ShapeConfig.BaselineOCPUUtilization = new(ociv1.Decimal("")), ""
		is.InstanceSourceViaImageConfig.KMSKeyID, is.DedicatedVMHostID = new(""), new("")
		is.LaunchOptions, is.PlatformConfig = &ociv1.LaunchOptions{}, &ociv1.PlatformConfig{}
		is.AvailabilityConfig, is.InstanceOptions = &ociv1.LaunchInstanceAvailabilityConfig{}, &ociv1.InstanceOptions{}
		is.AgentConfig = &ociv1.LaunchInstanceAgentConfig{}
	})
	if is, want := built(t, empty), built(t, source()); !is.Same(want.Template) {
		t.Errorf("want the content of a pool without the fields, got %v and %v", is.parts, want.parts)
	}
	vnic := source(func(is *ociv1.InstanceConfiguration) {
		is.InstanceVnicConfiguration = &ociv1.NetworkDetails{SubnetID: new(""), NSGID: new(""), HostnameLabel: new(""), DisplayName: new("")}
	})
	is := built(t, vnic).Details.CreateVnicDetails
	if *is.SubnetId != "ocid1.subnet.oc1.phx.w" || is.HostnameLabel != nil || !slices.Equal(is.NsgIds, []string{"ocid1.nsg.oc1.phx.w"}) {
		t.Errorf("want the defaults of the cluster, got %+v", is)
	}
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	boot := ociv1.BootPlatformConfig{IsTrustedPlatformModuleEnabled: new(true), IsMemoryEncryptionEnabled: new(true)}
	threads := ociv1.ThreadsPlatformConfig{BootPlatformConfig: boot, IsSymmetricMultiThreadingEnabled: new(false)}
	gpu := ociv1.AMDGPUPlatformConfig{ThreadsPlatformConfig: threads, IsAccessControlServiceEnabled: new(true), NumaNodesPerSocket: "NPS2"}
	amd := ociv1.AMDPlatformConfig{AMDGPUPlatformConfig: gpu, PercentageOfCoresEnabled: new(ociv1.CoresPercentage(50))}
	ice := ociv1.IntelIcelakePlatformConfig{ThreadsPlatformConfig: threads, PercentageOfCoresEnabled: new(ociv1.CoresPercentage(75))}
	for kind, c := range map[ociv1.PlatformConfigType]struct {
		is   ociv1.PlatformConfig
		want map[string]string
	}{
		ociv1.PlatformAMDMilanBareMetalMachine: {ociv1.PlatformConfig{AMDMilanBM: &amd},
			map[string]string{"numaNodesPerSocket": "NPS2", "percentageOfCoresEnabled": "50", "isAccessControlServiceEnabled": "true"}},
		ociv1.PlatformAMDRomeBareMetal:      {ociv1.PlatformConfig{AMDRomeBM: &amd}, map[string]string{"percentageOfCoresEnabled": "50"}},
		ociv1.PlatformAMDRomeBareMetalGPU:   {ociv1.PlatformConfig{AMDRomeBMGPU: &gpu}, map[string]string{"numaNodesPerSocket": "NPS2"}},
		ociv1.PlatformIntelIcelakeBareMetal: {ociv1.PlatformConfig{IntelIcelakeBM: &ice}, map[string]string{"percentageOfCoresEnabled": "75"}},
		ociv1.PlatformIntelSkylakeBareMetal: {ociv1.PlatformConfig{IntelSkylakeBM: &boot}, nil},
		ociv1.PlatformIntelVirtualMachine:   {ociv1.PlatformConfig{IntelVM: &boot}, nil},
		ociv1.PlatformAMDVirtualMachine:     {ociv1.PlatformConfig{AMDVM: &boot}, map[string]string{"isTrustedPlatformModuleEnabled": "true"}},
	} {
		c.is.PlatformConfigType = kind
		is := built(t, source(func(i *ociv1.InstanceConfiguration) { i.PlatformConfig = &c.is }))
		if c.want == nil {
			c.want = map[string]string{}
		}
		c.want["type"] = string(kind)
		for name, want := range c.want {
			if got := is.parts["platformConfig."+name]; got != want {
				t.Errorf("%s: want %s %s, got %v", kind, name, want, is.parts)
			}
		}
		if bare := source(func(i *ociv1.InstanceConfiguration) {
			i.PlatformConfig = &ociv1.PlatformConfig{PlatformConfigType: kind}
		}); *built(t,
			bare).Details.PlatformConfig.Type != string(kind) {
			t.Errorf("%s: want a platform without settings to be one", kind)
		}
	}
}

// TestAdopted holds that a configuration of another tool counts as the desired one if instances get the same from it.
func TestAdopted(t *testing.T) {
	t.Parallel()
	want := built(t, source(everything))
	for _, c := range []struct {
		reason string
		change func(*core.InstanceConfigurationLaunchInstanceDetails)
		same   bool
	}{
		{"the same values", func(*core.InstanceConfigurationLaunchInstanceDetails) {}, true},
		{"other bootstrap data and another name", func(d *core.InstanceConfigurationLaunchInstanceDetails) {
			d.Metadata[userData], d.DisplayName = "b3RoZXI=", new("mp")
		}, true},
		{"security groups in another order", func(d *core.InstanceConfigurationLaunchInstanceDetails) {
			slices.Reverse(d.CreateVnicDetails.NsgIds)
		}, true},
		{"a default that the other tool has written", func(d *core.InstanceConfigurationLaunchInstanceDetails) {
			d.PreferredMaintenanceAction, d.LaunchOptions.IsPvEncryptionInTransitEnabled = new("LIVE_MIGRATE"), new(false)
		}, true},
		{"another shape", func(d *core.InstanceConfigurationLaunchInstanceDetails) { d.Shape = new("VM.Standard3.Flex") }, false},
		{"a value that it lacks", func(d *core.InstanceConfigurationLaunchInstanceDetails) { d.PlatformConfig = nil }, false},
	} {
		var details core.InstanceConfigurationLaunchInstanceDetails
		text, err := json.Marshal(want.Details)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &details); err != nil {
			t.Fatal(err)
		}
		c.change(&details)
		existing := Read(&core.InstanceConfiguration{Id: new("ocid1.instanceconfiguration.x"), DisplayName: new("mp-1234"),
			InstanceDetails: &core.InstanceConfigurationInstanceDetails{LaunchDetails: &details}})
		is := existing.Against(want)
		if is.Same(want.Template) != c.same || !is.UserManaged || is.Ref != "ocid1.instanceconfiguration.x" || is.Content == "" {
			t.Errorf("%s: want the same content %v, got %+v and the difference %v", c.reason, c.same, is, existing.Differs(want))
		}
	}
	if is := (Existing{}).Against(want); is.Content != "" {
		t.Errorf("want nothing known of a configuration that could not be read, got %+v", is)
	}
}
