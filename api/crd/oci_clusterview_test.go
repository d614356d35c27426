package crd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
)

// ociCluster is a cluster of v1beta2 as the ecosystem's provider leaves it.
const ociCluster = `
metadata: {name: i, namespace: ns, labels: {cluster.x-k8s.io/cluster-name: c}}
spec:
  ociResourceIdentifier: uid
  compartmentId: ocid1.compartment.oc1..a
  region: us-phoenix-1
  freeformTags: {team: a}
  definedTags: {Operations: {CostCenter: "42"}}
  availabilityDomains:
    "Uocm:PHX-AD-2": {name: "Uocm:PHX-AD-2", faultDomains: [FAULT-DOMAIN-1]}
    "Uocm:PHX-AD-1": {}
  networkSpec:
    vcn:
      subnets: [{name: pod, role: pod, id: s1}, {name: worker, role: worker, id: s2}]
      networkSecurityGroup: {list: [{name: worker, role: worker, id: g1}, {name: pod, role: pod}]}
`

// ociClusterView holds the fields that are read of it.
func ociClusterView() ociv1.ClusterView {
	return ociv1.ClusterView{
		Name: "i", ClusterName: "c", ResourceIdentifier: "uid", CompartmentID: "ocid1.compartment.oc1..a", Region: "us-phoenix-1",
		FreeformTags: map[string]string{"team": "a"}, DefinedTags: map[string]map[string]string{"Operations": {"CostCenter": "42"}},
		AvailabilityDomains: []ociv1.AvailabilityDomain{{Name: "Uocm:PHX-AD-1"},
			{Name: "Uocm:PHX-AD-2", FaultDomains: []string{"FAULT-DOMAIN-1"}}},
		Subnets:        []ociv1.NetworkPart{{Name: "pod", Role: "pod", ID: "s1"}, {Name: "worker", Role: "worker", ID: "s2"}},
		SecurityGroups: []ociv1.NetworkPart{{Name: "worker", Role: "worker", ID: "g1"}, {Name: "pod", Role: "pod"}},
	}
}

// TestViewOfOCICluster holds what is read of the infrastructure clusters, of both versions.
func TestViewOfOCICluster(t *testing.T) {
	t.Parallel()
	const overrides = `{certOverride: {name: ca}, computeClientUrl: 'https://c', computeManagementClientUrl: 'https://m',
    identityClientUrl: 'https://i', containerEngineClientUrl: 'https://e', workrequestClientUrl: 'https://w', vCNClientUrl: 'https://v'}`
	endpoints := ociv1.Endpoints{Compute: "https://c", ComputeManagement: "https://m", Identity: "https://i", ContainerEngine: "https://e",
		WorkRequests: "https://w"}
	for _, c := range []struct {
		why, object string
		want        func(*ociv1.ClusterView)
	}{
		{"of instances", "kind: OCICluster" + ociCluster + "status: {ready: true}", func(v *ociv1.ClusterView) { v.Ready = true }},
		{"of OKE, in the newer contract", "kind: OCIManagedCluster" + ociCluster + "status: {initialization: {provisioned: true}}",
			func(v *ociv1.ClusterView) { v.Managed, v.Ready = true, true }},
		{"with other addresses", "kind: OCICluster" + ociCluster + "  clientOverrides: " + overrides, func(v *ociv1.ClusterView) {
			v.Endpoints, v.CertificateRef = endpoints, &ociv1.SecretReference{Namespace: "ns", Name: "ca"}
		}},
		{"of OKE with other addresses", "kind: OCIManagedCluster" + ociCluster + "  hostUrl: {certOverride: {name: ca, namespace: other}}",
			func(v *ociv1.ClusterView) {
				v.Managed, v.CertificateRef = true, &ociv1.SecretReference{Namespace: "other", Name: "ca"}
			}},
		{"of the older version", `
kind: OCICluster
metadata: {name: i}
spec: {networkSpec: {vcn: {networkSecurityGroups: [{name: worker, role: worker, id: g1}]}}}
status: {availabilityDomains: {"Uocm:PHX-AD-1": {name: "Uocm:PHX-AD-1"}}}`, func(v *ociv1.ClusterView) {
			*v = ociv1.ClusterView{Name: "i", ClusterName: "i", AvailabilityDomains: []ociv1.AvailabilityDomain{{Name: "Uocm:PHX-AD-1"}},
				SecurityGroups: []ociv1.NetworkPart{{Name: "worker", Role: "worker", ID: "g1"}}}
		}},
	} {
		want := ociClusterView()
		c.want(&want)
		got, err := ociv1.ClusterViewOf(untyped(t, c.object))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.why, err, diff)
		}
	}
	broken := untyped(t, "{kind: OCICluster, metadata: {name: i}, spec: {region: []}}")
	if _, err := ociv1.ClusterViewOf(broken); err == nil || !strings.Contains(err.Error(), "read OCICluster i") {
		t.Errorf("want the object named, got %v", err)
	}
}

