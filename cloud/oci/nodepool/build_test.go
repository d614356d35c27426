package nodepool

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
)

// TestNewestImage: of images for the version and the kind of machines, the one of the newest Oracle Linux, then of the newest date.
func TestNewestImage(t *testing.T) {
	t.Parallel()
	var sources []containerengine.NodeSourceOption
	for _, name := range []string{
		"Oracle-Linux-8.10-2025.09.16-0-OKE-1.34.1-1330", "Oracle-Linux-8.9-2025.10.01-0-OKE-1.34.1-1400",
		"Oracle-Linux-8.10-2025.10.02-0-OKE-1.34.1-1401", "Oracle-Linux-8.10-2025.10.02-0-OKE-1.34.1-999",
		"Oracle-Linux-7.9-2025.11.01-0-OKE-1.34.1-2000", "Oracle-Linux-8.10-aarch64-2025.12.01-0-OKE-1.34.1-1500",
		"Oracle-Linux-8.10-Gen2-GPU-2025.12.01-0-OKE-1.34.1-1501", "Oracle-Linux-8.10-2025.12.01-0-OKE-1.34.10-1600",
		"Oracle-Linux-8.10-2025.12.01-0-OKE-1.35.0-1700", "Canonical-Ubuntu-24.04-2025.12.01", "Oracle-Linux-8.10-2025.12.02-0",
	} {
		sources = append(sources, containerengine.NodeSourceOption{SourceName: new(name), ImageId: new("id of " + name)})
	}
	for _, c := range []struct {
		shape, version, want string
	}{
		{"VM.Standard.E4.Flex", "v1.34.1", "Oracle-Linux-8.10-2025.10.02-0-OKE-1.34.1-1401"},
		{"VM.Standard.A1.Flex", "v1.34.1", "Oracle-Linux-8.10-aarch64-2025.12.01-0-OKE-1.34.1-1500"},
		{"BM.Standard.A1.160", "v1.34.1", "Oracle-Linux-8.10-aarch64-2025.12.01-0-OKE-1.34.1-1500"},
		{"VM.GPU.A10.1", "v1.34.1", "Oracle-Linux-8.10-Gen2-GPU-2025.12.01-0-OKE-1.34.1-1501"},
		{"VM.Standard.E4.Flex", "v1.34.10", "Oracle-Linux-8.10-2025.12.01-0-OKE-1.34.10-1600"},
		{"VM.Standard.A1.Flex", "v1.35.0", ""},
	} {
		if got := strings.TrimPrefix(newest(sources, c.version, kindOf(c.shape)), "id of "); got != c.want {
			t.Errorf("%s of %s: want %q, got %q", c.shape, c.version, c.want, got)
		}
	}
}

// TestPlacementKeepsForeignParts: what Muster does not know of an availability domain stays in the request.
func TestPlacementKeepsForeignParts(t *testing.T) {
	t.Parallel()
	preemptible := &containerengine.PreemptibleNodeConfigDetails{PreemptionAction: &containerengine.PreemptionAction{Type: new("TERMINATE")}}
	r := &change{is: containerengine.NodePool{NodeConfigDetails: &containerengine.NodePoolNodeConfigDetails{
		PlacementConfigs: []containerengine.NodePoolPlacementConfigDetails{
			{AvailabilityDomain: new("AD-1"), SubnetId: new("s"), PreemptibleNodeConfig: preemptible, HostGroupId: new("h")}},
	}}}
	want := []containerengine.NodePoolPlacementConfigDetails{
		{AvailabilityDomain: new("AD-1"), SubnetId: new("t"), FaultDomains: []string{"F-1", "F-2"}, PreemptibleNodeConfig: preemptible,
			HostGroupId: new("h")},
		{AvailabilityDomain: new("AD-2"), SubnetId: new("t"), CapacityReservationId: new("r")},
	}
	places := []string{string(placementOf(containerengine.NodePoolPlacementConfigDetails{AvailabilityDomain: new("AD-1"), SubnetId: new("t"),
		FaultDomains: []string{"F-2", "F-1"}})), string(placementOf(want[1]))}
	putPlacement(r, doc{memberPlacement: places}, nil)
	if got := r.NodeConfigDetails.PlacementConfigs; !reflect.DeepEqual(got, want) {
		text, _ := json.Marshal(got)
		t.Errorf("want %v, got %s", places, text)
	}
}

