package instancepool_test

import (
	"net/http"
	"testing"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/compute"
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
			return grouped{made}, err
		},
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Published:         specs.OCI(),
		Switches:          evidence.Switches(core.Beliefs(), rest.Beliefs(), compute.Beliefs()),
		Pool:              machinePool,
		KubernetesVersion: version,
		Changed:           with(func(s source) { s.Pool.InstanceConfiguration.Shape = "VM.Standard.E5.Flex" }),
		Reshaped: with(func(s source) {
			s.Cluster.FreeformTags["stage"] = "test"
			s.Cluster.AvailabilityDomains[0].FaultDomains = s.Cluster.AvailabilityDomains[0].FaultDomains[:2]
		}),
		Broken: map[string]func(source) source{
			launch.FieldShape: with(func(s source) { s.Pool.InstanceConfiguration.Shape = "VM.Standard.Nope" }),
			"spec.instanceConfiguration.instanceVnicConfiguration.subnetName": with(func(s source) {
				s.Pool.InstanceConfiguration.InstanceVnicConfiguration = &ociv1.NetworkDetails{SubnetName: "nope"}
			}),
		},
		TemplateName: func(o cloud.Owner, t pool.Template) string { return launch.Name(o.ResourceName(), o, t) },
		NamesRepeat:  true,
		UserTag:      "stage", Spelling: session.Spelling,
		Many: 210, ManyInPage: 10, SteadyReads: 2,
		Primary: []string{"ListInstancePools", "GetInstancePool", "ListInstancePoolInstances", "ListInstanceConfigurations"},
		Secondary: []string{"ListShapes", "GetInstanceConfiguration", "GetInstancePoolInstance", "ListWorkRequests",
			"ListWorkRequestErrors", "GetWorkRequest"},
		ByID: true, GroupID: func(id string) string { return "oci://" + id },
	}
}

// grouped is the simulator as those see it who know groups.
type grouped struct{ *oci.Cloud }

// Capabilities are those of instance pools.
func (g grouped) Capabilities() sim.Capabilities { return g.GroupCapabilities() }
