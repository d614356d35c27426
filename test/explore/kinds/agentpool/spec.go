package agentpool

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

const (
	// patch is the patch of each minor version that control planes and pools run.
	patch = ".2"
	// systemPool is the name of the cluster's additional System pool.
	systemPool = "system"
)

// object returns a control plane of AKS as a user applies it.
func (pl *plane) object() *unstructured.Unstructured {
	version := "v" + pl.Version()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": aksv1.GroupVersion.String(), "kind": aksv1.ManagedControlPlaneKind,
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec": map[string]any{
			"location": simazure.Location, "subscriptionID": simazure.SubscriptionID, "resourceGroupName": simazure.ResourceGroup,
			"version": version,
		},
	}}
	if own(pl.pool.World.Scenario).Manifest {
		o.SetKind(aksv1.ASOManagedControlPlaneKind)
		o.Object["spec"] = map[string]any{"version": version, "resources": []any{map[string]any{
			"apiVersion": aksv1.ServiceGroup + "/v1api20240901", "kind": "ManagedCluster", "metadata": map[string]any{"name": world.ClusterName},
			"spec": map[string]any{"location": simazure.Location, "owner": map[string]any{
				"armId": "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup,
			}},
		}}}
	}
	return o
}

// applied returns an agent pool as a user applies it.
func (a *pool) applied() client.Object {
	o := a.newObject()
	o.SetNamespace(a.World.InfraKey().Namespace)
	o.SetName(a.World.InfraKey().Name)
	agents(o).edit(func(s *agentSpec) { *s = a.agentSpec() })
	return o
}

// agentSpec returns the specification that the pool begins with.
func (a *pool) agentSpec() agentSpec {
	s := a.World.Scenario
	out := agentSpec{
		Mode: aksv1.ModeUser, SKU: simazure.VMSize, AdditionalTags: azurev1.Tags{"team": "a"}, NodeLabels: map[string]string{"tier": "a"},
		UpgradeSettings: upgrades(s.Strategy),
	}
	if own(s).System {
		out.Mode = aksv1.ModeSystem
	}
	if own(s).Spot {
		out.ScaleSetPriority, out.UpgradeSettings = ptr.To("Spot"), nil
	}
	if own(s).VMs {
		out.ASOManagedClustersAgentPoolPatches = []string{`{"spec": {"type": "VirtualMachines"}}`}
	}
	if s.External {
		out.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: ptr.To(s.Least), MaxSize: ptr.To(s.Most)}
	}
	return out
}

// upgrades returns the limits as AKS has them; nil leaves them to AKS.
func upgrades(l *script.Limits) *aksv1.UpgradeSettings {
	if l == nil {
		return nil
	}
	return &aksv1.UpgradeSettings{MaxSurge: ptr.To(l.Surge), MaxUnavailable: ptr.To(l.Unavailable)}
}

// sizes are those of the machines that a pool may have.
var sizes = []string{"Standard_D4s_v3", simazure.VMSize, "Standard_F2s_v2", simazure.VMSize}

// agentEdit changes one field of an agent pool.
func agentEdit(s *agentSpec, n, m int) {
	switch n {
	case 0, 1:
		s.NodeLabels = []map[string]string{nil, {"tier": "b"}, {"tier": "a", "team": "x"}}[m%3]
	case 2:
		s.Taints = [][]aksv1.Taint{nil, {{Key: "dedicated", Value: "gpu", Effect: "NoSchedule"}}}[m%2]
	case 3:
		s.AdditionalTags = []azurev1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 4, 5:
		if s.Scaling = nil; m%3 > 0 && len(s.ASOManagedClustersAgentPoolPatches) == 0 { // AKS's autoscaler sizes no virtual machines
			s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: ptr.To(1 + n%2), MaxSize: ptr.To(3 + m)}
		}
	case 6:
		s.ScaleDownMode = ptr.To([]string{"Delete", "Deallocate"}[m%2])
	case 7:
		if s.ScaleSetPriority != nil {
			return // AKS adds no machines to those of spot
		}
		s.UpgradeSettings = upgrades([]*script.Limits{{Surge: "1", Unavailable: "0"}, {Surge: "50%", Unavailable: "0"},
			{Surge: "0", Unavailable: "1"}}[m%3])
	default:
		if s.Mode = []string{aksv1.ModeUser, aksv1.ModeSystem}[m%2]; s.ScaleSetPriority != nil {
			s.Mode = aksv1.ModeUser
		}
	}
}

// bound gives AKS's autoscaler other bounds, where it is on.
func (a *agentPool) bound(least, most int32) {
	a.edit(func(s *agentSpec) {
		if s.Scaling != nil {
			lowest := max(int(least), 1)
			s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: ptr.To(lowest), MaxSize: ptr.To(max(int(most), lowest+1))}
		}
	})
}
