package kapsule_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/scaleway/kapsule"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/scaleway"
)

const (
	endpoint    = "http://127.0.0.1:9"
	clusterName = scaleway.ClusterName
	version     = "v1.34.6"
	newer       = "v1.35.3"
)

type (
	source = *scalewayv1.ManagedMachinePoolSource
	spec   = scalewayv1.ScalewayManagedMachinePoolSpec
)

// managedPool returns a specification that can be met.
func managedPool() source {
	return &scalewayv1.ManagedMachinePoolSource{
		Name: "pool",
		Pool: &spec{NodeType: "PRO2-XXS", Zone: "fr-par-1", AdditionalTags: []string{"team=a"}},
		Cluster: scalewayv1.ClusterView{
			Name: clusterName, ClusterName: "c", Region: scaleway.Region, ProjectID: scaleway.ProjectID, Ready: true,
			Identity: &scalewayv1.IdentityView{Name: "Secret/default/scaleway", AccessKey: accessKey, SecretKey: common.NewSecret(secretKey)},
		},
	}
}

// with changes a copy of a specification.
func with(change func(*spec)) func(source) source {
	return func(s source) source {
		out := *s
		out.Pool = s.Pool.DeepCopy()
		change(out.Pool)
		return &out
	}
}

// newCloud makes a simulated cloud with a cluster that is at rest. It allows the documented permission sets and no other.
func newCloud(o scaleway.Options) (*scaleway.Cloud, error) {
	if o.Seed, o.Speed = 1, 1; o.Keys == nil {
		o.Keys = keyWith(allowed())
	}
	made, err := scaleway.New(o)
	if err != nil {
		return nil, err
	}
	_, err = made.PutCluster(scaleway.Access{Name: clusterName, Version: version[1:]})
	settle()
	return made, err
}

func newDriver(over http.RoundTripper) (*kapsule.Driver, error) {
	return kapsule.New(kapsule.Options{Endpoint: endpoint, Base: over})
}

// settle lets pass longer than any change takes that goes well.
func settle() {
	<-time.After(40 * time.Minute)
	synctest.Wait()
}

// world is a simulated cloud with a driver and a pool.
type world struct {
	*testing.T
	cloud  *scaleway.Cloud
	driver *kapsule.Driver
	target kapsule.Target
}

// inWorld runs a test in virtual time. Without options the cloud behaves as is assumed.
func inWorld(t *testing.T, o scaleway.Options, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud(o)
		if err != nil {
			t.Fatal(err)
		}
		defer made.Close()
		driver, err := newDriver(sim.Transport{Handler: made})
		if err != nil {
			t.Fatal(err)
		}
		s := managedPool()
		test(&world{T: t, cloud: made, driver: driver, target: kapsule.Target{
			Owner:             cloud.Owner{ID: "owner-id", Cluster: "c", Namespace: "default", Name: "pool", Kind: "scalewaymanagedmachinepool"},
			KubernetesVersion: version, Spec: s,
		}})
	})
}

// change changes the specification.
func (w *world) change(change func(*spec)) { w.target.Spec = with(change)(w.target.Spec) }

func (w *world) observe() domain.Observed {
	w.Helper()
	o, err := w.driver.Observe(w.Context(), w.target)
	if err != nil {
		w.Fatal(err)
	}
	return o
}

// try begins a step.
func (w *world) try(s domain.Step) error { return w.driver.Start(w.Context(), w.target, s) }

// start begins a step that works, and waits for what it brings.
func (w *world) start(s domain.Step) {
	w.Helper()
	if err := w.try(s); err != nil {
		w.Fatalf("start %s: %v", s.Kind, err)
	}
	settle()
}

func (w *world) create(size int) {
	w.Helper()
	w.start(domain.Step{Kind: domain.CreateGroup, Size: size})
}

// remove removes the nodes at places of the observation.
func remove(o domain.Observed, places ...int) domain.Step {
	s := domain.Step{Kind: domain.Remove}
	for _, at := range places {
		s.Targets = append(s.Targets, domain.InstanceRef{ID: o.Instances[at].ID, ProviderID: o.Instances[at].ProviderID})
	}
	return s
}

// upgradeCluster brings the control plane to a version.
func (w *world) upgradeCluster(to string) {
	w.Helper()
	if _, err := w.cloud.PutCluster(scaleway.Access{Name: clusterName, Version: to[1:]}); err != nil {
		w.Fatal(err)
	}
	settle()
}

// byHand runs an action of the console.
func (w *world) byHand(action sim.Action, on sim.Resource) {
	w.Helper()
	on.Cluster = clusterName
	if _, err := w.cloud.Capabilities().OutOfBand.Do(action, on); err != nil {
		w.Fatal(err)
	}
	settle()
}

// sent returns the operations of the requests that some work makes.
func (w *world) sent(work func()) (out []string) {
	last := w.cloud.Calls().Next()
	work()
	for _, c := range w.cloud.Calls().Summary(last).Calls {
		out = append(out, c.Action)
	}
	return out
}

func reasons(list []domain.Cause) (out []string) {
	for _, i := range list {
		out = append(out, i.Reason)
	}
	return out
}

func has(list []domain.Cause, reason string) bool { return slices.Contains(reasons(list), reason) }
