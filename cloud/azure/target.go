package azure

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Target holds the driver's input for one pool.
type Target = cloud.Target[*azurev1.MachinePoolSource]

// target is Target with its parts at hand.
type target struct {
	Target
	pool    *azurev1.AzureMachinePoolSpec
	cluster azurev1.ClusterView
	// name is the scale set's.
	name string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, pool: t.Spec.Pool, cluster: t.Spec.Cluster}
	if out.cluster.ResourceGroup == "" {
		return target{}, cloud.Invalidf("spec.resourceGroup", "the infrastructure cluster names no resource group to make the scale set in")
	}
	if err := driverkit.CheckPlaces(t.GroupID, append(session.Places("infrastructure cluster", out.cluster),
		driverkit.Place{Object: "AzureMachinePool", Kind: "location", Field: "spec.location", Name: out.pool.Location})...); err != nil {
		return target{}, err
	}
	name, err := model.Name(t.Owner, out.pool.Template.OSDisk.OSType)
	if err != nil {
		return target{}, err
	}
	out.name = name
	return out, nil
}

// in is the target in the subscription of its session, where its cluster names none.
func (t target) in(subscription string) target {
	if t.cluster.SubscriptionID == "" {
		spec := *t.Spec
		spec.Cluster.SubscriptionID, t.cluster.SubscriptionID = subscription, subscription
		t.Spec = &spec
	}
	return t
}

// setID returns the scale set's ID, as the cluster spells its resource group. Azure returns it in any letter case.
func (t target) setID() string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s",
		t.cluster.SubscriptionID, t.cluster.ResourceGroup, t.name)
}

// groupID returns the ID of the scale set in the form of spec.providerID.
func (t target) groupID() string {
	return fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s",
		t.cluster.SubscriptionID, strings.ToLower(t.cluster.ResourceGroup), t.name)
}

// providerID returns the provider ID of a machine's Node: the machine's ID as the cloud provider writes it, with the resource group in
// lower case.
func (t target) providerID(id string, flexible bool) string {
	kind := "virtualMachineScaleSets/" + t.name + "/virtualMachines/"
	if flexible {
		kind = "virtualMachines/"
	}
	return fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/%s%s",
		t.cluster.SubscriptionID, strings.ToLower(t.cluster.ResourceGroup), kind, id)
}

// instancesBelow begins the provider IDs of a new scale set's machines, which mode Uniform numbers from 0 in each set; empty for mode
// Flexible.
func (t target) instancesBelow() string {
	if t.pool.OrchestrationMode == azurev1.FlexibleOrchestrationMode {
		return ""
	}
	return t.groupID() + "/virtualMachines/"
}

// claim returns what the tags of a resource say about the pool.
func (t target) claim(tags map[string]*string) cloud.Claim {
	return t.Claim(model.Spelling, func(key string) string { return model.Tag(tags, key) })
}

// owns reports whether the scale set is the pool's by its tags.
func (t target) owns(is *armcompute.VirtualMachineScaleSet) bool { return t.claim(is.Tags).Owned }

// shares reports whether pools share all reads of an observation: those of mode Uniform list the machines of each scale set by itself.
func (t target) shares(is *armcompute.VirtualMachineScaleSet) bool {
	if is == nil {
		return t.pool.OrchestrationMode == azurev1.FlexibleOrchestrationMode
	}
	return flexible(is)
}

// spot reports whether Azure may evict the pool's machines.
func (t target) spot() bool { return t.pool.Template.SpotVMOptions != nil }

// ownership returns what decides whether the scale set with the pool's name, or the one that the object names, may be changed.
func (t target) ownership(set setRead) driverkit.Ownership {
	is := set.is
	o := driverkit.Ownership{
		Exists: is != nil, Named: set.named, GroupID: t.GroupID, Former: set.former,
		Group: fmt.Sprintf("scale set %s of resource group %s", t.name, t.cluster.ResourceGroup), Kind: "scale set",
		Rename: "by the annotation muster.dev/group-name", Account: strings.ToLower(t.cluster.SubscriptionID),
		Path: t.cluster.ResourceGroup + "/" + t.name,
	}
	if is != nil {
		o.Claim = t.claim(is.Tags)
	}
	return o
}

// unowned returns the scale set that has the pool's name and lacks its owner tag, nil if there is none, with what its adoption depends on.
func (t target) unowned(set setRead) *pool.Unowned {
	out := t.ownership(set).Unowned(t.name)
	if out == nil {
		return nil
	}
	out.OtherCluster, out.OfCluster = model.OtherCluster(set.is.Tags, t.Owner.Cluster), model.OfCluster(set.is.Tags, t.Owner.Cluster)
	if t.GroupID != "" && !strings.EqualFold(t.GroupID, t.groupID()) {
		out.NamedInstead = t.GroupID
	}
	out.Resources = []string{out.Group}
	return out
}
