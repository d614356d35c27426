package nodepool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/container/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
)

type requestSpec = gcpv1.GCPManagedMachinePoolSpec

// reported returns the node pool that GKE reports after it was created from an empty specification.
func reported(change func(*container.NodePool)) *container.NodePool {
	n := &container.NodePool{
		Name: "pool", Version: "1.34.1-gke.1829001", Status: "RUNNING", Etag: "etag", Locations: []string{"us-central1-b", "us-central1-a"},
		Management:        &container.NodeManagement{AutoRepair: true, AutoUpgrade: true},
		MaxPodsConstraint: &container.MaxPodsConstraint{MaxPodsPerNode: 110},
		UpgradeSettings:   &container.UpgradeSettings{MaxSurge: 1, Strategy: "SURGE"},
		NetworkConfig:     &container.NodeNetworkConfig{PodRange: "pods"},
		Config: &container.NodeConfig{
			MachineType: "e2-medium", DiskSizeGb: 100, DiskType: "pd-balanced", ImageType: "COS_CONTAINERD", ServiceAccount: "default",
			OauthScopes:    []string{"https://www.googleapis.com/auth/logging.write", "https://www.googleapis.com/auth/monitoring"},
			ResourceLabels: map[string]string{"goog-gke-node-pool-provisioning-model": "on-demand", "owner": "o"},
			Metadata:       map[string]string{"disable-legacy-endpoints": "true"}, WindowsNodeConfig: &container.WindowsNodeConfig{},
			ShieldedInstanceConfig: &container.ShieldedInstanceConfig{EnableIntegrityMonitoring: true},
			KubeletConfig:          &container.NodeKubeletConfig{MaxParallelImagePulls: 2},
		},
	}
	if change != nil {
		change(n)
	}
	return n
}

var owner = map[string]string{"owner": "o"}

