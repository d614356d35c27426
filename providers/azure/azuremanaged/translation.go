package azuremanaged

import (
	"fmt"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// reasonWaitControlPlane is the reason while the managed cluster takes no agent pools.
const reasonWaitControlPlane = "WaitingForControlPlane"

// maxNodes is the largest number of nodes of an agent pool (AKS: "Quotas, VM size restrictions, and region availability").
const maxNodes = 1000

// noControlPlane describes a Cluster whose control plane is of another kind.
func noControlPlane(kind string) string {
	return "names no " + kind + " in spec.controlPlaneRef: AKS keeps agent pools for managed clusters alone"
}

// controlPlane returns the reference to the control plane; empty if that is of another kind.
func controlPlane(cluster *clusterv1.Cluster, kind string) clusterv1.ContractVersionedObjectReference {
	if ref := cluster.Spec.ControlPlaneRef; ref.Kind == kind {
		return ref
	}
	return clusterv1.ContractVersionedObjectReference{}
}

// translated is a translation in the making.
type translated struct {
	infrapool.Translation[*aksv1.AgentPoolSource]
}

// translation returns the desired state of objects of both kinds. AKS has no template other than the agent pool, and replaces nodes itself.
func translation(spec *aksv1.AgentPoolSource, upgrade *aksv1.UpgradeSettings) translated {
	return translated{infrapool.Translation[*aksv1.AgentPoolSource]{
		Spec: spec, Max: maxNodes, MaxField: "the limit of AKS", DeletePolicy: pool.Oldest, Strategy: strategy(upgrade), NoPrerequisites: true,
	}}
}

// bound sets the least size of a pool of a mode, which field sets: AKS keeps a node in every System pool.
func (t *translated) bound(mode, field string) {
	if t.MinField = field; mode == aksv1.ModeSystem {
		t.Min = 1
	}
}

// autoscaled has AKS's own autoscaler size the pool, which field asks for, within the bounds of the specification.
func (t *translated) autoscaled(annotation, field string, minSize, maxSize *int) {
	t.Autoscaler, t.AutoscalerField = annotation, field
	t.Min, t.Max = max(ptr.Deref(minSize, 0), t.Min), ptr.Deref(maxSize, maxNodes)
}

// locate says where the agent pool is: as the control plane has it, or else as the object remembers it.
func (t *translated) locate(in infrapool.Inputs) error {
	view, err := managedCluster(in)
	if err != nil {
		return err
	}
	view.Deleting = in.ClusterDeleting
	t.Spec.Cluster, t.Keep = view, view.Remember()
	if in.InfraCluster != nil && !view.View.Ready {
		t.CreateBlocked = &pool.Cause{Reason: reasonWaitControlPlane,
			Message: fmt.Sprintf("%s %s is not ready yet", in.InfraCluster.GetKind(), in.InfraCluster.GetName())}
	}
	return nil
}

// Objects of both kinds are agent pools of AKS.
var (
	managedObjects = ownership.Objects{Kind: aksv1.AzureManagedMachinePoolKind,
		NewList: func() client.ObjectList { return &aksv1.AzureManagedMachinePoolList{} }}
	asoObjects = ownership.Objects{Kind: aksv1.AzureASOManagedMachinePoolKind,
		NewList: func() client.ObjectList { return &aksv1.AzureASOManagedMachinePoolList{} }}
)

func managedCluster(in infrapool.Inputs) (aksv1.ManagedClusterView, error) {
	if in.InfraCluster == nil {
		view, err := aksv1.ManagedClusterViewRemembered(in.Resolved, stored.Annotation)
		view.View.ClusterName = in.Cluster
		return view, err
	}
	return aksv1.ManagedClusterViewOf(in.InfraCluster, in.Cluster)
}

// nodeImage returns the node image that new machines get; empty while it is unknown.
func nodeImage(out engine.Outcome) string {
	if out.Observed.Group == nil {
		return ""
	}
	return out.Observed.Group.Image
}

// strategy returns the strategy for machines that are stale only because of a restart: as many at once as AKS replaces in an upgrade.
func strategy(u *aksv1.UpgradeSettings) *pool.Strategy {
	s := &pool.Strategy{
		MaxSurge: share(aksv1.DefaultMaxSurge), SurgeField: "spec.upgradeSettings.maxSurge",
		UnavailableField: "spec.upgradeSettings.maxUnavailable",
	}
	if u == nil {
		return s
	}
	if u.MaxSurge != nil {
		s.MaxSurge = share(*u.MaxSurge)
	}
	if u.MaxUnavailable != nil {
		s.MaxUnavailable = share(*u.MaxUnavailable)
	}
	return s
}

// share parses a number or a percentage, whose form the schema holds.
func share(text string) pool.IntOrPercent {
	n, percent, ok := aksv1.ParseShare(text)
	if !ok {
		return share(aksv1.DefaultMaxSurge)
	}
	return pool.IntOrPercent{Value: n, Percent: percent}
}
