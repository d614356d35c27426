package toy_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/toy"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/managed"
	simtoy "github.com/muster-project/muster/sim/toy"
)

// world is a simulated cloud with a driver and a pool.
type world struct {
	*testing.T
	cloud  *simtoy.Cloud
	driver *toy.Driver
	target toy.Target
}

func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud()
		if err != nil {
			t.Fatal(err)
		}
		defer made.Close()
		test(&world{T: t, cloud: made, driver: newDriver(sim.Transport{Handler: made}), target: toy.Target{
			Owner:             cloud.Owner{ID: "owner-id", Cluster: clusterName, Namespace: "default", Name: "pool"},
			KubernetesVersion: version, Spec: pool(func(s *toy.Spec) { s.Upgrade.SoakSeconds = 0 }),
		}})
	})
}

func (w *world) observe() domain.Observed {
	w.Helper()
	o, err := w.driver.Observe(w.Context(), w.target)
	if err != nil {
		w.Fatal(err)
	}
	return o
}

func (w *world) start(s domain.Step) {
	w.Helper()
	if err := w.driver.Start(w.Context(), w.target, s); err != nil {
		w.Fatalf("start %s: %v", s.Kind, err)
	}
	settle()
}

func (w *world) create() {
	w.Helper()
	w.start(domain.Step{Kind: domain.CreateGroup, Size: 2})
}

func (w *world) upgradeCluster(to string) {
	w.Helper()
	if _, err := w.cloud.Console.PutCluster(managed.Cluster{Key: clusterName, Version: to}); err != nil {
		w.Fatal(err)
	}
	settle()
}

func (w *world) key() string { return clusterName + "/" + w.target.Owner.ResourceName() }

func reasons(o domain.Observed) (out []string) {
	for _, i := range o.Issues {
		out = append(out, i.Reason)
	}
	return out
}

func versionsOf(g *sim.Group) (out []string) {
	for _, m := range g.Members {
		out = append(out, m.Kubernetes)
	}
	return slices.Compact(out)
}

// TestVersionFollowsControlPlane: nodes are upgraded one minor version at a time, each after their control plane.
func TestVersionFollowsControlPlane(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create()
		w.target.KubernetesVersion = "v1.36.1"
		if o := w.observe(); !slices.Contains(reasons(o), domain.ControlPlaneUpgradePending) || !o.Wanted.Same(o.Instances[0].Template) {
			t.Errorf("want the control plane waited for, got %v, %+v", reasons(o), o.Wanted)
		}
		w.upgradeCluster("1.36.1")
		for _, want := range []string{"1.35.3", "1.36.1"} {
			o := w.observe()
			w.start(domain.Step{Kind: domain.StartProviderRollout, Template: o.Latest().Ref})
			if is := versionsOf(w.cloud.Console.Snapshot().Group(w.target.Owner.ResourceName())); !slices.Equal(is, []string{want}) {
				t.Errorf("want nodes of version %s, got %v", want, is)
			}
		}
		w.target.KubernetesVersion = "v1.34.2"
		if o := w.observe(); !slices.Contains(reasons(o), "NewerVersion") || !o.Wanted.Same(o.Instances[0].Template) {
			t.Errorf("want the newer version kept, got %v", reasons(o))
		}
	})
}

// TestRolloutOfOthers: an upgrade that the object does not ask for is another client's.
func TestRolloutOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create()
		w.upgradeCluster("1.35.0")
		if err := w.cloud.Console.Change(w.key(), func(s *managed.Spec) { s.Version = "1.35.0" }); err != nil {
			w.Fatal(err)
		}
		if r := w.observe().ProviderRollout; r == nil || !r.ByOthers || !r.Runs() {
			t.Errorf("want a rollout of another client, got %+v", r)
		}
	})
}

// TestAutoscaler: the size that the cloud's autoscaler gives a pool is reported with its bounds, and is no drift.
func TestAutoscaler(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec.Pool.Autoscaling = &toy.Autoscaling{Min: 1, Max: 5}
		w.create()
		if err := w.cloud.Console.Autoscale(w.key(), 4); err != nil {
			t.Fatal(err)
		}
		settle()
		if g := w.observe().Group; g.Size != 4 || g.Min != 1 || g.Max != 5 || len(g.Drift) > 0 {
			t.Errorf("want 4 nodes within 1 and 5, got %+v", g)
		}
	})
}

// TestZones: a pool is created in the zones of its specification, or else in those that the MachinePool names. They can't be changed.
func TestZones(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.FailureDomains = simtoy.Zones()[:1]
		w.create()
		for _, i := range w.observe().Instances {
			if i.Zone != simtoy.Zones()[0] {
				t.Errorf("want nodes in %s, got one in %s", simtoy.Zones()[0], i.Zone)
			}
		}
		w.target.Spec.Pool.Zones = simtoy.Zones()[1:]
		if g := w.observe().Group; !slices.Equal(g.Unchangeable, []string{"spec.zones"}) {
			t.Errorf("want the zones named as what can't be changed, got %+v", g)
		}
	})
}

// TestPlaceThatIsNone: a cluster that can't exist is named, and a pool that was never created there can be deleted.
func TestPlaceThatIsNone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec.Cluster = cloudtest.Unexpanded
		cloudtest.PlaceThatIsNone(w.T, w.driver, w.target, "spec.clusterName", "toy:///clusters/c/pools/p")
	})
}

// proxy answers in the cloud's place.
type proxy struct{}

func (proxy) RoundTrip(*http.Request) (*http.Response, error) {
	page := io.NopCloser(strings.NewReader("<html>gone</html>"))
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: page}, nil
}

// TestProxyIsNoCloud: the page of a proxy says nothing of clusters.
func TestProxyIsNoCloud(t *testing.T) {
	inWorld(t, func(w *world) {
		if o, err := newDriver(proxy{}).Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Unavailable {
			t.Errorf("want an error of kind %s, got %+v, %v", cloud.Unavailable, o, err)
		}
	})
}
