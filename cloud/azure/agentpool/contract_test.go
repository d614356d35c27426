package agentpool_test

import (
	"maps"
	"net/http"
	"testing"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
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

// TestContractOfVMs holds agent pools of type VirtualMachines to the same contract. AKS's autoscaler sizes none of them.
func TestContractOfVMs(t *testing.T) {
	if testing.Short() {
		t.Skip("the contract a second time")
	}
	s := suite()
	s.Pool = func() source { return spec(ofVMs)(managedPool()) }
	s.Reshaped = spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
		reshape(s)
		s.Scaling = nil
	})
	s.Run(t)
}

// ofVMs has machines that are virtual machines by themselves.
func ofVMs(s *aksv1.AzureManagedMachinePoolSpec) {
	s.ASOManagedClustersAgentPoolPatches = []string{`{"spec": {"type": "VirtualMachines"}}`}
}

func suite() cloudtest.Suite[source] {
	return cloudtest.Suite[source]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			made, err := newCloud(version, on...)
			return managed{made}, err
		},
		Published:         specs.Azure(),
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Switches:          evidence.Switches(core.Beliefs(), compute.Beliefs(), containerservice.Beliefs()),
		Pool:              managedPool,
		KubernetesVersion: version,
		Changed:           spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" }),
		Reshaped:          spec(reshape),
		Broken: map[string]func(source) source{
			"spec.sku":     spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_Nope" }),
			"spec.maxPods": spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.MaxPods = new(5) }),
		},
		UserTag: "stage", Spelling: model.Spelling,
		Many: 210, ManyInPage: 10, SteadyReads: 2,
		Primary: []string{"ManagedClusters_Get", "VirtualMachineScaleSets_List", "VirtualMachineScaleSetVMs_List", "VirtualMachines_List",
			"VirtualMachines_InstanceView"},
		Name: func(o cloud.Owner) string { return o.Name },
		GroupID: func(name string) string {
			return "azure:///subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup +
				"/providers/Microsoft.ContainerService/managedClusters/" + clusterName + "/agentPools/" + name
		},
	}
}

// reshape changes every property of an agent pool that AKS changes in place.
func reshape(s *aksv1.AzureManagedMachinePoolSpec) {
	s.Mode = "System"
	s.NodeLabels = map[string]string{"tier": "blue"}
	s.Taints = []aksv1.Taint{{Key: "only", Value: "x", Effect: "NoSchedule"}}
	s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(6)}
	s.ScaleDownMode = new("Deallocate")
	s.UpgradeSettings = &aksv1.UpgradeSettings{MaxSurge: new("50%"), DrainTimeoutInMinutes: new(int32(20)),
		NodeSoakDurationInMinutes: new(int32(15))}
	s.AdditionalTags = azurev1.Tags{"stage": "test"}
}

// managed is the simulator for drivers whose groups are agent pools.
type managed struct{ *simazure.Cloud }

// Capabilities has actions for agent pools. AKS makes and changes nothing that stands for a template.
func (m managed) Capabilities() sim.Capabilities {
	p := m.Cloud.Capabilities()
	p.Ignorable, p.Groups = simazure.IgnorableOfPools(), simazure.AgentPoolBehavior()
	maps.Copy(p.OutOfBand, cloudtest.AtRest(simazure.AgentPoolActions(m.Cloud), clusterName, settle))
	p.OutOfBand[sim.InterruptInstance] = nil
	return p
}
