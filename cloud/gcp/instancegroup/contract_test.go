package instancegroup_test

import (
	"net/http"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/specs"
	"github.com/muster-project/muster/test/testrun"
)

func TestContractZonal(t *testing.T) { suite(zone).Run(t) }

func TestContractRegional(t *testing.T) {
	if testing.Short() {
		t.Skip("the contract a second time")
	}
	suite("us-central1-a", "us-central1-b", "us-central1-c").Run(t)
}

func TestLongContractCanFail(t *testing.T) {
	testrun.LongOnly(t)
	suite(zone).RunMistakes(t)
}

func TestLongContractWithEachSwitch(t *testing.T) {
	testrun.LongOnly(t)
	suite(zone).RunEachSwitch(t)
}

func suite(zones ...string) cloudtest.Suite[specification] {
	return cloudtest.Suite[specification]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			made, err := newCloud(on...)
			return placed{made, len(zones) == 1}, err
		},
		Driver:            func(wire http.RoundTripper) (cloud.Driver[specification], error) { return newDriver(wire) },
		Published:         specs.Google(),
		Switches:          evidence.Switches(core.Beliefs(), compute.Beliefs()),
		Pool:              func() specification { return source(zones...) },
		KubernetesVersion: version,
		Changed:           spec(func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "n2-standard-4" }),
		Reshaped: spec(func(s *gcpv1.GCPMachinePoolSpec) {
			reshape(s)
			if len(zones) > 1 {
				s.DistributionPolicy.TargetShape = gcpv1.ShapeBalanced
			}
		}),
		Searching: spec(func(s *gcpv1.GCPMachinePoolSpec) { s.Image, s.ImageFamily = nil, new(family) }),
		Broken: map[string]func(specification) specification{
			"spec.instanceType": spec(func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "n2-nope" }),
			"spec.subnet":       spec(func(s *gcpv1.GCPMachinePoolSpec) { s.Subnet = new("nope") }),
		},
		TemplateName: func(o cloud.Owner, t pool.Template) string { return template.Name(groupName(o), o, t) },
		UserTag:      "stage", Spelling: template.Spelling,
		Many: 510, ManyInPage: 100, SteadyReads: 2,
		Primary: []string{"instanceGroupManagers.get", "instanceGroupManagers.listManagedInstances", "regionInstanceGroupManagers.get",
			"regionInstanceGroupManagers.listManagedInstances", "instanceTemplates.list"},
		Secondary: []string{"machineTypes.get", "instances.get", "instances.list",
			"instanceTemplates.get", "zoneOperations.get", "regionOperations.get"},
		Name: groupName,
		GroupID: func(name string) string {
			at := "regions/" + region
			if len(zones) == 1 {
				at = "zones/" + zones[0]
			}
			return "projects/" + project + "/" + at + "/instanceGroupManagers/" + name
		},
	}
}

func groupName(o cloud.Owner) string {
	name, err := template.GroupName(o)
	if err != nil {
		return err.Error()
	}
	return name
}

// placed is the simulator for groups of one zone, or of a region: what is made by hand is zonal.
type placed struct {
	*simgcp.Cloud
	zonal bool
}

// Capabilities has a group made by hand for zonal groups alone.
func (p placed) Capabilities() sim.Capabilities {
	out := p.Cloud.Capabilities()
	if !p.zonal {
		out.OutOfBand[sim.CreateGroup] = nil
	}
	return out
}

// reshape changes what is changed in place.
func reshape(s *gcpv1.GCPMachinePoolSpec) {
	s.AdditionalLabels = gcpv1.Labels{"stage": "test"}
	s.InstanceLifecyclePolicy = &gcpv1.InstanceLifecyclePolicy{DefaultActionOnFailure: gcpv1.ActionDoNothing, ForceUpdateOnRepair: new(true)}
	s.AutoHealing = &gcpv1.AutoHealing{HealthCheck: healthCheck, InitialDelaySec: 300}
}