// TestDiffering holds which parts differ: none of those that a specification leaves out, and nothing that GKE writes by itself.
func TestDiffering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		want   requestSpec
		is     func(*container.NodePool)
		parts  string
	}{
		{"an empty specification differs in nothing from GKE's defaults", requestSpec{}, nil, ""},
		{"kernel settings that are empty are none", requestSpec{LinuxNodeConfig: &gcpv1.LinuxNodeConfig{}}, nil, ""},
		{"kernel settings that are absent leave what GKE has", requestSpec{}, func(n *container.NodePool) {
			n.Config.LinuxNodeConfig = &container.LinuxNodeConfig{CgroupMode: "CGROUP_MODE_V2"}
		}, ""},
		{"empty kernel settings of GKE are none", requestSpec{LinuxNodeConfig: &gcpv1.LinuxNodeConfig{}}, func(n *container.NodePool) {
			n.Config.LinuxNodeConfig = &container.LinuxNodeConfig{}
		}, ""},
		{"kernel settings", requestSpec{LinuxNodeConfig: &gcpv1.LinuxNodeConfig{
			CgroupMode: new(int32(2)), Sysctls: []gcpv1.SysctlConfig{{Parameter: "net.core.somaxconn", Value: "1024"}},
		}}, func(n *container.NodePool) {
			n.Config.LinuxNodeConfig = &container.LinuxNodeConfig{CgroupMode: "CGROUP_MODE_V2"}
		}, "linuxNodeConfig"},
		{"an image in another case is the same", requestSpec{ImageType: new("cos_containerd")}, nil, ""},
		{"another image", requestSpec{ImageType: new("UBUNTU_CONTAINERD")}, nil, "imageType"},
		{"the newer field for the machine type wins", requestSpec{MachineType: new("e2-medium"), InstanceType: new("n2-standard-4")}, nil,
			"machineType"},
		{"a disk", requestSpec{DiskType: new(gcpv1.NodeDiskType("pd-ssd")), DiskSizeGb: new(int32(50))}, nil, "diskType diskSizeGb"},
		{"zones in another order are the same", requestSpec{NodeLocations: []string{"us-central1-a", "us-central1-b"}}, nil, ""},
		{"other zones", requestSpec{NodeLocations: []string{"us-central1-a"}}, nil, "locations"},
		{"a label of a node", requestSpec{KubernetesLabels: gcpv1.NodeLabels{"tier": "blue"}}, nil, "labels"},
		{"a label that is not wanted any more", requestSpec{},
			func(n *container.NodePool) { n.Config.Labels = map[string]string{"tier": "blue"} }, "labels"},
		{"labels of GKE's own", requestSpec{}, func(n *container.NodePool) {
			n.Config.Labels = map[string]string{"sandbox.gke.io/runtime": "gvisor", "cloud.google.com/gke-x": "y"}
		}, ""},
		{"a taint", requestSpec{KubernetesTaints: []gcpv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}}, nil, "taints"},
		{"the same taint", requestSpec{KubernetesTaints: []gcpv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}},
			func(n *container.NodePool) {
				n.Config.Taints = []*container.NodeTaint{
					{Key: "nvidia.com/gpu", Value: "present", Effect: "NO_SCHEDULE"}, {Key: "only", Value: "x", Effect: "NO_SCHEDULE"},
				}
			}, ""},
		{"a taint of arm64 that GKE writes", requestSpec{}, func(n *container.NodePool) {
			n.Config.Taints = []*container.NodeTaint{{Key: "kubernetes.io/arch", Value: "arm64", Effect: "NO_SCHEDULE"}}
		}, ""},
		{"tags in another order are the same", requestSpec{NodeNetwork: &gcpv1.NodeNetworkConfig{Tags: []string{"b", "a"}}},
			func(n *container.NodePool) {
				n.Config.Tags = []string{"a", "b"}
			}, ""},
		{"other tags", requestSpec{NodeNetwork: &gcpv1.NodeNetworkConfig{Tags: []string{"a"}}}, nil, "tags"},
		{"a label of cloud objects", requestSpec{}, func(n *container.NodePool) { n.Config.ResourceLabels["team"] = "a" }, "resourceLabels"},
		{"labels of the existing provider stay", requestSpec{},
			func(n *container.NodePool) { n.Config.ResourceLabels["capg-cluster-c"] = "owned" }, ""},
		{"management that GKE has", requestSpec{Management: &gcpv1.NodePoolManagement{AutoUpgrade: true, AutoRepair: true}}, nil, ""},
		{"other management", requestSpec{Management: &gcpv1.NodePoolManagement{AutoRepair: true}}, nil, "management"},
		{"autoscaling is on unless it is said to be off",
			requestSpec{Scaling: &gcpv1.NodePoolAutoScaling{MinCount: new(int32(1)), MaxCount: new(int32(3))}}, nil, "autoscaling"},
		{"autoscaling that is off in the specification", requestSpec{Scaling: &gcpv1.NodePoolAutoScaling{EnableAutoscaling: new(false)}},
			func(n *container.NodePool) {
				n.Autoscaling = &container.NodePoolAutoscaling{}
			}, ""},
		{"autoscaling without a specification", requestSpec{}, func(n *container.NodePool) {
			n.Autoscaling = &container.NodePoolAutoscaling{Enabled: true, MaxNodeCount: 3}
		}, "autoscaling"},
		{"a location policy that GKE chose", requestSpec{Scaling: &gcpv1.NodePoolAutoScaling{MinCount: new(int32(1)), MaxCount: new(int32(3))}},
			func(n *container.NodePool) {
				n.Autoscaling = &container.NodePoolAutoscaling{Enabled: true, MinNodeCount: 1, MaxNodeCount: 3, LocationPolicy: "BALANCED"}
			}, ""},
		{"bounds of the whole pool in the place of those of zones",
			requestSpec{Scaling: &gcpv1.NodePoolAutoScaling{TotalMaxCount: new(int32(6))}}, func(n *container.NodePool) {
				n.Autoscaling = &container.NodePoolAutoscaling{Enabled: true, MinNodeCount: 1, MaxNodeCount: 3}
			}, "autoscaling"},
		{"the strategy that GKE has", requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{}}, nil, ""},
		{"a surge of none", requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{MaxSurge: new(int32(0)), MaxUnavailable: new(int32(1))}}, nil,
			"upgradeSettings"},
		{"another strategy", requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{Strategy: gcpv1.UpgradeBlueGreen}}, nil, "upgradeSettings"},
		{"the same blue-green strategy, with the precision of 32 bits", requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{
			Strategy: gcpv1.UpgradeBlueGreen, BlueGreenSettings: &gcpv1.BlueGreenSettings{
				NodePoolSoakDuration:  &metav1.Duration{Duration: time.Hour},
				StandardRolloutPolicy: &gcpv1.StandardRolloutPolicy{BatchPercentage: new(int32(20))},
			},
		}}, func(n *container.NodePool) {
			n.UpgradeSettings = &container.UpgradeSettings{Strategy: "BLUE_GREEN", BlueGreenSettings: &container.BlueGreenSettings{
				NodePoolSoakDuration: "3600s", StandardRolloutPolicy: &container.StandardRolloutPolicy{BatchPercentage: 0.20000000298},
			}}
		}, ""},
		{"what GKE changes in no node pool", requestSpec{Spot: new(true), MaxPodsPerNode: new(int64(64)), NodeSecurity: &gcpv1.NodeSecurityConfig{
			EnableSecureBoot: new(true), ServiceAccount: &gcpv1.ServiceAccountConfig{Email: new("x@y")},
		}}, nil, "maxPodsConstraint serviceAccount shieldedInstanceConfig spot"},
		{"security as it is", requestSpec{NodeSecurity: &gcpv1.NodeSecurityConfig{EnableSecureBoot: new(false),
			ServiceAccount: &gcpv1.ServiceAccountConfig{
				Scopes: []string{"https://www.googleapis.com/auth/monitoring", "https://www.googleapis.com/auth/logging.write"},
			}}}, nil, ""},
	} {
		var names []string
		for _, p := range request.Parts.Differing(request.NodePool(&c.want, owner), reported(c.is), fields.Rolls, fields.InPlace, fields.Fixed) {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != c.parts {
			t.Errorf("%s: want %q, got %q", c.reason, c.parts, got)
		}
	}
}