// TestDurations: durations that mean the same do not differ.
func TestDurations(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]any{"PT0M": int64(0), "PT60M": int64(60), "PT1H": int64(60), "PT90S": int64(2), "PT1H30M": int64(90),
		"": nil, "soon": nil} {
		if got := minutesOf(written); got != want {
			t.Errorf("%s: want %v minutes, got %v", written, want, got)
		}
	}
}

// poolTarget returns a target of a specification.
func poolTarget(s ociv1.OCIManagedMachinePoolSpec, c ociv1.ManagedClusterView) target {
	return target{spec: &s, cluster: &c, at: oke.Pool{Kind: "node pool", Name: "pool", Cluster: &c}}
}

// TestNetworkOfCluster: parts of the network are found by name, or by their role, and what is missing is told by its field.
func TestNetworkOfCluster(t *testing.T) {
	t.Parallel()
	is := ociv1.ClusterView{AvailabilityDomains: []ociv1.AvailabilityDomain{{Name: "AD-1"}, {Name: "AD-2"}},
		Subnets:        []ociv1.NetworkPart{{Name: "w", Role: ociv1.RoleWorker, ID: "subnet-w"}, {Name: "pending"}},
		SecurityGroups: []ociv1.NetworkPart{{Name: "g", Role: ociv1.RoleWorker, ID: "nsg-g"}}}
	native := func(o ociv1.VCNIPNativePodNetworkOptions) *ociv1.NodePoolNodeConfig {
		return &ociv1.NodePoolNodeConfig{NodePoolPodNetworkOptionDetails: &ociv1.NodePoolPodNetworkOptionDetails{CNIType: ociv1.CNINative,
			VCNIPNativePodNetworkOptions: o}}
	}
	at := func(name string) *ociv1.NodePoolNodeConfig {
		return &ociv1.NodePoolNodeConfig{PlacementConfigs: []ociv1.PlacementConfig{{AvailabilityDomain: "AD-1", SubnetName: &name}}}
	}
	for _, c := range []struct {
		reason string
		config *ociv1.NodePoolNodeConfig
		kind   cloud.ErrorKind
		words  string
	}{
		{"the defaults of the cluster, without a network of pods", nil, "", ""},
		{"a subnet that is missing", at("none"), cloud.Invalid, "spec.nodePoolNodeConfig.placementConfigs"},
		{"a subnet that does not exist yet", at("pending"), cloud.Conflict, "does not exist yet"},
		{"a group that is missing", &ociv1.NodePoolNodeConfig{NSGNames: ociv1.SecurityGroupNames{"none"}}, cloud.Invalid,
			"spec.nodePoolNodeConfig.nsgNames"},
		{"a subnet of pods that is missing", native(ociv1.VCNIPNativePodNetworkOptions{SubnetNames: []string{"none"}}), cloud.Invalid,
			"vcnIpNativePodNetworkOptions.subnetNames"},
	} {
		d, to := doc{}, poolTarget(ociv1.OCIManagedMachinePoolSpec{NodePoolNodeConfig: c.config}, ociv1.ManagedClusterView{View: is})
		err := to.addPlacement(d)
		if err == nil {
			err = to.addNetwork(d)
		}
		if (err != nil) != (c.kind != "") || err != nil && (cloud.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("%s: want %s with %q, got %v", c.reason, c.kind, c.words, err)
		}
		if err == nil && (!reflect.DeepEqual(d[memberPlacement], []string{"AD-1|subnet-w||", "AD-2|subnet-w||"}) ||
			!reflect.DeepEqual(d[memberNSGs], []string{"nsg-g"}) || d[memberPodSubnets] != nil) {
			t.Errorf("%s: got %v", c.reason, d)
		}
	}
}

