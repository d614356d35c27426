package world

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	simazure "github.com/muster-project/muster/sim/azure"
)

const (
	// badSize is a size of machine whose image does not boot, so that it never joins.
	badSize = "Standard_E2s_v3"
	// azureVersion is one for which the ecosystem publishes images on Azure.
	azureVersion = "v1.34.1"
	// publicKey is a key without an owner, as sshPublicKey has it.
	publicKey = "c3NoLXJzYSBBQUFBQjNOemFDMXljMkVBQUFBREFRQUJBQUFBZ1FDN3N0Z0VRSHZLZ29pd3ZFbjRVNHhrR0JhUG5YN1hpd0RmRFlyWEJ2d3pjckhRNkRQenkwM1h4bnVLWWRTdDF2ZnV3dm1vbklheFl1cEZYZ0FCQ0ZnSFNxTmVpekRmNHVoUjVUY2hnN2NpZVVVbmFPeGtyR1ZHWDVadUFCZkhhUlBKTmtiMlZ2TDhDcjZOcUJxM0tqTmF1T2w2TFp3dm5UUlBiTVIxd3c9PSBub2JvZHkK"
)

// azurePlace is what the simulated subscription holds, as a cluster shows it.
func azurePlace() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": azurev1.GroupVersion.String(), "kind": "AzureCluster", "metadata": map[string]any{"name": clusterName, "namespace": namespace},
		"spec": map[string]any{
			"subscriptionID": simazure.SubscriptionID, "resourceGroup": simazure.ResourceGroup, "location": simazure.Location,
			"networkSpec": map[string]any{
				"vnet": map[string]any{"name": simazure.VirtualNetwork, "resourceGroup": simazure.ResourceGroup},
				"subnets": []any{
					map[string]any{"name": simazure.NodeSubnet, "role": "node"}, map[string]any{"name": simazure.ControlPlaneSubnet, "role": "control-plane"},
				},
				"nodeOutboundLB": map[string]any{"name": simazure.ClusterName},
			},
		},
		"status": map[string]any{"ready": true, "failureDomains": map[string]any{"1": map[string]any{}, "2": map[string]any{}, "3": map[string]any{}}},
	}}
}

// azurePool is a pool of that kind as a user applies it.
func (w *World) azurePool() *azurev1.AzureMachinePool {
	o := &azurev1.AzureMachinePool{}
	o.Namespace, o.Name = infraKey.Namespace, infraKey.Name
	o.Spec = azurev1.AzureMachinePoolSpec{
		Location: simazure.Location, OrchestrationMode: w.scenario.Mode, AdditionalTags: azurev1.Tags{"team": "a"},
		Template: w.azureTemplate(), Strategy: w.scenario.Strategy.azure(),
	}
	return o
}

// azureTemplate is what the pool's machines are at first.
func (w *World) azureTemplate() azurev1.AzureMachinePoolMachineTemplate {
	t := azurev1.AzureMachinePoolMachineTemplate{
		VMSize: simazure.VMSize, SSHPublicKey: publicKey,
		OSDisk: azurev1.OSDisk{
			OSType: azurev1.LinuxOS, DiskSizeGB: ptr.To[int32](30), CachingType: "ReadWrite", ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"},
		},
	}
	if w.scenario.Spot {
		t.SpotVMOptions = &azurev1.SpotVMOptions{EvictionPolicy: &w.scenario.Evicts}
	}
	return t
}

// azure is a strategy as an AzureMachinePool has it, which always has one: admission sets one where the user does not.
func (l *Limits) azure() common.Strategy {
	if l == nil {
		return *(&Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"}).spec()
	}
	return *l.spec()
}

// azureEdit changes what machines are made of.
func azureEdit(t *azurev1.AzureMachinePoolMachineTemplate, n int) {
	switch n % 4 {
	case 0:
		t.OSDisk.CachingType = []azurev1.CachingType{"ReadOnly", "None", "ReadWrite"}[n/4%3]
	case 1:
		t.OSDisk.CachingType, t.VMSize = "ReadWrite", simazure.VMSize
	default:
		t.VMSize = []string{"Standard_D2s_v3", "Standard_D4s_v3", "Standard_F2s_v2"}[n%3]
	}
}

// setEdit changes one field of the pool that machines need not be replaced for.
func setEdit(s *azurev1.AzureMachinePoolSpec, n, m int) {
	switch n {
	case 0, 1, 2, 3:
		s.AdditionalTags = []azurev1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 4, 5, 6:
		s.Template.VMExtensions = [][]azurev1.VMExtension{nil, {anExtension("1.0", nil)}, {anExtension("1.0", map[string]string{"key": "b"})}}[m%3]
	default:
		s.Strategy = []*Limits{nil, {"0", "1", "Newest"}, {"2", "0", "Random"}}[m%3].azure()
	}
}

func anExtension(version string, settings map[string]string) azurev1.VMExtension {
	return azurev1.VMExtension{Name: "watch", Publisher: "Example.Watch", Version: version, Settings: settings}
}
