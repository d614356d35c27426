package crd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
)

// TestViewOfGCPCluster holds the fields that are read from a GCPCluster.
func TestViewOfGCPCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, object string
		want        gcpv1.ClusterView
		subnet      string
	}{
		{"the published flavor", `
kind: GCPCluster
metadata: {name: c}
spec: {project: p, region: us-central1, network: {name: net}}
status: {ready: true, failureDomains: {us-central1-b: {controlPlane: true}, us-central1-a: {controlPlane: true}}}`, gcpv1.ClusterView{
			Name: "c", ClusterName: "c", Project: "p", Region: "us-central1", Network: "net", NetworkProject: "p",
			FailureDomains: []string{"us-central1-a", "us-central1-b"}, Ready: true,
		}, ""},
		{"a shared network, and everything else", `
kind: GCPCluster
metadata: {name: c, labels: {cluster.x-k8s.io/cluster-name: owner}}
spec:
  project: p
  region: us-central1
  failureDomains: [us-central1-f, us-central1-a]
  network: {hostProject: host, subnets: [{name: far, region: europe-west1}, {name: near, region: us-central1}, {name: next,
    region: us-central1}]}
  additionalLabels: {team: a}
  resourceManagerTags: [{parentID: '1', key: k, value: v}]
  serviceEndpoints: {compute: 'https://c', container: 'https://k', iam: 'https://i'}`, gcpv1.ClusterView{
			Name: "c", ClusterName: "owner", Project: "p", Region: "us-central1", Network: "default", NetworkProject: "host",
			FailureDomains: []string{"us-central1-a", "us-central1-f"},
			Subnets: []gcpv1.SubnetView{{Name: "far", Region: "europe-west1"}, {Name: "near", Region: "us-central1"},
				{Name: "next", Region: "us-central1"}},
			AdditionalLabels: map[string]string{"team": "a"}, ResourceManagerTags: []gcpv1.ResourceManagerTag{{ParentID: "1", Key: "k", Value: "v"}},
			Endpoints: gcpv1.Endpoints{Compute: "https://c", Container: "https://k", IAM: "https://i"},
		}, "near"},
	} {
		got, err := gcpv1.ClusterViewOf(untyped(t, c.object))
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
		if got.NodeSubnet() != c.subnet {
			t.Errorf("%s: want subnet %q, got %q", c.why, c.subnet, got.NodeSubnet())
		}
	}
	if _, err := gcpv1.ClusterViewOf(untyped(t, "{kind: GCPCluster, metadata: {name: c}, spec: {network: net}}")); err == nil ||
		!strings.Contains(err.Error(), "read GCPCluster c") {
		t.Errorf("want the object named, got %v", err)
	}
}

// TestViewOfGKECluster holds the fields that are read from a GCPManagedControlPlane, and those of a GCPManagedCluster.
func TestViewOfGKECluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, object                     string
		name, location, region, version string
		regional, ready, autopilot      bool
	}{
		{"the published flavor", "spec: {project: p, location: us-central1, clusterName: gke}\nstatus: {ready: true, version: 1.34.2-gke.1, " +
			"currentVersion: 1.34.1}", "gke", "us-central1", "us-central1", "1.34.2-gke.1", true, true, false},
		{"a zone, and the older words for versions",
			"spec: {project: p, location: europe-west1-b, controlPlaneVersion: v1.33.0}\nstatus: {currentVersion: 1.33.1}", "", "europe-west1-b",
			"europe-west1", "1.33.1", false, false, false},
		{"a version that is wanted", "spec: {project: p, location: us-central1, enableAutopilot: true, version: v1.34.0, " +
			"controlPlaneVersion: v1.33.0}", "", "us-central1", "us-central1", "v1.34.0", true, false, true},
	} {
		got, err := gcpv1.ManagedClusterViewOf(untyped(t, "kind: GCPManagedControlPlane\nmetadata: {name: cp}\n"+c.object), "c")
		if err != nil || got.Name != c.name || got.Location != c.location || got.View.Region != c.region || got.Version != c.version ||
			got.Regional() != c.regional ||
			got.View.Ready != c.ready || got.Autopilot != c.autopilot || got.View.Project != "p" || got.View.ClusterName != "c" ||
			got.View.Name != "cp" {
			t.Errorf("%s: got %+v, %v", c.why, got, err)
		}
		got.Complete(gcpv1.ClusterView{Project: "other", Network: "net", NetworkProject: "host",
			Endpoints:        gcpv1.Endpoints{Container: "https://k"},
			AdditionalLabels: map[string]string{"team": "a"}})
		if v := got.View; v.Project != "p" || v.Network != "net" || v.NetworkProject != "host" || v.Endpoints.Container != "https://k" ||
			v.AdditionalLabels["team"] != "a" || v.Name != "cp" {
			t.Errorf("%s: want the cluster object's part added, got %+v", c.why, v)
		}
	}
}

