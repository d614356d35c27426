package agentpool

import (
	"slices"
	"testing"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

func TestVersionOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, version, want string
		refused            bool
	}{
		{"as a MachinePool writes it", "v1.31.2", "1.31.2", false},
		{"as AKS writes it", "1.31.2", "1.31.2", false},
		{"the patch is AKS's to choose", "1.31", "1.31", false},
		{"what comes after the patch is the distribution's", "v1.31.2-eks.1", "1.31.2", false},
		{"a word", "latest", "", true},
		{"no minor version", "v1", "", true},
		{"another major version", "v2.1.0", "", true},
		{"a patch that is no number", "v1.31.x", "", true},
	} {
		got, err := versionOf("field", c.version)
		if (err != nil) != c.refused || err == nil && got.String() != c.want {
			t.Errorf("%s: want %q (refused: %t), got %q, %v", c.why, c.want, c.refused, got, err)
		}
	}
	if got, err := versionOf("field", ""); err != nil || got != (upgrade.Version{}) {
		t.Errorf("want no version for an empty text, got %+v, %v", got, err)
	}
}

// readerOver is the reader of a User pool of one machine that was read as given.
func readerOver(is body.Properties, kubernetes string, machines ...machine) reader {
	read := clusterRead{cluster: &managedCluster{version: "1.33.1", systemPools: 1}, machines: machines}
	r := reader{&pass{memory: &memory{read: read}}}
	if is != nil {
		r.memory.read.pool = &agentPool{properties: is}
	}
	r.t = target{name: "pool", Target: Target{
		KubernetesVersion: kubernetes, Owner: cloud.Owner{ID: "o"},
		Spec: &aksv1.AgentPoolSource{Name: "pool", Managed: &aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "Large"}},
	}}
	return r
}

// TestCompare holds what becomes of properties that differ.
func TestCompare(t *testing.T) {
	t.Parallel()
	asWanted := func() body.Properties {
		r := readerOver(nil, "")
		w, err := r.desired()
		if err != nil {
			t.Fatal(err)
		}
		w.properties[body.OrchestratorVersion] = "1.32.1"
		return w.properties
	}
	for _, c := range []struct {
		why                 string
		change              body.Properties
		kubernetes          string
		drift, unchangeable []string
		version, size       string
	}{
		{"nothing differs", nil, "v1.32.1", nil, nil, "1.32.1", "Large"},
		{"a label of a user is removed, taints too", body.Properties{body.NodeLabels: map[string]any{"a": "b"}, body.NodeTaints: []any{"x"}},
			"v1.32.1",
			[]string{"spec.nodeLabels", "spec.taints"}, nil, "1.32.1", "Large"},
		{"a tag of another client stays", body.Properties{body.Tags: map[string]any{"x": "y"}}, "v1.32.1", []string{"spec.additionalTags"}, nil,
			"1.32.1", "Large"},
		{"the count is no drift", body.Properties{body.Count: 7.0}, "v1.32.1", nil, nil, "1.32.1", "Large"},
		{"AKS does not change the type", body.Properties{body.Type: "AvailabilitySet"}, "v1.32.1", nil, []string{"spec.type"}, "1.32.1", "Large"},
		{"the size rolls", body.Properties{body.VMSize: "Small"}, "v1.32.1", nil, nil, "1.32.1", "Large"},
		{"the version rolls", nil, "v1.33.1", nil, nil, "1.33.1", "Large"},
		{"of both the version goes first", body.Properties{body.VMSize: "Small"}, "v1.33.1", nil, nil, "1.33.1", "Small"},
	} {
		is := asWanted()
		for name, value := range c.change {
			is[name] = value
		}
		w, err := readerOver(is, c.kubernetes).desired()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(w.drift)
		if !slices.Equal(w.drift, c.drift) || !slices.Equal(w.unchangeable, c.unchangeable) {
			t.Errorf("%s: want drift %v and unchangeable %v, got %v and %v", c.why, c.drift, c.unchangeable, w.drift, w.unchangeable)
		}
		if w.properties[body.OrchestratorVersion] != c.version || w.properties[body.VMSize] != c.size {
			t.Errorf("%s: want version %s and size %s next, got %v and %v", c.why, c.version, c.size, w.properties[body.OrchestratorVersion],
				w.properties[body.VMSize])
		}
	}
}

