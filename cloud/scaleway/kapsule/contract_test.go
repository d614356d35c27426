package kapsule_test

import (
	"net/http"
	"testing"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/scaleway/kapsule"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/scaleway"
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
			made, err := newCloud(scaleway.Options{Switches: on})
			return patient{made}, err
		},
		Published:         specs.Scaleway(),
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Switches:          evidence.Switches(core.Beliefs(), scaleway.Beliefs()),
		Pool:              managedPool,
		KubernetesVersion: version,
		Upgrade: func(c cloudtest.Cloud) (string, error) {
			_, err := c.(patient).PutCluster(scaleway.Access{Name: clusterName, Version: newer[1:]})
			settle()
			return newer, err
		},
		Reshaped: with(reshape),
		Broken: map[string]func(source) source{
			"spec.nodeType": with(func(s *spec) { s.NodeType = "NOPE-XXS" }),
		},
		UserTag: "stage", Spelling: kapsule.Spelling,
		Many: 110, ManyInPage: 10, SteadyReads: 3,
		Primary: []string{"ListClusters", "ListPools", "ListNodes"}, Secondary: []string{"ListServersTypes", "ListClusterTypes"},
		Name: func(o cloud.Owner) string {
			if o.GroupName != "" {
				return o.GroupName
			}
			return o.Name
		},
		GroupID: func(name string) string {
			return "scaleway:///projects/" + scaleway.ProjectID + "/regions/" + scaleway.Region + "/clusters/" + clusterName + "/pools/" + name
		},
	}
}

// reshape changes every field of a pool that Kapsule changes in place.
func reshape(s *spec) {
	s.Labels = scalewayv1.NodeLabels{"tier": "blue"}
	s.Taints = []scalewayv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}, {Key: "also", Effect: "NoExecute"}}
	s.StartupTaints = []scalewayv1.Taint{{Key: "starting", Effect: "NoSchedule"}}
	s.Scaling = &scalewayv1.Scaling{Autoscaling: new(true), MinSize: new(int32(1)), MaxSize: new(int32(6))}
	s.Autohealing = new(true)
	s.AdditionalTags = []string{"team=a", "stage=test"}
	s.KubeletArgs = map[string]string{"maxPods": "50"}
	s.UpgradePolicy = &scalewayv1.UpgradePolicy{MaxSurge: new(int32(2)), MaxUnavailable: new(int32(1))}
}

// patient is the simulator with a user who waits until the cloud has finished what was asked of it.
type patient struct{ *scaleway.Cloud }

// Capabilities has the actions of the patient user.
func (p patient) Capabilities() sim.Capabilities {
	can := p.Cloud.Capabilities()
	can.OutOfBand = cloudtest.AtRest(can.OutOfBand, clusterName, settle)
	return can
}