// TestRequest holds what is sent for a change: what is wanted, with what is GKE's own, and with what the specification leaves out as it is.
func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		want   requestSpec
		is     func(*container.NodePool)
		body   string
	}{
		{"labels of the cloud objects keep GKE's", requestSpec{}, func(n *container.NodePool) { n.Config.ResourceLabels["team"] = "a" },
			`{"etag":"etag","resourceLabels":{"labels":{"goog-gke-node-pool-provisioning-model":"on-demand","owner":"o"}}}`},
		{"the last label goes", requestSpec{}, func(n *container.NodePool) { n.Config.Labels = map[string]string{"tier": "blue"} },
			`{"etag":"etag","labels":{}}`},
		{"the last taint goes, and GKE's stays", requestSpec{}, func(n *container.NodePool) {
			n.Config.Taints = []*container.NodeTaint{
				{Key: "nvidia.com/gpu", Value: "present", Effect: "NO_SCHEDULE"}, {Key: "only", Value: "x", Effect: "NO_SCHEDULE"},
			}
		}, `{"etag":"etag","taints":{"taints":[{"effect":"NO_SCHEDULE","key":"nvidia.com/gpu","value":"present"}]}}`},
		{"the last tag goes", requestSpec{}, func(n *container.NodePool) { n.Config.Tags = []string{"a"} }, `{"etag":"etag","tags":{}}`},
		{"a machine type goes with the disk, and before an image", requestSpec{
			InstanceType: new("n2-standard-4"), DiskSizeGb: new(int32(50)), ImageType: new("UBUNTU_CONTAINERD"),
		}, nil,
			`{"diskSizeGb":"50","etag":"etag","machineType":"n2-standard-4"}`},
		{"a surge that the specification leaves out stays",
			requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{MaxUnavailable: new(int32(2))}}, nil,
			`{"etag":"etag","upgradeSettings":{"maxSurge":1,"maxUnavailable":2,"strategy":"SURGE"}}`},
		{"soaking", requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{Strategy: gcpv1.UpgradeBlueGreen,
			BlueGreenSettings: &gcpv1.BlueGreenSettings{
				NodePoolSoakDuration: &metav1.Duration{Duration: 2 * time.Hour}, StandardRolloutPolicy: &gcpv1.StandardRolloutPolicy{
					BatchNodeCount: new(int32(2)), BatchSoakDuration: &metav1.Duration{Duration: time.Minute},
				},
			}}}, nil, `{"etag":"etag","upgradeSettings":{"blueGreenSettings":{"nodePoolSoakDuration":"7200s","standardRolloutPolicy":` +
			`{"batchNodeCount":2,"batchSoakDuration":"60s"}},"strategy":"BLUE_GREEN"}}`},
		{"a batch that the specification leaves out stays", requestSpec{UpgradeSettings: &gcpv1.UpgradeSettings{Strategy: gcpv1.UpgradeBlueGreen,
			BlueGreenSettings: &gcpv1.BlueGreenSettings{NodePoolSoakDuration: &metav1.Duration{Duration: time.Minute}}}},
			func(n *container.NodePool) {
				n.UpgradeSettings = &container.UpgradeSettings{Strategy: "BLUE_GREEN", BlueGreenSettings: &container.BlueGreenSettings{
					StandardRolloutPolicy: &container.StandardRolloutPolicy{BatchPercentage: 0.5},
				}}
			}, `{"etag":"etag","upgradeSettings":{"blueGreenSettings":{"nodePoolSoakDuration":"60s","standardRolloutPolicy":{"batchPercentage":0.5}},` +
				`"strategy":"BLUE_GREEN"}}`},
	} {
		is := reported(c.is)
		want := request.NodePool(&c.want, owner)
		differing := request.Parts.Differing(want, is, fields.Rolls, fields.InPlace)
		if len(differing) == 0 {
			t.Errorf("%s: want a difference", c.reason)
			continue
		}
		body, err := json.Marshal(request.Request(differing.Together(), want, is))
		if err != nil || string(body) != c.body {
			t.Errorf("%s: want %s, got %s and %v", c.reason, c.body, body, err)
		}
	}
}

