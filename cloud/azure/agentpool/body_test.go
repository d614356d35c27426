package agentpool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/fields"
)

func document(t *testing.T, text string) body.Properties {
	t.Helper()
	p := body.Properties{}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOfManaged(t *testing.T) {
	t.Parallel()
	tags := azurev1.Tags{"team": "a"}
	for _, c := range []struct {
		why  string
		spec aksv1.AzureManagedMachinePoolSpec
		want string
	}{
		{"the published flavor", aksv1.AzureManagedMachinePoolSpec{Mode: "System", SKU: "Standard_D2s_v3"},
			`{"mode":"System","vmSize":"Standard_D2s_v3","type":"VirtualMachineScaleSets","tags":{"team":"a"},"nodeLabels":{},"nodeTaints":[],"enableAutoScaling":false,"vnetSubnetID":"/subnet"}`},
		{"a disk of 0 GB is AKS's default", aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S", OSDiskSizeGB: new(int)},
			`{"mode":"User","vmSize":"S","type":"VirtualMachineScaleSets","tags":{"team":"a"},"nodeLabels":{},"nodeTaints":[],"enableAutoScaling":false,"vnetSubnetID":"/subnet"}`},
		{"bounds switch AKS's autoscaler on", aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S",
			Scaling: &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}},
			`{"mode":"User","vmSize":"S","type":"VirtualMachineScaleSets","tags":{"team":"a"},"nodeLabels":{},"nodeTaints":[],"enableAutoScaling":true,"minCount":1,"maxCount":5,"vnetSubnetID":"/subnet"}`},
		{"taints, labels, price, zones", aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S", ScaleSetPriority: new("Spot"),
			SpotMaxPrice:      new(resource.MustParse("0.04")),
			AvailabilityZones: []string{"1"}, NodeLabels: map[string]string{"a": "b"}, Taints: []aksv1.Taint{{Key: "k", Value: "v",
				Effect: "NoSchedule"}}},
			`{"mode":"User","vmSize":"S","type":"VirtualMachineScaleSets","tags":{"team":"a"},"nodeLabels":{"a":"b"},"nodeTaints":["k=v:NoSchedule"],"enableAutoScaling":false,
			"vnetSubnetID":"/subnet","scaleSetPriority":"Spot","spotMaxPrice":0.04,"availabilityZones":["1"]}`},
		{"sysctls in AKS's spelling", aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S",
			LinuxOSConfig: &aksv1.LinuxOSConfig{Sysctls: &aksv1.SysctlConfig{
				NetIpv4TCPFinTimeout: new(int32(5)), NetIpv4IPLocalPortRange: new("1024 65000"), NetIpv4TCPkeepaliveIntvl: new(int32(9))}}},
			`{"mode":"User","vmSize":"S","type":"VirtualMachineScaleSets","tags":{"team":"a"},"nodeLabels":{},"nodeTaints":[],"enableAutoScaling":false,"vnetSubnetID":"/subnet",
			"linuxOSConfig":{"sysctls":{"netIpv4TcpFinTimeout":5,"netIpv4IpLocalPortRange":"1024 65000","netIpv4TcpkeepaliveIntvl":9}}}`},
		{"patches in order, references and removals", aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S",
			ASOManagedClustersAgentPoolPatches: []string{
				`{"spec":{"enableCustomCATrust":true,"nodeLabels":{"x":"y"}}}`,
				`{"spec":{"enableCustomCATrust":null,"podSubnetReference":{"armId":"/pods"}}}`}},
			`{"mode":"User","vmSize":"S","type":"VirtualMachineScaleSets","tags":{"team":"a"},"nodeLabels":{"x":"y"},"nodeTaints":[],"enableAutoScaling":false,"vnetSubnetID":"/subnet","podSubnetID":"/pods"}`},
	} {
		got, err := body.OfManaged(&c.spec, "/subnet", tags)
		if diff := cmp.Diff(document(t, c.want), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.why, err, diff)
		}
	}
}

func TestPatchesRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, patch, want string }{
		{"not JSON", `spec: {}`, "spec.asoManagedClustersAgentPoolPatches[0]"},
		{"a number that JSON has not", `{"spec":{"kubeletConfig":{"cpuCfsQuota":NaN}}}`,
			"spec.asoManagedClustersAgentPoolPatches[0]: spec.kubeletConfig.cpuCfsQuota: not a JSON merge patch: found NaN, must be a number"},
		{"a number without end in a list", `{"spec":{"a":[1,-Infinity]}}`, "[0]: spec.a[1]: not a JSON merge patch: found -Infinity, must be"},
		{"a number that no float holds", `{"spec":{"osDiskSizeGB":1e999}}`,
			"[0]: spec.osDiskSizeGB: not a JSON merge patch: found 1e999, must be a number of at most 1.8e308"},
		{"a number that is not exact", `{"spec":{"osDiskSizeGB":99999999999999999999}}`,
			"[0]: spec.osDiskSizeGB: found 1e+20, must be from -9007199254740992 to 9007199254740992"},
		{"another part of the manifest", `{"metadata":{"name":"x"}}`, "below spec alone"},
		{"a reference to another manifest", `{"spec":{"vnetSubnetReference":{"name":"s"}}}`, "armId"},
		{"no object", `[]`, "spec.asoManagedClustersAgentPoolPatches[0]"},
		{"the owner's tag", `{"spec":{"tags":{"muster.dev_owner":"x"}}}`, "spec.asoManagedClustersAgentPoolPatches[0]: spec.tags.muster.dev_owner"},
		{"the owner's tag as Azure takes it", `{"spec":{"tags":{"MUSTER.dev_Owner":"x"}}}`, "begin with muster.dev_"},
		{"tags that are none", `{"spec":{"tags":"x"}}`, "spec.tags"},
		{"another mode", `{"spec":{"mode":"System"}}`, "spec.mode is User"},
		{"no mode", `{"spec":{"mode":null}}`, "spec.mode is User"},
		{"a mode as Azure takes it", `{"spec":{"Mode":"System"}}`, "write mode"},
		{"another owner", `{"spec":{"owner":{"name":"other"}}}`, "spec.owner"},
		{"another name", `{"spec":{"azureName":"other"}}`, "spec.azureName"},
		{"a count", `{"spec":{"count":7}}`, "spec.replicas of the MachinePool"},
		{"a count as Azure takes it", `{"spec":{"COUNT":7}}`, "write count"},
		{"a version", `{"spec":{"orchestratorVersion":"1.30.0"}}`, "spec.template.spec.version of the MachinePool"},
		{"an autoscaler", `{"spec":{"enableAutoScaling":true}}`, "spec.scaling sets it"},
		{"its bound", `{"spec":{"maxCount":7}}`, "spec.scaling.maxSize"},
		{"Secrets", `{"spec":{"operatorSpec":{"secretExpressions":[]}}}`, "only Azure Service Operator"},
	} {
		_, err := body.OfManaged(&aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S",
			ASOManagedClustersAgentPoolPatches: []string{c.patch}}, "",
			nil)
		if err == nil || cloud.KindOf(err) != cloud.Invalid || !contains(err.Error(), c.want) {
			t.Errorf("%s: want a refusal with %q, got %v", c.why, c.want, err)
		}
	}
}

// TestOwnTagsWin keeps the tags of the owner, whatever the cluster's name of them in another case.
func TestOwnTagsWin(t *testing.T) {
	t.Parallel()
	got, err := body.OfManaged(&aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S"}, "",
		azurev1.Tags{"MUSTER.dev_owner": "x", "muster.dev_owner": "o", "team": "a"})
	if diff := cmp.Diff(map[string]any{"muster.dev_owner": "o", "team": "a"}, got[body.Tags]); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// published is the manifest of an agent pool in the published flavor.
const published = `{"apiVersion":"containerservice.azure.com/v1api20231001","kind":"ManagedClustersAgentPool","metadata":{"name":"c-pool0","annotations":{"a":"b"}},
"spec":{"azureName":"pool0","mode":"System","owner":{"name":"c"},"type":"VirtualMachineScaleSets","vmSize":"Standard_D2s_v3","osDiskSizeGB":64,"vnetSubnetReference":{"armId":"/s"}}}`

func TestOfManifest(t *testing.T) {
	t.Parallel()
	spec := aksv1.AzureASOManagedMachinePoolSpec{Resources: []runtime.RawExtension{{Raw: []byte(published)}}}
	m, err := spec.AgentPoolManifest()
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "pool0" || m.APIVersion != "2023-10-01" || m.Annotations["a"] != "b" {
		t.Errorf("want pool0 of 2023-10-01, got %+v", m)
	}
	got, err := body.OfManifest(m, azurev1.Tags{"muster.dev_owner": "o"})
	want := document(t, `{"mode":"System","type":"VirtualMachineScaleSets","vmSize":"Standard_D2s_v3","osDiskSizeGB":64,"vnetSubnetID":"/s","tags":{"muster.dev_owner":"o"}}`)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestManifestsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		docs []string
		want string
	}{
		{"none", nil, "no containerservice.azure.com ManagedClustersAgentPools defined"},
		{"two agent pools", []string{published, published}, "spec.resources[1]: found a second"},
		{"another kind", []string{`{"apiVersion":"network.azure.com/v1api20201101","kind":"VirtualNetwork","metadata":{"name":"v"}}`},
			"spec.resources[0]: found VirtualNetwork v"},
		{"a number that no float holds", []string{strings.Replace(published, "64", "1e999", 1)},
			"spec.resources[0].spec.osDiskSizeGB: found 1e999, must be a number of at most 1.8e308"},
		{"an unknown version", []string{
			`{"apiVersion":"containerservice.azure.com/v1","kind":"ManagedClustersAgentPool","metadata":{"name":"v"}}`,
		}, "spec.resources[0].apiVersion"},
	} {
		spec := aksv1.AzureASOManagedMachinePoolSpec{}
		for _, doc := range c.docs {
			spec.Resources = append(spec.Resources, runtime.RawExtension{Raw: []byte(doc)})
		}
		if _, err := spec.AgentPoolManifest(); err == nil || !contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.why, c.want, err)
		}
	}
}

