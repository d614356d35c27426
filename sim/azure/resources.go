package azure

import (
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// What the default subscription holds from the start, for seeding and for examples.
const (
	SubscriptionID = "00000000-5b1d-4c0f-8a3e-0123456789ab"
	TenantID       = "00000000-7e4a-4d2b-9c11-0123456789ab"
	ClientID       = "00000000-c11e-4f00-8d22-0123456789ab"
	ClientSecret   = "simulated~secret.of-muster"
	// ResourceGroup is where ClusterName has its network: VirtualNetwork with NodeSubnet and ControlPlaneSubnet.
	ResourceGroup      = "capz"
	Location           = "westus2"
	ClusterName        = "capz"
	VirtualNetwork     = "capz-vnet"
	NodeSubnet         = "capz-node-subnet"
	ControlPlaneSubnet = "capz-controlplane-subnet"
	// VMSize is one that the catalogue has and that suits a small node.
	VMSize = "Standard_D2s_v3"
	// IdentityName is a user-assigned identity of the resource group.
	IdentityName = "capz-identity"
)

// Subscription is one subscription of the simulated cloud, with what exists in it from the start.
type Subscription struct {
	// ID is the subscription's, TenantID the directory's that it trusts.
	ID, TenantID string
	Groups       []Group
}

// Group is a resource group.
type Group struct {
	Name, Location string
	// Clusters are those whose networks exist in the group, in the way the existing provider names them.
	Clusters []string
	// Identities are the names of user-assigned identities.
	Identities []string
}

// DefaultSubscription is the subscription that a simulator has unless told otherwise.
func DefaultSubscription() Subscription {
	return Subscription{ID: SubscriptionID, TenantID: TenantID, Groups: []Group{
		{Name: ResourceGroup, Location: Location, Clusters: []string{ClusterName}, Identities: []string{IdentityName}},
		{Name: "capz-flex", Location: Location, Clusters: []string{"capz-flex"}},
	}}
}

// subscription finds a subscription; nil where there is none.
func (c *Cloud) subscription(id string) *Subscription {
	for i, s := range c.subscriptions {
		if strings.EqualFold(s.ID, id) {
			return &c.subscriptions[i]
		}
	}
	return nil
}

// seed puts what a subscription holds from the start there, where it is not there yet.
func (w *environment) seed(s Subscription) {
	for _, g := range s.Groups {
		id := "/subscriptions/" + s.ID + "/resourceGroups/" + g.Name
		if w.Resources.Get(strings.ToLower(id)) != nil {
			continue
		}
		w.PutResource(id, document.Object{"location": g.Location, "properties": document.Object{"provisioningState": "Succeeded"}})
		for _, cluster := range g.Clusters {
			w.seedNetwork(s.ID, g, cluster)
		}
		for _, name := range g.Identities {
			w.seedIdentity(s, g, name)
		}
	}
}

// seedNetwork makes a cluster's network: a virtual network with its subnets, security groups, and the load balancer by which its
// nodes reach the internet.
func (w *environment) seedNetwork(sub string, g Group, cluster string) {
	id := func(kind, name string) string { return arm.ResourceID(sub, g.Name, "Microsoft.Network/"+kind, name) }
	network := id("virtualNetworks", cluster+"-vnet")
	w.PutResource(network, document.Object{"location": g.Location,
		"properties": document.Object{"addressSpace": document.Object{"addressPrefixes": []any{"10.0.0.0/8"}}}})
	for role, prefix := range map[string]string{"node": "10.1.0.0/16", "controlplane": "10.0.0.0/16"} {
		group := id("networkSecurityGroups", cluster+"-"+role+"-nsg")
		w.PutResource(group, document.Object{"location": g.Location, "properties": document.Object{}})
		w.PutResource(network+"/subnets/"+cluster+"-"+role+"-subnet", document.Object{
			"properties": document.Object{"addressPrefix": prefix, "networkSecurityGroup": document.Object{"id": group}},
		})
	}
	w.PutResource(id("routeTables", cluster+"-node-routetable"), document.Object{"location": g.Location, "properties": document.Object{}})
	balancer := id("loadBalancers", cluster)
	w.PutResource(balancer, document.Object{"location": g.Location, "sku": document.Object{"name": "Standard"},
		"properties": document.Object{}})
	w.PutResource(balancer+"/backendAddressPools/"+cluster+"-outboundBackendPool", document.Object{"properties": document.Object{}})
}

func (w *environment) seedIdentity(s Subscription, g Group, name string) {
	w.PutResource(arm.ResourceID(s.ID, g.Name, "Microsoft.ManagedIdentity/userAssignedIdentities", name), document.Object{
		"location": g.Location,
		"properties": document.Object{
			"tenantId": s.TenantID, "principalId": w.Seed.UUID("principal", s.ID, g.Name, name),
			"clientId": w.Seed.UUID("client", s.ID, g.Name, name),
		},
	})
}

// getResource answers for all that is only read: groups, networks, identities.
func (w *environment) getResource(x *arm.Call) (*arm.Answer, error) {
	r := w.Resources.Get(strings.ToLower(x.Path))
	if r == nil {
		if !strings.Contains(strings.ToLower(x.Path), "/providers/") {
			return nil, arm.Refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", x.Vars["rg"])
		}
		parts := strings.Split(strings.Trim(x.Path, "/"), "/")
		return nil, arm.NotFound(arm.KindOf(parts), parts[len(parts)-1], x.Vars["rg"])
	}
	return arm.OK(document.Copied(r.Doc)), nil
}

// hasPrincipal reports whether the directory knows an identity.
func (w *environment) hasPrincipal(id string) bool {
	for _, r := range w.Resources.All() {
		if strings.EqualFold(document.Text(r.Doc, "properties.principalId"), id) {
			return true
		}
	}
	for _, a := range w.secrets.All() {
		if strings.EqualFold(a.objectID(), id) {
			return true
		}
	}
	return w.compute.HasPrincipal(id)
}

// Resource puts a resource there as its owner would: a group, a network, an identity. The document is what its GET answers beside
// id, name and type.
func (c portal) Resource(id string, doc map[string]any) error {
	return c.cloud.by(func(w *inventory) error {
		w.PutResource(id, document.Copied(doc))
		return nil
	})
}

// PutGroup puts a resource group there with the networks of its clusters and its identities, where it is not there yet.
func (c portal) PutGroup(subscription string, g Group) error {
	return c.cloud.by(func(w *inventory) error {
		s := c.cloud.subscription(subscription)
		if s == nil {
			return arm.Refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", subscription)
		}
		w.environment.seed(Subscription{ID: s.ID, TenantID: s.TenantID, Groups: []Group{g}})
		return nil
	})
}

// Zones are the availability zones of a location; none where there are none, or no such location.
func Zones(name string) []string {
	if l := arm.LocationOf(name); l != nil {
		return l.ZoneNames()
	}
	return nil
}
