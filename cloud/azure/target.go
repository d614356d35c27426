package azure

import (
	"fmt"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
)

// Target is what the driver is handed about one pool.
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
	if err := t.Owner.Check(); err != nil {
		return target{}, err
	}
	out := target{Target: t, pool: t.Spec.Pool, cluster: t.Spec.Cluster}
	if out.cluster.ResourceGroup == "" {
		return target{}, cloud.Invalidf("spec.resourceGroup", "the infrastructure cluster names no resource group to make the scale set in")
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

// set is the scale set's ID, as the cluster spells its resource group. Azure gives it back in whatever letter case it likes.
func (p *pass) set() string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s",
		p.t.cluster.SubscriptionID, p.t.cluster.ResourceGroup, p.t.name)
}

// groupID is what the object says of the scale set in spec.providerID: its ID as the ecosystem writes it.
func (p *pass) groupID() string {
	return fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s",
		p.t.cluster.SubscriptionID, strings.ToLower(p.t.cluster.ResourceGroup), p.t.name)
}

// providerID is what a machine's Node carries: its ID as the cloud provider writes it, with the resource group in lower case.
func (p *pass) providerID(id string, flexible bool) string {
	kind := "virtualMachineScaleSets/" + p.t.name + "/virtualMachines/"
	if flexible {
		kind = "virtualMachines/"
	}
	return fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/%s%s",
		p.t.cluster.SubscriptionID, strings.ToLower(p.t.cluster.ResourceGroup), kind, id)
}
