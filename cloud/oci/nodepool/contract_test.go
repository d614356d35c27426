package nodepool_test

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
				err = made.CreatePool(clusterName, "another", 0, nil)
				settle()
			}
			return patient{made}, err
		},
		Published:         specs.OCI(),
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Switches:          evidence.Switches(core.Beliefs(), rest.Beliefs(), containerengine.Beliefs()),
		Pool:              managedPool,
		KubernetesVersion: version,
		Changed: with(func(s *spec) {
			s.NodeSourceViaImage = &ociv1.NodeSourceViaImage{BootVolumeSizeInGBs: new(int64(93))}
			s.NodeMetadata = map[string]string{"areLegacyImdsEndpointsDisabled": "true"}
		}),
		Reshaped: with(reshape),
		Broken: map[string]func(source) source{
			"spec.nodeShape": with(func(s *spec) { s.NodeShape = "VM.Nope.E4.Flex" }),
		},
		UserTag: "team", Spelling: session.Spelling,
		Many: 110, SteadyReads: 1,
		Primary: []string{"ListNodePools", "GetNodePool"}, Secondary: []string{},
		Name: func(o cloud.Owner) string {
			if o.GroupName != "" {
				return o.GroupName
			}
			return o.Name
		},
		GroupID: func(string) string { return nextPool() },
	}
}

// nextPool is the OCID of the second node pool that is created in a simulated cloud.
var nextPool = sync.OnceValue(func() string {
	made, err := oci.New(oci.Options{Seed: 1, Speed: 1})
	if err != nil {
		panic(err)
	}
	defer made.Close()
	if _, err = made.PutCluster(oci.Access{Name: clusterName, Version: version[1:]}); err != nil {
		panic(err)
	}
	for _, name := range []string{"another", "next"} {
		if err = made.CreatePool(clusterName, name, 0, nil); err != nil {
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

// reshape changes every field of a node pool that OKE changes in place.
func reshape(s *spec) {
	s.InitialNodeLabels = ociv1.NodeLabels{{Key: "tier", Value: "blue"}}
	s.NodeEvictionNodePoolSettings = &ociv1.NodeEvictionNodePoolSettings{EvictionGraceDuration: new("PT20M"),
		IsForceDeleteAfterGraceDuration: new(true)}
}

// patient is the simulator with a user who waits until the cloud has finished what was asked of it.
type patient struct{ *oci.Cloud }

// Capabilities has the actions of the patient user.
func (p patient) Capabilities() sim.Capabilities {
	can := p.Cloud.Capabilities()
	can.OutOfBand = cloudtest.AtRest(can.OutOfBand, clusterName, settle)
	return can
}