// TestPartsOfOCICluster holds how pools find subnets, security groups and provider IDs.
func TestPartsOfOCICluster(t *testing.T) {
	t.Parallel()
	v := ociClusterView()
	if s := v.NodeSubnet(); s == nil || s.ID != "s2" {
		t.Errorf("subnet of nodes: want s2, got %v", s)
	}
	if s := v.Subnet("pod"); s == nil || s.ID != "s1" || v.Subnet("none") != nil {
		t.Errorf("subnet by name: want s1 and none, got %v and %v", s, v.Subnet("none"))
	}
	if g := v.NodeSecurityGroups(); len(g) != 1 || g[0].ID != "g1" || v.SecurityGroup("pod") == nil {
		t.Errorf("security groups: want g1 for nodes and pod by name, got %v and %v", g, v.SecurityGroup("pod"))
	}
	if got := v.ProviderID("ocid1.instance.a"); got != "oci://ocid1.instance.a" {
		t.Errorf("provider ID: got %s", got)
	}
	v.Managed = true
	if got := v.ProviderID("ocid1.instance.a"); got != "ocid1.instance.a" {
		t.Errorf("provider ID in OKE: got %s", got)
	}
	if s := new(ociv1.ClusterView).NodeSubnet(); s != nil {
		t.Errorf("a cluster without subnets: want none, got %v", s)
	}
}

// TestViewOfOCIControlPlane holds what is read of an OCIManagedControlPlane, and what an OCIManagedCluster adds.
func TestViewOfOCIControlPlane(t *testing.T) {
	t.Parallel()
	got, err := ociv1.ManagedClusterViewOf(untyped(t, `
kind: OCIManagedControlPlane
metadata: {name: cp}
spec: {id: ocid1.cluster.oc1.iad.a, version: v1.34.1, clusterType: ENHANCED_CLUSTER,
  clusterPodNetworkOptions: [{cniType: FLANNEL_OVERLAY}, {}]}
status: {ready: true, version: v1.34.2}`), "owner")
	if err != nil {
		t.Fatal(err)
	}
	got.Complete(ociClusterView())
	want := ociv1.ManagedClusterView{View: ociClusterView(), ControlPlane: "cp", ID: "ocid1.cluster.oc1.iad.a", Version: "v1.34.2",
		Enhanced: true, CNITypes: []ociv1.CNIType{ociv1.CNIFlannel}, Ready: true}
	want.View.ClusterName, want.View.Managed = "owner", true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = ociv1.ManagedClusterViewOf(untyped(t, "kind: OCIManagedControlPlane\nmetadata: {name: cp}\nspec: {version: v1.34.1}"), "")
	if err != nil || got.Ready || got.Enhanced || got.ID != "" || got.Version != "v1.34.1" || got.View.ClusterName != "cp" {
		t.Errorf("a control plane that is new: got %+v, %v", got, err)
	}
	broken := untyped(t, "{kind: OCIManagedControlPlane, metadata: {name: cp}, spec: {version: {}}}")
	if _, err := ociv1.ManagedClusterViewOf(broken, "c"); err == nil || !strings.Contains(err.Error(), "read OCIManagedControlPlane cp") {
		t.Errorf("want the object named, got %v", err)
	}
}

