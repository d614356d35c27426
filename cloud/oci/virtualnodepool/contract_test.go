package virtualnodepool_test

import (
	"net/http"
	"sync"
	"testing"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/containerengine"
	"github.com/muster-project/muster/sim/oci/rest"
	"github.com/muster-project/muster/test/specs"
	"github.com/muster-project/muster/test/testrun"
)

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
			made, err := newCloud(oci.Options{Switches: on})
			if err == nil { // lists have more than the pool's own
				err = createForeign(made, "another", 0)
				settle()
			}
			return patient{made}, err
		},
		Published: specs.OCI(),
		Driver:    func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Switches:  evidence.Switches(core.Beliefs(), rest.Beliefs(), containerengine.Beliefs()),
		Pool:      virtualPool,
		Changed: with(func(s *spec) {
			s.PodConfiguration.Shape = new("Pod.Standard.E3.Flex")
			s.Taints = []ociv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}
		}),
		Reshaped: with(func(s *spec) {
			s.PlacementConfigs = []ociv1.VirtualNodepoolPlacementConfig{{AvailabilityDomain: oci.Domains()[0],
				FaultDomains: []string{"FAULT-DOMAIN-1"}},
				{AvailabilityDomain: oci.Domains()[1]}, {AvailabilityDomain: oci.Domains()[2]}}
		}),
		Broken: map[string]func(source) source{
			"spec.podConfiguration.shape": with(func(s *spec) { s.PodConfiguration.Shape = new("Pod.Nope") }),
		},
		UserTag: "team", Spelling: session.Spelling,
		Many: 110, SteadyReads: 2,
		Primary: []string{"ListVirtualNodePools", "GetVirtualNodePool", "ListVirtualNodes"}, Secondary: []string{},
		Name: func(o cloud.Owner) string {
			if o.GroupName != "" {
				return o.GroupName
			}
			return o.Name
		},
		GroupID: func(string) string { return nextPool() },
	}
}

// nextPool is the OCID of the second virtual node pool that is created in a simulated cloud. It is called in virtual time.
var nextPool = sync.OnceValue(func() string {
	made, err := oci.New(oci.Options{Seed: 1, Speed: 1})
	if err != nil {
		panic(err)
	}
	defer made.Close()
	if _, err = made.PutCluster(oci.Access{Name: clusterName, Version: version[1:]}); err != nil {
		panic(err)
	}
	settle()
	for _, name := range []string{"another", "next"} {
		if err = createForeign(made, name, 0); err != nil {
			panic(err)
		}
	}
	for _, g := range made.Snapshot().Groups {
		if g.Name == "next" {
			return g.ID
		}
	}
	return ""
})

func atRest(all sim.OutOfBandActions) sim.OutOfBandActions {
	return cloudtest.AtRest(all, clusterName, settle)
}