func TestDiffering(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, wanted, is string
		want            []string
		effect          fields.Effect
	}{
		{"defaults of AKS are no difference", `{"vmSize":"S"}`, `{"vmSize":"S","maxPods":110,"osSKU":"Ubuntu"}`, nil, 0},
		{"letter case of sizes and IDs means nothing", `{"vmSize":"standard_d2s_v3","vnetSubnetID":"/SUBNETS/a"}`,
			`{"vmSize":"Standard_D2s_v3","vnetSubnetID":"/subnets/A"}`, nil, 0},
		{"absent is false, and an empty list", `{"enableFIPS":false,"nodeTaints":[]}`, `{}`, nil, 0},
		{"the order of taints and zones means nothing", `{"nodeTaints":["a","b"],"availabilityZones":["1","2"]}`,
			`{"nodeTaints":["b","a"],"availabilityZones":["2","1"]}`, nil, 0},
		{"a label too many", `{"nodeLabels":{}}`, `{"nodeLabels":{"a":"b"}}`, []string{"nodeLabels"}, fields.InPlace},
		{"a label with an empty value that is missing", `{"nodeLabels":{"a":""}}`, `{"nodeLabels":{}}`, []string{"nodeLabels"}, fields.InPlace},
		{"the label and the taint that AKS adds to spot nodes", `{"nodeLabels":{"a":"b"},"nodeTaints":["x=y:NoSchedule"]}`,
			`{"nodeLabels":{"a":"b","kubernetes.azure.com/scalesetpriority":"spot"},
			"nodeTaints":["kubernetes.azure.com/scalesetpriority=spot:NoSchedule","x=y:NoSchedule"]}`, nil, 0},
		{"the same, named by the user and not shown", `{"nodeLabels":{"kubernetes.azure.com/scalesetpriority":"spot"},
			"nodeTaints":["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]}`, `{}`, nil, 0},
		{"the user's own beside those", `{"nodeLabels":{"a":"c"},"nodeTaints":[]}`,
			`{"nodeLabels":{"a":"b","kubernetes.azure.com/scalesetpriority":"spot"},
			"nodeTaints":["kubernetes.azure.com/scalesetpriority=spot:NoSchedule","x=y:NoSchedule"]}`, []string{"nodeLabels", "nodeTaints"},
			fields.InPlace},
		{"a tag of another client is left alone", `{"tags":{"a":"b"}}`, `{"tags":{"a":"b","policy":"x"}}`, nil, 0},
		{"parts of an object that are not wanted are left alone", `{"upgradeSettings":{"maxSurge":"2"}}`,
			`{"upgradeSettings":{"maxSurge":"2","drainTimeoutInMinutes":30}}`, nil, 0},
		{"one part of an object", `{"upgradeSettings":{"maxSurge":"2"}}`, `{"upgradeSettings":{"maxSurge":"10%","drainTimeoutInMinutes":30}}`,
			[]string{"upgradeSettings"}, fields.InPlace},
		{"the size of nodes is changed by a rollout", `{"vmSize":"L"}`, `{"vmSize":"S"}`, []string{"vmSize"}, fields.Rolls},
		{"the price of spot machines", `{"spotMaxPrice":0.5}`, `{"spotMaxPrice":-1}`, []string{"spotMaxPrice"}, fields.Fixed},
		{"what AKS can't change", `{"maxPods":50}`, `{"maxPods":110}`, []string{"maxPods"}, fields.Fixed},
	} {
		got := body.Differing(document(t, c.wanted), document(t, c.is))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
		for _, name := range got {
			if effect := body.Fields.Of(name).Effect; effect != c.effect {
				t.Errorf("%s: want the effect %v, got %v", c.why, c.effect, effect)
			}
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	const spot = `"kubernetes.azure.com/scalesetpriority`
	is := document(t, `{"vmSize":"S","count":3,"provisioningState":"Succeeded","tags":{"policy":"x"},"enableAutoScaling":true,"minCount":1,
		"maxCount":5,"nodeLabels":{"old":"y",`+spot+`":"spot"},"nodeTaints":[`+spot+`=spot:NoSchedule","old=y:NoSchedule"]}`)
	wanted := document(t, `{"vmSize":"L","tags":{"a":"b"},"nodeLabels":{"new":"z"},"nodeTaints":["new=z:NoSchedule"],"enableAutoScaling":false}`)
	want := document(t, `{"vmSize":"L","count":3,"tags":{"policy":"x","a":"b"},"enableAutoScaling":false,
		"nodeLabels":{"new":"z",`+spot+`":"spot"},"nodeTaints":["new=z:NoSchedule",`+spot+`=spot:NoSchedule"]}`)
	got := body.Merge(wanted, is)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the request (-want +got):\n%s", diff)
	}
	if left := body.Differing(wanted, got); left != nil {
		t.Errorf("want nothing left to change, got %v", left)
	}
	if is[body.VMSize] != "S" || is["provisioningState"] == nil {
		t.Errorf("want what was read left as it was, got %v", is)
	}
}
