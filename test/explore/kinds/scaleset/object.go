package scaleset

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// version is one for which the ecosystem publishes images on Azure.
const version = "v1.34.1"

// publicKey is a key without an owner, as sshPublicKey has it.
const publicKey = "c3NoLXJzYSBBQUFBQjNOemFDMXljMkVBQUFBREFRQUJBQUFBZ1FDN3N0Z0VRSHZLZ29pd3ZFbjRVNHhrR0JhUG5YN1hpd0RmRFly" +
	"WEJ2d3pjckhRNkRQenkwM1h4bnVLWWRTdDF2ZnV3dm1vbklheFl1cEZYZ0FCQ0ZnSFNxTmVpekRmNHVoUjVUY2hnN2NpZVVVbmFP" +
	"eGtyR1ZHWDVadUFCZkhhUlBKTmtiMlZ2TDhDcjZOcUJxM0tqTmF1T2w2TFp3dm5UUlBiTVIxd3c9PSBub2JvZHkK"

// object returns an infrastructure object as what it is.
func object(o client.Object) *azurev1.AzureMachinePool { return o.(*azurev1.AzureMachinePool) }

// place returns an AzureCluster that describes the network of the simulated subscription.
func place() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": azurev1.GroupVersion.String(), "kind": "AzureCluster",
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec": map[string]any{
			"subscriptionID": simazure.SubscriptionID, "resourceGroup": simazure.ResourceGroup, "location": simazure.Location,
			"networkSpec": map[string]any{
				"vnet": map[string]any{"name": simazure.VirtualNetwork, "resourceGroup": simazure.ResourceGroup},
				"subnets": []any{
					map[string]any{"name": simazure.NodeSubnet, "role": "node"},
					map[string]any{"name": simazure.ControlPlaneSubnet, "role": "control-plane"},
				},
				"nodeOutboundLB": map[string]any{"name": simazure.ClusterName},
			},
		},
		"status": map[string]any{"ready": true, "failureDomains": map[string]any{"1": map[string]any{}, "2": map[string]any{},
			"3": map[string]any{}}},
	}}
}

// applied returns a pool of that kind as a user applies it.
func (p *pool) applied() client.Object {
	o := &azurev1.AzureMachinePool{}
	o.Namespace, o.Name = p.World.InfraKey().Namespace, p.World.InfraKey().Name
	o.Spec = azurev1.AzureMachinePoolSpec{
		Location: simazure.Location, OrchestrationMode: own(p.World.Scenario).Mode, AdditionalTags: azurev1.Tags{"team": "a"},
		Template: p.template(), Strategy: strategy(p.World.Scenario.Strategy),
	}
	return o
}

// template returns the machine template that the pool begins with.
func (p *pool) template() azurev1.AzureMachinePoolMachineTemplate {
	t := azurev1.AzureMachinePoolMachineTemplate{
		VMSize: simazure.VMSize, SSHPublicKey: publicKey,
		OSDisk: azurev1.OSDisk{
			OSType: azurev1.LinuxOS, DiskSizeGB: ptr.To[int32](30), CachingType: "ReadWrite",
			ManagedDisk: &azurev1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"},
		},
	}
	if p.World.Scenario.Spot {
		t.SpotVMOptions = &azurev1.SpotVMOptions{EvictionPolicy: ptr.To(own(p.World.Scenario).Evicts)}
	}
	return t
}

// editTemplate changes the template of machines.
func editTemplate(t *azurev1.AzureMachinePoolMachineTemplate, n int) {
	switch n % 4 {
	case 0:
		t.OSDisk.CachingType = []azurev1.CachingType{"ReadOnly", "None", "ReadWrite"}[n/4%3]
	case 1:
		t.OSDisk.CachingType, t.VMSize = "ReadWrite", simazure.VMSize
	default:
		t.VMSize = []string{"Standard_D2s_v3", "Standard_D4s_v3", "Standard_F2s_v2"}[n%3]
	}
}

// edit changes one field of the pool that machines need not be replaced for.
func edit(s *azurev1.AzureMachinePoolSpec, n, m int) {
	switch n {
	case 0, 1, 2, 3:
		s.AdditionalTags = []azurev1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 4, 5, 6:
		s.Template.VMExtensions = [][]azurev1.VMExtension{nil, {anExtension("1.0", nil)},
			{anExtension("1.0", map[string]string{"key": "b"})}}[m%3]
	default:
		s.Strategy = strategy([]*script.Limits{nil, {Surge: "0", Unavailable: "1", Policy: "Newest"},
			{Surge: "2", Unavailable: "0", Policy: "Random"}}[m%3])
	}
}

func anExtension(version string, settings map[string]string) azurev1.VMExtension {
	return azurev1.VMExtension{Name: "watch", Publisher: "Example.Watch", Version: version, Settings: settings}
}

// strategy returns the strategy in the form of an AzureMachinePool. There always is one, because admission sets the default.
func strategy(l *script.Limits) common.Strategy {
	if l == nil {
		return *(&script.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"}).Spec()
	}
	return *l.Spec()
}

// setRollout sets how machines are to be replaced.
func setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	world.SetReplacedByMuster(object(o).Spec.Strategy.RollingUpdate, desired)
}

// edits returns the changes that users make to the object.
func (p *pool) edits() world.Edits {
	back := func(o client.Object) { object(o).Spec.Template = p.template() }
	return world.Edits{
		Template: func(o client.Object, n int) { editTemplate(&object(o).Spec.Template, n) },
		Bad:      func(o client.Object) { object(o).Spec.Template.VMSize = azure.BadType },
		Back:     back,
		Type:     func(o client.Object) string { return object(o).Spec.Template.VMSize },
		Group:    func(o client.Object, n, m int) { edit(&object(o).Spec, n, m) },
		Strategy: func(o client.Object, l *script.Limits) { object(o).Spec.Strategy = strategy(l) },
	}
}
