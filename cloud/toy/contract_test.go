package toy_test

import (
	"maps"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/toy"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/managed"
	simtoy "github.com/muster-project/muster/sim/toy"
	"github.com/muster-project/muster/test/testrun"
)

const (
	clusterName = "managed"
	version     = "v1.34.2"
	endpoint    = "http://simulated.toy"
)

type source = *toy.Source

func TestContract(t *testing.T) { suite().Run(t) }

func TestLongContractCanFail(t *testing.T) {
	testrun.LongOnly(t)
	suite().RunMistakes(t)
}

func TestLongContractWithEachSwitch(t *testing.T) {
	testrun.LongOnly(t)
	suite().RunEachSwitch(t)
}

func suite() cloudtest.Suite[source] {
	return cloudtest.Suite[source]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			made, err := newCloud(on...)
			return patient{made}, err
		},
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire), nil },
		Switches:          evidence.Switches(core.Beliefs()),
		Pool:              func() source { return pool(func(*toy.Spec) {}) },
		KubernetesVersion: version,
		Changed:           with(func(s *toy.Spec) { s.MachineType = "large" }),
		Reshaped:          with(reshape),
		Broken: map[string]func(source) source{
			"spec.machineType": with(func(s *toy.Spec) { s.MachineType = "none" }),
			"spec.image":       with(func(s *toy.Spec) { s.Image = "none" }),
		},
		UserTag: "stage", Spelling: cloud.Spelling{Key: func(name string) string { return cloud.TagDomain + "/" + name }},
		Many: 60, ManyInPage: 5, SteadyReads: 3,
		Primary: []string{"GetCluster", "ListPools", "ListNodes"}, Secondary: []string{"GetMachineType"},
		GroupID: func(name string) string { return "toy:///clusters/" + clusterName + "/pools/" + name },
	}
}

// reshape changes every field of a pool that the cloud changes in place.
func reshape(s *toy.Spec) {
	s.Labels = map[string]string{"tier": "blue"}
	s.Taints = []toy.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}
	s.Tags = map[string]string{"team": "a", "stage": "test"}
	s.Autoscaling = &toy.Autoscaling{Min: 1, Max: 6}
	s.Upgrade = toy.Upgrade{MaxSurge: "50%", MaxUnavailable: "1", DrainTimeoutSeconds: 1200, SoakSeconds: 900}
}

// pool returns the specification of a small pool. Upgrades take a while, so that there is time to end one.
func pool(change func(*toy.Spec)) source {
	s := &toy.Source{Cluster: clusterName, Pool: toy.Spec{
		MachineType: "medium", Image: "standard", Tags: map[string]string{"team": "a"}, Upgrade: toy.Upgrade{SoakSeconds: 1800},
	}}
	change(&s.Pool)
	return s
}

// with changes a copy of a specification.
func with(change func(*toy.Spec)) func(source) source {
	return func(s source) source {
		out := *s
		out.Pool.Tags = maps.Clone(s.Pool.Tags)
		change(&out.Pool)
		return &out
	}
}

// newCloud makes a simulated cloud with a cluster.
func newCloud(on ...sim.Switch) (*simtoy.Cloud, error) {
	made, err := simtoy.New(simtoy.Options{Seed: 1, Switches: on})
	if err != nil {
		return nil, err
	}
	_, err = made.Console.PutCluster(managed.Cluster{Key: clusterName, Name: clusterName, Version: version[1:]})
	settle()
	return made, err
}

func newDriver(over http.RoundTripper) *toy.Driver {
	return toy.New(toy.Options{Endpoint: endpoint, Token: "any", Base: over})
}

// settle lets pass longer than any operation takes that goes well.
func settle() {
	<-time.After(40 * time.Minute)
	synctest.Wait()
}

// patient is the simulator with a user who waits for the operation that runs, as the cloud takes no other.
type patient struct{ *simtoy.Cloud }

// Capabilities has the actions of the patient user.
func (p patient) Capabilities() sim.Capabilities {
	can := p.Cloud.Capabilities()
	can.OutOfBand = cloudtest.AtRest(can.OutOfBand, clusterName, settle)
	return can
}
