package azure_test

import (
	"net/http"
	"testing"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/specs"
	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

type specification = *azurev1.MachinePoolSource

func TestContractUniform(t *testing.T) { suite(azurev1.UniformOrchestrationMode).Run(t) }

func TestContractFlexible(t *testing.T) {
	if testing.Short() {
		t.Skip("the contract a second time")
	}
	suite(azurev1.FlexibleOrchestrationMode).Run(t)
}

func TestLongContractCanFail(t *testing.T) {
	testrun.LongOnly(t)
	suite(azurev1.UniformOrchestrationMode).RunMistakes(t)
}

func TestLongContractWithEachSwitch(t *testing.T) {
	testrun.LongOnly(t)
	suite(azurev1.UniformOrchestrationMode).RunEachSwitch(t)
}

func suite(mode azurev1.OrchestrationModeType) cloudtest.Suite[specification] {
	s := cloudtest.Suite[specification]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			return simazure.New(simazure.Options{Seed: 1, Switches: on})
		},
		Switches:          evidence.Switches(core.Beliefs(), compute.Beliefs()),
		Published:         specs.Azure(),
		Driver:            func(wire http.RoundTripper) (cloud.Driver[specification], error) { return newDriver(wire) },
		Pool:              func() specification { return source(mode) },
		KubernetesVersion: version, FailureDomains: []string{"1", "2", "3"},
		Changed:  spec(func(s *azurev1.AzureMachinePoolSpec) { s.Template.VMSize = "Standard_D4s_v3" }),
		Reshaped: spec(reshape),
		// The image is looked up by the version of Kubernetes; there is nothing else to be looked up.
		Searching: spec(func(s *azurev1.AzureMachinePoolSpec) { s.Template.Image = nil }),
		Needy:     spec(func(s *azurev1.AzureMachinePoolSpec) { s.Identity = azurev1.VMIdentitySystemAssigned }),
		Broken: map[string]func(specification) specification{
			"spec.template.vmSize": spec(func(s *azurev1.AzureMachinePoolSpec) { s.Template.VMSize = "Standard_Nope" }),
			"spec.template.networkInterfaces[0].subnetName": spec(func(s *azurev1.AzureMachinePoolSpec) {
				s.Template.NetworkInterfaces = []azurev1.NetworkInterface{{SubnetName: "nope", PrivateIPConfigs: 1}}
			}),
		},
		UserTag: "stage", Spelling: model.Spelling,
		Many: 210, ManyInPage: 10, SteadyReads: 2,
		Primary: []string{"VirtualMachineScaleSets_Get", "VirtualMachineScaleSets_List", "VirtualMachineScaleSetVMs_List"},
		Name:    func(o cloud.Owner) string { return o.Name },
		GroupID: func(name string) string {
			c := source(mode).Cluster
			return "azure:///subscriptions/" + c.SubscriptionID + "/resourceGroups/" + c.ResourceGroup +
				"/providers/Microsoft.Compute/virtualMachineScaleSets/" + name
		},
	}
	if mode == azurev1.FlexibleOrchestrationMode {
		// Which machines are protected is asked hourly; an identity of its own is for Uniform scale sets alone.
		s.SteadyReads, s.Needy = 3, nil
		s.Primary = []string{"VirtualMachineScaleSets_Get", "VirtualMachineScaleSets_List", "VirtualMachines_List"}
		s.Secondary = []string{"VirtualMachineScaleSetVMs_List"}
	}
	return s
}

// reshape changes what is changed in place.
func reshape(s *azurev1.AzureMachinePoolSpec) {
	s.AdditionalTags = azurev1.Tags{"stage": "test"}
	s.Template.VMExtensions = []azurev1.VMExtension{{
		Name: "monitor", Publisher: "Microsoft.Azure.Monitor", Version: "1.0", Settings: map[string]string{"level": "high"},
		ProtectedSettings: map[string]string{"key": "hidden"},
	}}
}
