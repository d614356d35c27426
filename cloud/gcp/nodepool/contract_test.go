package nodepool_test

import (
	"maps"
	"net/http"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
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
			made, err := newCloud(on...)
			return managed{made}, err
		},
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Published:         specs.Google(),
		Switches:          evidence.Switches(core.Beliefs(), compute.Beliefs(), container.Beliefs()),
		Pool:              zonal,
		KubernetesVersion: version,
		Changed:           spec(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") }),
		Reshaped:          spec(reshape),
		Broken: map[string]func(source) source{
			"spec.instanceType": spec(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n9-standard-4") }),
			"spec.imageType":    spec(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.ImageType = new("NOPE") }),
		},
		UserTag: "stage", Spelling: template.Spelling,
		Many: 510, ManyInPage: 10, SteadyReads: 3,
		Primary: []string{"projects.locations.clusters.get", "instanceGroupManagers.get", "instanceGroupManagers.listManagedInstances"},
		Secondary: []string{"machineTypes.get", "regionInstanceTemplates.get", "instanceTemplates.aggregatedList",
			"instances.list", "projects.locations.operations.list", "projects.locations.operations.get"},
		Name: func(o cloud.Owner) string { return o.Name },
		GroupID: func(name string) string {
			return "projects/" + project.DefaultID + "/locations/" + region + "/clusters/" + clusterName + "/nodePools/" + name
		},
	}
}

// reshape changes every part of a node pool that GKE changes in place.
func reshape(s *gcpv1.GCPManagedMachinePoolSpec) {
	s.KubernetesLabels = gcpv1.NodeLabels{"tier": "blue"}
	s.KubernetesTaints = []gcpv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}
	s.NodeNetwork = &gcpv1.NodeNetworkConfig{Tags: []string{"web"}}
	s.Scaling = &gcpv1.NodePoolAutoScaling{MinCount: new(int32(1)), MaxCount: new(int32(6)), LocationPolicy: new(gcpv1.LocationAny)}
	s.Management = &gcpv1.NodePoolManagement{AutoRepair: true}
	s.UpgradeSettings = &gcpv1.UpgradeSettings{MaxSurge: new(int32(2)), MaxUnavailable: new(int32(1))}
	s.AdditionalLabels = gcpv1.Labels{"stage": "test"}
}

// managed is the simulator for drivers whose groups are node pools.
type managed struct{ *gcp.Cloud }

// Capabilities has actions for node pools. GKE makes and changes nothing that stands for a template.
func (m managed) Capabilities() sim.Capabilities {
	p := m.Cloud.Capabilities()
	p.Groups = gcp.NodePoolBehavior()
	maps.Copy(p.OutOfBand, cloudtest.AtRest(gcp.NodePoolActions(m.Cloud), clusterName, settle))
	for _, none := range []sim.Action{sim.CreateTemplate, sim.DeleteTemplate, sim.InterruptInstance} {
		p.OutOfBand[none] = nil
	}
	return p
}