// TestOCIRemembered holds that what an object keeps leads to its pool, and that what is missing is named.
func TestOCIRemembered(t *testing.T) {
	t.Parallel()
	v := ociv1.ClusterView{CompartmentID: "ocid1.compartment.oc1..a", Region: "us-phoenix-1", ResourceIdentifier: "uid", Managed: true,
		Endpoints: ociv1.Endpoints{Compute: "https://c", ComputeManagement: "https://m", Identity: "https://i", ContainerEngine: "https://e",
			WorkRequests: "https://w"}, CertificateRef: &ociv1.SecretReference{Namespace: "ns", Name: "ca"}}
	got, err := ociv1.ClusterViewRemembered(v.Remember(), "muster.dev/kept")
	if diff := cmp.Diff(v, got); diff != "" || err != nil {
		t.Errorf("want what was kept, got %v\n%s", err, diff)
	}
	m := ociv1.ManagedClusterView{View: v, ID: "ocid1.cluster.oc1.iad.a"}
	managed, err := ociv1.ManagedClusterViewRemembered(m.Remember(), "muster.dev/kept")
	if diff := cmp.Diff(m, managed); diff != "" || err != nil {
		t.Errorf("want what was kept, got %v\n%s", err, diff)
	}
	_, err = ociv1.ClusterViewRemembered(nil, "muster.dev/kept")
	if err == nil || !strings.Contains(err.Error(), "metadata.annotations[muster.dev/kept]") ||
		!strings.Contains(err.Error(), `"compartment"`) {
		t.Errorf("want an error that names the annotation and its keys, got %v", err)
	}
	_, err = ociv1.ManagedClusterViewRemembered(v.Remember(), "muster.dev/kept")
	if err == nil || !strings.Contains(err.Error(), `"oke-cluster"`) {
		t.Errorf("want an error that names the annotation and its keys, got %v", err)
	}
}

// TestOCIIdentity holds how a cluster names its identity, and what is read of one.
func TestOCIIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec string
		want *common.IdentityReference
	}{
		{"{}", nil},
		{"{identityRef: {name: a}}", &common.IdentityReference{Kind: "OCIClusterIdentity", Namespace: "ns", Name: "a"}},
		{"{identityRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: Other, namespace: b, name: a}}",
			&common.IdentityReference{Kind: "Other", Namespace: "b", Name: "a"}},
	} {
		got, err := ociv1.IdentityRefOf(untyped(t, "{kind: OCICluster, metadata: {name: i, namespace: ns}, spec: "+c.spec+"}"))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", c.spec, err, diff)
		}
	}
	ref := common.IdentityReference{Kind: "OCIClusterIdentity", Namespace: "ns", Name: "a"}
	if got, err := common.ParseIdentityReference(ref.String()); err != nil || got != ref {
		t.Errorf("want %v, got %v, %v", ref, got, err)
	}
	if _, err := common.ParseIdentityReference("a/b"); err == nil {
		t.Error("want an error for a reference without a name")
	}
	got, err := ociv1.IdentitySourceOf(untyped(t, `{kind: OCIClusterIdentity, metadata: {name: a}, spec: {type: UserPrincipal,
  principalSecret: {name: keys, namespace: ns}, allowedNamespaces: {list: null, selector: null}}}`))
	want := ociv1.IdentitySource{Type: ociv1.PrincipalUser, PrincipalSecret: ociv1.SecretReference{Name: "keys", Namespace: "ns"},
		Allowed: &common.AllowedNamespaces{}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if !got.Allowed.ByName("any") {
		t.Error("want an empty list and no selector to allow every namespace, as the ecosystem's provider reads them")
	}
}

