package bench

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"k8s.io/utils/ptr"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/azure/agentpool"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// scaleSets are pools of so many machines in a mode.
func scaleSets(mode azurev1.OrchestrationModeType, machines int) lab[*azurev1.MachinePoolSource] {
	most := azureCalls + float64((machines-1)/azurePage) + rarely
	switch {
	case machines > size:
	case mode == azurev1.FlexibleOrchestrationMode:
		most = sharedFlexible
	default:
		most = sharedUniform
	}
	return lab[*azurev1.MachinePoolSource]{
		cloud: microsoft, driver: scaleSetDriver, size: machines, other: "Standard_D4s_v3", most: most,
		spec: func(change string) *azurev1.MachinePoolSource { return scaleSet(mode, cmp.Or(change, simazure.VMSize)) },
	}
}

// microsoft returns a subscription of a simulated Azure.
func microsoft(inside sim.MachineHost, speed float64) (simulated, error) {
	return simazure.New(simazure.Options{Seed: 1, Speed: speed, MachineHost: inside})
}

func scaleSetDriver(base http.RoundTripper) (cloud.Driver[*azurev1.MachinePoolSource], error) {
	return azure.New(azureOptions(base))
}

func azureOptions(base http.RoundTripper) session.Options {
	return session.Options{
		Endpoint: "http://simulated.azure", Base: base,
		Credential: func(azcloud.Configuration, *azurev1.IdentityView) (azcore.TokenCredential, error) {
			return &azfake.TokenCredential{}, nil
		},
	}
}

// agentPools are pools of one managed cluster of AKS.
func agentPools() lab[*aksv1.AgentPoolSource] {
	return lab[*aksv1.AgentPoolSource]{
		cloud: managedCluster, other: "Standard_D4s_v3", most: sharedAgentPool,
		driver: func(base http.RoundTripper) (cloud.Driver[*aksv1.AgentPoolSource], error) {
			sessions, err := session.New(azureOptions(base))
			return agentpool.Over(sessions), err
		},
		spec: func(change string) *aksv1.AgentPoolSource {
			cluster := scaleSet(azurev1.UniformOrchestrationMode, "").Cluster
			return &aksv1.AgentPoolSource{Cluster: aksv1.ManagedClusterView{View: cluster, Name: aksName},
				Managed: &aksv1.AzureManagedMachinePoolSpec{Mode: aksv1.ModeUser, SKU: cmp.Or(change, simazure.VMSize)}}
		},
		place: func(spec *aksv1.AgentPoolSource, k int) {
			spec.Name, spec.Cluster.Name = fmt.Sprintf("pool%d", k), aksCluster(k/aksPools)
		},
	}
}

// manifestPools are agentPools whose specifications are manifests of Azure Service Operator.
func manifestPools() lab[*aksv1.AgentPoolSource] {
	out := agentPools()
	managed := out.spec
	out.spec = func(change string) *aksv1.AgentPoolSource {
		spec := managed(change)
		spec.Manifest = &aksv1.AgentPoolManifest{APIVersion: manifestVersion,
			Spec: map[string]any{"mode": aksv1.ModeUser, "vmSize": spec.Managed.SKU}}
		spec.Managed = nil
		return spec
	}
	return out
}

// manifestVersion is the version of AKS's API whose fields the manifests have.
const manifestVersion = "2023-10-01"

const (
	// aksName is the first managed cluster of agent pools, of which there are so many: AKS allows each a number of pools, one of which is
	// the system's.
	aksName, aksClusters, aksPools = "aks", 11, 99
)

// aksCluster returns the name of one of the clusters of agent pools.
func aksCluster(k int) string {
	if k == 0 {
		return aksName
	}
	return fmt.Sprintf("%s-%d", aksName, k)
}

// managedCluster returns a subscription of a simulated Azure with managed clusters.
func managedCluster(inside sim.MachineHost, speed float64) (simulated, error) {
	made, err := simazure.New(simazure.Options{Seed: 1, Speed: speed, MachineHost: inside})
	if err != nil {
		return nil, err
	}
	for k := range aksClusters {
		_, failed := made.AKS.PutCluster(containerservice.DesiredCluster{
			SubscriptionID: simazure.SubscriptionID, Group: simazure.ResourceGroup, Name: aksCluster(k),
			Body: map[string]any{"location": simazure.Location, "properties": map[string]any{"kubernetesVersion": "1.34.1",
				"agentPoolProfiles": []any{
					map[string]any{"name": "system", "mode": "System", "count": 1.0, "vmSize": simazure.VMSize}}}},
		})
		err = errors.Join(err, failed)
	}
	return made, errors.Join(err, made.AKS.RegisterFeature(containerservice.FeatureResize))
}

// scaleSet returns a pool in the default subscription.
func scaleSet(mode azurev1.OrchestrationModeType, vmSize string) *azurev1.MachinePoolSource {
	return &azurev1.MachinePoolSource{
		Cluster: azurev1.ClusterView{
			Name: simazure.ClusterName, ClusterName: simazure.ClusterName, SubscriptionID: simazure.SubscriptionID,
			ResourceGroup: simazure.ResourceGroup,
			Location:      simazure.Location, Environment: azurev1.PublicCloud, Ready: true,
			Vnet:    azurev1.VnetView{Name: simazure.VirtualNetwork, ResourceGroup: simazure.ResourceGroup},
			Subnets: []azurev1.SubnetView{{Name: simazure.NodeSubnet, Role: azurev1.SubnetRoleNode}},
		},
		Pool: &azurev1.AzureMachinePoolSpec{
			Location: simazure.Location, OrchestrationMode: mode, AdditionalTags: azurev1.Tags{"team": "a"},
			Template: azurev1.AzureMachinePoolMachineTemplate{
				VMSize: vmSize, SSHPublicKey: "c3NoLXJzYSBBQUFBQjNOemFDMXljMkU9IG5vYm9keQ==",
				OSDisk: azurev1.OSDisk{OSType: "Linux", DiskSizeGB: ptr.To(int32(30)), CachingType: "ReadWrite",
					ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"}},
			},
		},
	}
}