// TestRollout holds what the states of an agent pool say of the replacement of its machines.
func TestRollout(t *testing.T) {
	t.Parallel()
	failedAt := time.Unix(100, 0)
	old, fresh := machine{name: "old", size: "small", provisioning: stateSucceeded}, machine{name: "new", size: "Large",
		provisioning: stateSucceeded, latest: true}
	for _, c := range []struct {
		why, state string
		machines   []machine
		want       pool.ProviderRolloutState
		percent    int
	}{
		{"AKS keeps no record of what ended well", stateSucceeded, []machine{fresh}, "", 0},
		{"an upgrade runs", "Upgrading", []machine{old, fresh}, pool.ProviderRolloutRunning, 50},
		{"a new node image is brought", "UpgradingNodeImageVersion", []machine{fresh}, pool.ProviderRolloutRunning, 100},
		{"a larger count is no rollout", "Scaling", []machine{fresh}, "", 0},
		{"an upgrade is being aborted", "Canceling", []machine{old}, pool.ProviderRolloutCancelling, 0},
		{"an upgrade was aborted", stateCanceled, []machine{old, fresh}, pool.ProviderRolloutCancelled, 50},
		{"something else was aborted", stateCanceled, []machine{fresh}, "", 0},
		{"an upgrade failed", stateFailed, []machine{old}, pool.ProviderRolloutFailed, 0},
		{"something else failed", stateFailed, []machine{fresh}, "", 0},
		{"an upgrade of no machines failed", stateFailed, nil, "", 0},
	} {
		r := readerOver(body.Properties{"provisioningState": c.state, body.VMSize: "Large", body.OrchestratorVersion: "1.32.1"}, "v1.32.1",
			c.machines...)
		r.memory.last.failed = failedAt
		w, err := r.desired()
		if err != nil {
			t.Fatal(err)
		}
		got := r.rollout(w, &pool.Cause{Message: "why"})
		if got == nil {
			got = &pool.ProviderRollout{}
		}
		if got.State != c.want || got.Percent != c.percent {
			t.Errorf("%s: want %q at %d percent, got %+v", c.why, c.want, c.percent, got)
		}
		if ended := got.State == pool.ProviderRolloutCancelled || got.State == pool.ProviderRolloutFailed; ended != got.Ended.Equal(failedAt) {
			t.Errorf("%s: want an end only of what has ended, got %s", c.why, got.Ended)
		}
		if (got.State == pool.ProviderRolloutFailed) != (got.Failures == 1 && got.Reason == "why") {
			t.Errorf("%s: want AKS's words on a failure alone, got %+v", c.why, got)
		}
	}
}

// TestConfigurationOf holds which configuration a machine is taken to have.
func TestConfigurationOf(t *testing.T) {
	t.Parallel()
	of := func(size string, latest bool) machine { return machine{size: size, latest: latest} }
	for _, c := range []struct {
		why, running  string
		m             machine
		others        []machine
		version, size string
	}{
		{"at rest", "1.32.1", of("Large", true), nil, "1.32.1", "large"},
		{"the size is the machine's own", "1.32.1", of("Small", true), nil, "1.32.1", "small"},
		{"an upgrade replaces it", "1.31.2", of("Large", false), nil, "1.31.2", "large"},
		{"an upgrade has brought it", "1.31.2", of("Large", true), []machine{of("Large", false)}, "1.32.1", "large"},
		{"an upgrade has not begun with any", "1.31.2", of("Large", true), []machine{of("Large", true)}, "1.31.2", "large"},
		{"AKS tells no running version", "", of("Large", false), nil, "1.32.1", "large"},
		{"a machine of unknown size", "1.32.1", of("", true), nil, "1.32.1", "large"},
	} {
		properties := body.Properties{"currentOrchestratorVersion": c.running, body.OrchestratorVersion: "1.32.1"}
		r := readerOver(properties, "", append(c.others, c.m)...)
		launched := configuration{version: reported("1.32.1"), rolls: map[string]any{body.VMSize: "large"}}
		got := r.memory.read.configurationOf(c.m, launched)
		if got.version.String() != c.version || got.rolls[body.VMSize] != c.size {
			t.Errorf("%s: want %s on %s, got %+v", c.why, c.version, c.size, got)
		}
		if launched.rolls[body.VMSize] != "large" {
			t.Fatalf("%s: want the agent pool's configuration unchanged", c.why)
		}
	}
}