// TestFingerprintOfOCIIdentity holds that identities are told apart by what they hold, which is not shown.
func TestFingerprintOfOCIIdentity(t *testing.T) {
	t.Parallel()
	var none *ociv1.IdentityView
	base := ociv1.IdentityView{Name: "OCIClusterIdentity/ns/a", Type: ociv1.PrincipalUser, PrivateKey: common.NewSecret("s3cret")}
	seen := map[string]bool{none.Fingerprint(): true, base.Fingerprint(): true}
	for _, change := range []func(*ociv1.IdentityView){
		func(i *ociv1.IdentityView) { i.Name = "OCIClusterIdentity/ns/b" },
		func(i *ociv1.IdentityView) { i.Type = ociv1.PrincipalWorkload },
		func(i *ociv1.IdentityView) { i.Tenancy = "t" },
		func(i *ociv1.IdentityView) { i.User = "t" },
		func(i *ociv1.IdentityView) { i.KeyFingerprint = "t" },
		func(i *ociv1.IdentityView) { i.Region = "t" },
		func(i *ociv1.IdentityView) { i.PrivateKey = common.NewSecret("0ther") },
		func(i *ociv1.IdentityView) { i.Passphrase = common.NewSecret("0ther") },
	} {
		other := base
		change(&other)
		if f := other.Fingerprint(); seen[f] || strings.Contains(f, "s3cret") || strings.Contains(f, "0ther") {
			t.Errorf("want a fingerprint of its own that shows nothing, got %q", f)
		}
		seen[other.Fingerprint()] = true
	}
	if none.Fingerprint() != "" {
		t.Errorf("want none for no identity, got %q", none.Fingerprint())
	}
}

// TestAccessorsOfOCIPools holds the defaults of the ecosystem's provider, and where the cluster decides.
func TestAccessorsOfOCIPools(t *testing.T) {
	t.Parallel()
	native := ociv1.NodePoolPodNetworkOptionDetails{CNIType: ociv1.CNINative, VCNIPNativePodNetworkOptions: ociv1.VCNIPNativePodNetworkOptions{
		SubnetNames: []string{"pod"}, NSGNames: ociv1.SecurityGroupNames{"pod"}}}
	for _, c := range []struct {
		spec          string
		plugins       []ociv1.CNIType
		network       ociv1.NodePoolPodNetworkOptionDetails
		image, cycled string
	}{
		{spec: "{}", network: native},
		{spec: "{nodePoolNodeConfig: {}}", plugins: []ociv1.CNIType{ociv1.CNIFlannel, ociv1.CNINative}, network: native},
		{spec: "{}", plugins: []ociv1.CNIType{ociv1.CNIFlannel}, network: ociv1.NodePoolPodNetworkOptionDetails{CNIType: ociv1.CNIFlannel}},
		{spec: "{nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {}}, nodeSourceViaImage: {imageId: a}}", image: "a"},
		{spec: "{nodePoolCyclingDetails: {isNodeCyclingEnabled: true}}", network: native, cycled: "yes"},
	} {
		s := &ociv1.OCIManagedMachinePoolSpec{}
		if err := yaml.Unmarshal([]byte(c.spec), s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.network, s.PodNetwork(c.plugins)); diff != "" {
			t.Errorf("%s: network of pods (-want +got):\n%s", c.spec, diff)
		}
		if s.Image() != c.image || s.Cycled() != (c.cycled != "") {
			t.Errorf("%s: want image %q and cycled %q, got %q and %t", c.spec, c.image, c.cycled, s.Image(), s.Cycled())
		}
	}
	virtual := &ociv1.OCIVirtualMachinePoolSpec{}
	pods := virtual.Pods()
	if *pods.Shape != "Pod.Standard.E4.Flex" || *pods.SubnetName != "pod" || len(pods.NSGNames) != 1 || virtual.PodConfiguration.Shape != nil {
		t.Errorf("want the defaults and the specification as it was, got %+v", pods)
	}
}