// TestSurge: the surge of a cycling is a number or a share of the nodes, rounded up.
func TestSurge(t *testing.T) {
	t.Parallel()
	for written, want := range map[ociv1.NodeCount]int{"": 1, "0": 0, "3": 3, "25%": 3, "100%": 10} {
		to := poolTarget(ociv1.OCIManagedMachinePoolSpec{NodePoolCyclingDetails: &ociv1.NodePoolCyclingDetails{MaximumSurge: &written}},
			ociv1.ManagedClusterView{})
		if got := to.surge(10); got != want {
			t.Errorf("%q: want %d, got %d", written, want, got)
		}
	}
}

// TestFieldsOfRefusals: a refusal that names a member of a request is about a field of the specification.
func TestFieldsOfRefusals(t *testing.T) {
	t.Parallel()
	for part, want := range map[string]string{"nodeShape": "spec.nodeShape", "imageId": "spec.nodeSourceViaImage.imageId",
		"placementConfigs": "spec.nodePoolNodeConfig.placementConfigs",
		"nodeConfigDetails.placementConfigs.subnetId": "spec.nodePoolNodeConfig.placementConfigs",
		"nodeShapeConfig": "spec.nodeShapeConfig.ocpus", "kubernetesVersion": fields.Version,
		"nodePoolCyclingDetails.maximumSurge": "spec.nodePoolCyclingDetails",
		"evictionGraceDuration":               "spec.nodeEvictionNodePoolSettings.evictionGraceDuration", "surprise": ""} {
		if got := specOf(part); got != want {
			t.Errorf("%s: want %q, got %q", part, want, got)
		}
	}
}

// TestTagsTellConfigurations: what a node was created from follows from its tag; without one, from its version or not at all.
func TestTagsTellConfigurations(t *testing.T) {
	t.Parallel()
	const launched, next, older = "v1:aaaa", "v1:bbbb", "v1:cccc"
	want := desired{next: oke.Template("v1.34.1", next), launched: oke.Template("v1.34.1", launched)}
	for _, c := range []struct {
		reason, tag, version, poolTag string
		pool                          map[string]string
		content                       string
	}{
		{"of the node pool", launched, "v1.34.1", launched, nil, launched},
		{"as wanted", next, "v1.34.1", launched, nil, next},
		{"older", older, "v1.34.1", launched, nil, older},
		{"Muster has not changed the node pool", "", "v1.34.1", "", nil, launched},
		{"the tag was taken off", "", "v1.34.1", launched, nil, ""},
		{"from before Muster", "", "v1.34.1", launched, map[string]string{untaggedTag: "older"}, "other"},
		{"of another version", "", "v1.33.1", "", nil, "other"},
		{"in place, with the former tag", older, "v1.34.1", launched, map[string]string{cycledTag: launched}, launched},
		{"in place, and changed since", older, "v1.34.1", launched, map[string]string{cycledTag: older}, older},
	} {
		read := poolRead{}
		read.Pool = &containerengine.NodePool{KubernetesVersion: new("v1.34.1"), LifecycleState: new(oke.StateActive),
			FreeformTags:      c.pool,
			NodeConfigDetails: &containerengine.NodePoolNodeConfigDetails{FreeformTags: map[string]string{oke.TemplateTag: c.poolTag}}}
		n := node{Node: containerengine.Node{KubernetesVersion: &c.version, FreeformTags: map[string]string{oke.TemplateTag: c.tag}},
			state:   pool.Running,
			created: time.Time{}}
		got := want.templateOf(read, n).Content
		if c.content == "other" && (got == "" || got == launched || got == next) || c.content != "other" && got != c.content {
			t.Errorf("%s: want %q, got %q", c.reason, c.content, got)
		}
	}
}
