package crd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
)

// TestViewOfScalewayCluster holds the fields that are read from a ScalewayManagedControlPlane, and those of a ScalewayManagedCluster.
func TestViewOfScalewayCluster(t *testing.T) {
	t.Parallel()
	const infra = `
kind: ScalewayManagedCluster
metadata: {name: i}
spec: {region: fr-par, projectID: ` + uuid + `, scalewaySecretName: keys}`
	for _, c := range []struct {
		why, object, cluster string
		want                 scalewayv1.ClusterView
	}{
		{"a control plane that is initialized", `
metadata: {name: cp}
spec: {clusterName: ns-cp, type: kapsule, version: v1.34.1}
status: {version: v1.34.2, initialization: {controlPlaneInitialized: true}}`, "c",
			scalewayv1.ClusterView{Name: "ns-cp", ControlPlane: "cp", ClusterName: "c", Type: "kapsule", Version: "v1.34.2", Ready: true}},
		{"the older version's word", "metadata: {name: cp}\nspec: {clusterName: ns-cp, version: v1.34.1}\nstatus: {initialized: true}", "c",
			scalewayv1.ClusterView{Name: "ns-cp", ControlPlane: "cp", ClusterName: "c", Version: "v1.34.1", Ready: true}},
		{"a control plane that is new", "metadata: {name: cp, labels: {cluster.x-k8s.io/cluster-name: owner}}\nspec: {version: v1.34.1}", "",
			scalewayv1.ClusterView{ControlPlane: "cp", ClusterName: "owner", Version: "v1.34.1"}},
	} {
		got, err := scalewayv1.ClusterViewOf(untyped(t, "kind: ScalewayManagedControlPlane\n"+c.object), c.cluster)
		if err == nil {
			err = got.Complete(untyped(t, infra))
		}
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		c.want.Region, c.want.ProjectID, c.want.SecretName = "fr-par", uuid, "keys"
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
	if _, err := scalewayv1.ClusterViewOf(untyped(t, "{kind: ScalewayManagedControlPlane, metadata: {name: cp}, spec: {version: {}}}"),
		"c"); err == nil || !strings.Contains(err.Error(), "read ScalewayManagedControlPlane cp") {
		t.Errorf("want the object named, got %v", err)
	}
	broken := untyped(t, "{kind: ScalewayManagedCluster, metadata: {name: i}, spec: {region: []}}")
	if err := new(scalewayv1.ClusterView).Complete(broken); err == nil ||
		!strings.Contains(err.Error(), "read ScalewayManagedCluster i") {
		t.Errorf("want the object named, got %v", err)
	}
}

// TestScalewayRemembered holds that the stored look-ups of an object lead to its pool, and that errors name missing ones.
func TestScalewayRemembered(t *testing.T) {
	t.Parallel()
	v := scalewayv1.ClusterView{Region: "fr-par", ProjectID: uuid, Name: "ns-cp"}
	got, err := scalewayv1.ClusterViewRemembered(v.Remember(), "muster.dev/kept")
	if diff := cmp.Diff(v, got); diff != "" || err != nil {
		t.Errorf("want what was kept, got %v\n%s", err, diff)
	}
	if _, err := scalewayv1.ClusterViewRemembered(nil, "muster.dev/kept"); err == nil ||
		!strings.Contains(err.Error(), `metadata.annotations[muster.dev/kept]`) || !strings.Contains(err.Error(), `"kapsule-cluster"`) {
		t.Errorf("want an error that names the annotation and its keys, got %v", err)
	}
}

// TestAccessorsOfScalewayPools holds the defaults, and what has no effect on external pools.
func TestAccessorsOfScalewayPools(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		surge, unavailable             int32
		autoscaled, healed, isExternal bool
	}{
		"{}":                                                 {surge: 1},
		"{upgradePolicy: {maxUnavailable: 2}}":               {unavailable: 2},
		"{upgradePolicy: {maxUnavailable: 0}}":               {surge: 1},
		"{upgradePolicy: {maxSurge: 0}}":                     {unavailable: 1},
		"{upgradePolicy: {maxSurge: 3}}":                     {surge: 3},
		"{upgradePolicy: {maxSurge: 3, maxUnavailable: 1}}":  {surge: 3, unavailable: 1},
		"{scaling: {autoscaling: true}, autohealing: true}":  {surge: 1, autoscaled: true, healed: true},
		"{scaling: {maxSize: 3}, autohealing: false}":        {surge: 1},
		"{nodeType: external, scaling: {autoscaling: true}}": {surge: 1, isExternal: true},
	} {
		s := &scalewayv1.ScalewayManagedMachinePoolSpec{}
		if err := yaml.Unmarshal([]byte(text), s); err != nil {
			t.Fatal(err)
		}
		surge, unavailable := s.Upgrade()
		if surge != want.surge || unavailable != want.unavailable || s.Autoscaled() != want.autoscaled || s.Autohealed() != want.healed ||
			s.External() != want.isExternal {
			t.Errorf("%s: want %+v, got %d, %d, %t, %t, %t", text, want, surge, unavailable, s.Autoscaled(), s.Autohealed(), s.External())
		}
	}
}

// TestFingerprintOfScalewayIdentity holds that fingerprints distinguish identities by their fields without exposing these.
func TestFingerprintOfScalewayIdentity(t *testing.T) {
	t.Parallel()
	var none *scalewayv1.IdentityView
	base := scalewayv1.IdentityView{Name: "Secret/ns/a", AccessKey: "SCW1", SecretKey: common.NewSecret("s3cret")}
	seen := map[string]bool{none.Fingerprint(): true, base.Fingerprint(): true}
	for _, change := range []func(*scalewayv1.IdentityView){
		func(i *scalewayv1.IdentityView) { i.Name = "Secret/ns/b" },
		func(i *scalewayv1.IdentityView) { i.AccessKey = "SCW2" },
		func(i *scalewayv1.IdentityView) { i.SecretKey = common.NewSecret("other") },
		func(i *scalewayv1.IdentityView) { i.APIURL = "https://api.example.com" },
	} {
		other := base
		change(&other)
		if f := other.Fingerprint(); seen[f] || strings.Contains(f, "s3cret") || strings.Contains(f, "other") {
			t.Errorf("want a fingerprint of its own that shows nothing, got %q", f)
		}
		seen[other.Fingerprint()] = true
	}
	if none.Fingerprint() != "" {
		t.Errorf("want none for no identity, got %q", none.Fingerprint())
	}
}