// TestAutoscaling holds that bounds of zones and of the whole node pool exclude each other, and that what is left out stays.
func TestAutoscaling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		want   *gcpv1.NodePoolAutoScaling
		is     *container.NodePoolAutoscaling
		body   string
	}{
		{"off", nil, &container.NodePoolAutoscaling{Enabled: true, MaxNodeCount: 3}, `{"enabled":false}`},
		{"on", &gcpv1.NodePoolAutoScaling{MinCount: new(int32(1)), MaxCount: new(int32(3)), LocationPolicy: new(gcpv1.LocationAny)}, nil,
			`{"enabled":true,"locationPolicy":"ANY","maxNodeCount":3,"minNodeCount":1}`},
		{"the policy stays", &gcpv1.NodePoolAutoScaling{TotalMinCount: new(int32(2)), TotalMaxCount: new(int32(6))},
			&container.NodePoolAutoscaling{Enabled: true, MinNodeCount: 1, MaxNodeCount: 3, LocationPolicy: "BALANCED"},
			`{"enabled":true,"locationPolicy":"BALANCED","totalMaxNodeCount":6,"totalMinNodeCount":2}`},
		{"the maximum stays", &gcpv1.NodePoolAutoScaling{MinCount: new(int32(2))},
			&container.NodePoolAutoscaling{Enabled: true, MinNodeCount: 1, MaxNodeCount: 3}, `{"enabled":true,"maxNodeCount":3,"minNodeCount":2}`},
	} {
		want := request.NodePool(&requestSpec{Scaling: c.want}, owner)
		body, err := json.Marshal(request.Autoscaling(want, &container.NodePool{Autoscaling: c.is}))
		if err != nil || string(body) != c.body {
			t.Errorf("%s: want %s, got %s and %v", c.reason, c.body, body, err)
		}
	}
}