// TestAccessorsOfGCPPools holds which of several fields counts, and the documented defaults.
func TestAccessorsOfGCPPools(t *testing.T) {
	t.Parallel()
	pool := func(text string) *gcpv1.GCPMachinePoolSpec {
		s := &gcpv1.GCPMachinePoolSpec{}
		if err := yaml.Unmarshal([]byte(text), s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := pool("{additionalDisks: [{}, {deviceType: local-ssd, size: 10}, {deviceType: pd-ssd, size: 10}]}")
	if s.RootSize() != 30 || s.RootType() != gcpv1.DiskTypeStandard || s.Spot() || s.Confidential() != gcpv1.ConfidentialDisabled {
		t.Errorf("want the documented defaults, got %d, %s, %t, %s", s.RootSize(), s.RootType(), s.Spot(), s.Confidential())
	}
	for i, want := range []struct {
		kind gcpv1.DiskType
		size int64
	}{{gcpv1.DiskTypeStandard, 30}, {gcpv1.DiskTypeLocalSSD, 375}, {gcpv1.DiskTypeSSD, 10}} {
		if d := s.AdditionalDisks[i]; d.Type() != want.kind || d.SizeGB() != want.size {
			t.Errorf("disk %d: want %+v, got %s of %d", i, want, d.Type(), d.SizeGB())
		}
	}
	s = pool("{rootDeviceSize: 50, rootDeviceType: pd-ssd, provisioningModel: Spot, confidentialCompute: Enabled}")
	if s.RootSize() != 50 || s.RootType() != gcpv1.DiskTypeSSD || !s.Spot() || s.Confidential() != gcpv1.ConfidentialSEV {
		t.Errorf("want what is set, got %d, %s, %t, %s", s.RootSize(), s.RootType(), s.Spot(), s.Confidential())
	}
	if got := pool("{confidentialCompute: IntelTrustedDomainExtensions}").Confidential(); got != gcpv1.ConfidentialTDX {
		t.Errorf("want what is set, got %s", got)
	}
	for text, want := range map[string]struct {
		machine string
		disk    int64
		scaled  bool
	}{
		"{}": {}, "{machineType: a, diskSizeGb: 20, scaling: {}}": {"a", 20, true},
		"{instanceType: b, machineType: a, diskSizeGB: 30, diskSizeGb: 20, scaling: {enableAutoscaling: true}}": {"b", 30, true},
		"{instanceType: '', machineType: a, scaling: {enableAutoscaling: false}}":                               {"a", 0, false},
	} {
		m := &gcpv1.GCPManagedMachinePoolSpec{}
		if err := yaml.Unmarshal([]byte(text), m); err != nil {
			t.Fatal(err)
		}
		if m.Machine() != want.machine || m.DiskSize() != want.disk || m.Scaling.On() != want.scaled {
			t.Errorf("%s: want %+v, got %q, %d, %t", text, want, m.Machine(), m.DiskSize(), m.Scaling.On())
		}
	}
}

// TestFingerprintOfGCPIdentity holds that fingerprints distinguish identities by their fields without exposing these.
func TestFingerprintOfGCPIdentity(t *testing.T) {
	t.Parallel()
	var none *gcpv1.IdentityView
	a, b := &gcpv1.IdentityView{Name: "Secret/ns/a", Credentials: common.NewSecret("s3cret")},
		&gcpv1.IdentityView{Name: "Secret/ns/a", Credentials: common.NewSecret("other")}
	if none.Fingerprint() != "" || a.Fingerprint() == b.Fingerprint() || strings.Contains(a.Fingerprint(), "s3cret") {
		t.Errorf("want fingerprints that differ and show nothing, got %q and %q", a.Fingerprint(), b.Fingerprint())
	}
}