// TestRequestVersion holds that the size of machines is changed in a version of the API that knows it, and all else in the manifest's.
func TestRequestVersion(t *testing.T) {
	t.Parallel()
	managed := target{Target: Target{Spec: &aksv1.AgentPoolSource{Managed: &aksv1.AzureManagedMachinePoolSpec{}}}}
	manifest := func(version string) target {
		return target{Target: Target{Spec: &aksv1.AgentPoolSource{Manifest: &aksv1.AgentPoolManifest{APIVersion: version}}}}
	}
	for _, c := range []struct {
		why            string
		t              target
		ofVMs, resizes bool
		want           string
	}{
		{"Muster's own", managed, false, false, apiVersion},
		{"a size", managed, false, true, resizeVersion},
		{"the manifest's", manifest("2023-10-01"), false, false, "2023-10-01"},
		{"a size by a manifest of an older version", manifest("2023-10-01"), false, true, resizeVersion},
		{"a size by a manifest of a newer version", manifest("2026-05-01"), false, true, "2026-05-01"},
		{"virtual machines by a manifest of an older version", manifest("2023-10-01"), true, false, vmsVersion},
		{"their size", manifest("2023-10-01"), true, true, vmsVersion},
		{"virtual machines by a manifest of a newer version", manifest("2026-05-01"), true, false, "2026-05-01"},
	} {
		if got := c.t.version(c.ofVMs, c.resizes); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

// TestNodeImagesAreOrdered holds the order of node images: by the numbers of their release.
func TestNodeImagesAreOrdered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		a, b nodeImage
		want bool
	}{
		{"an older month", "AKSUbuntu-2204gen2containerd-202609.03.0", "AKSUbuntu-2204gen2containerd-202610.01.0", true},
		{"the same", "AKSUbuntu-2204gen2containerd-202610.01.0", "202610.01.0", false},
		{"a newer one", "202610.02.0", "AKSUbuntu-2204gen2containerd-202610.01.0", false},
		{"numbers, not texts", "202610.9.0", "202610.10.0", true},
		{"of another family", "AKSAzureLinux-V3gen2-202609.03.0", "AKSUbuntu-2204gen2containerd-202610.01.0", true},
		{"an unknown one is not older", "", "202610.01.0", false},
		{"none is asked for", "AKSUbuntu-2204gen2containerd-202609.03.0", "", false},
	} {
		if got := c.a.before(c.b); got != c.want {
			t.Errorf("%s: want %q before %q to be %t", c.why, c.a, c.b, c.want)
		}
	}
}

func TestSplitGroupID(t *testing.T) {
	t.Parallel()
	const cluster = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c"
	for _, c := range []struct{ why, id, cluster, name string }{
		{"an agent pool", "azure://" + cluster + "/agentPools/p", cluster, "p"},
		{"a scale set", "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v", "", ""},
		{"no provider ID", cluster + "/agentPools/p", "", ""},
		{"nothing", "", "", ""},
	} {
		if gotCluster, name := splitGroupID(c.id); gotCluster != c.cluster || name != c.name {
			t.Errorf("%s: want %q and %q, got %q and %q", c.why, c.cluster, c.name, gotCluster, name)
		}
	}
}