// TestNodePool holds the node pool that is created from a specification in which everything is named.
func TestNodePool(t *testing.T) {
	t.Parallel()
	want := request.NodePool(&requestSpec{
		InstanceType: new("n2-standard-4"), DiskSizeGb: new(int32(50)), DiskType: new(gcpv1.NodeDiskType("pd-ssd")), LocalSsdCount: new(int32(1)),
		ImageType: new("COS_CONTAINERD"), MaxPodsPerNode: new(int64(64)), NodeLocations: []string{"us-central1-b", "us-central1-a"},
		Spot: new(true), ConfidentialCompute: new(gcpv1.ConfidentialSEVSNP),
		NodeNetwork: &gcpv1.NodeNetworkConfig{Tags: []string{"web"}, CreatePodRange: new(true), PodRangeName: new("pods"),
			PodRangeCidrBlock: new("/20")},
		NodeSecurity: &gcpv1.NodeSecurityConfig{ServiceAccount: &gcpv1.ServiceAccountConfig{Email: new("n@p")}, SandboxType: new("gvisor"),
			EnableSecureBoot: new(true)},
		KubernetesLabels: gcpv1.NodeLabels{"tier": "blue"}, KubernetesTaints: []gcpv1.Taint{{Key: "only", Value: "x", Effect: "NoExecute"}},
		LinuxNodeConfig: &gcpv1.LinuxNodeConfig{Hugepages: &gcpv1.HugepagesConfig{HugepageSize2m: new(int32(8))}},
		Management:      &gcpv1.NodePoolManagement{AutoRepair: true},
	}, owner)
	body, err := json.Marshal(want)
	const expected = `{"autoscaling":{},"config":{"confidentialNodes":{"confidentialInstanceType":"SEV_SNP","enabled":true},` +
		`"diskSizeGb":50,"diskType":"pd-ssd","imageType":"COS_CONTAINERD","labels":{"tier":"blue"},` +
		`"linuxNodeConfig":{"hugepages":{"hugepageSize2m":8}},"localSsdCount":1,"machineType":"n2-standard-4","resourceLabels":{"owner":"o"},` +
		`"sandboxConfig":{"type":"GVISOR"},"serviceAccount":"n@p","shieldedInstanceConfig":{"enableIntegrityMonitoring":true,"enableSecureBoot":true},` +
		`"spot":true,"tags":["web"],"taints":[{"effect":"NO_EXECUTE","key":"only","value":"x"}]},"locations":["us-central1-a","us-central1-b"],` +
		`"management":{"autoRepair":true,"autoUpgrade":false},"maxPodsConstraint":{"maxPodsPerNode":"64"},` +
		`"networkConfig":{"createPodRange":true,"podIpv4CidrBlock":"/20","podRange":"pods"}}`
	if err != nil || string(body) != expected {
		t.Errorf("want %s\ngot %s and %v", expected, body, err)
	}
}

// TestWithRolling holds that a step changes what it is to change and leaves the other parts whose change rolls as they are.
func TestWithRolling(t *testing.T) {
	t.Parallel()
	want := request.NodePool(&requestSpec{ImageType: new("UBUNTU_CONTAINERD"), InstanceType: new("n2-standard-4"), DiskSizeGb: new(int32(50)),
		LinuxNodeConfig: &gcpv1.LinuxNodeConfig{CgroupMode: new(int32(1))}}, owner)
	is := reported(nil)
	var steps []string
	for range 4 {
		differing := request.Parts.Differing(want, is, fields.Rolls)
		if len(differing) == 0 {
			break
		}
		changed := differing.Together()
		var names []string
		for _, p := range changed {
			names = append(names, p.Name)
		}
		steps = append(steps, strings.Join(names, "+"))
		is = request.WithRolling(want, is, changed)
	}
	if expected := []string{"machineType+diskSizeGb", "linuxNodeConfig", "imageType"}; !slices.Equal(steps, expected) {
		t.Errorf("want the steps %v, got %v", expected, steps)
	}
}
