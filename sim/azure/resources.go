package azure

import (
	"net/http"
	"strings"
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
		if w.resources.Get(strings.ToLower(id)) != nil {
			continue
		}
		w.putResource(id, document{"location": g.Location, "properties": document{"provisioningState": stateSucceeded}})
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
	id := func(kind, name string) string { return resourceID(sub, g.Name, "Microsoft.Network/"+kind, name) }
	network := id("virtualNetworks", cluster+"-vnet")
	w.putResource(network, document{"location": g.Location, "properties": document{"addressSpace": document{"addressPrefixes": []any{"10.0.0.0/8"}}}})
	for role, prefix := range map[string]string{"node": "10.1.0.0/16", "controlplane": "10.0.0.0/16"} {
		group := id("networkSecurityGroups", cluster+"-"+role+"-nsg")
		w.putResource(group, document{"location": g.Location, "properties": document{}})
		w.putResource(network+"/subnets/"+cluster+"-"+role+"-subnet", document{
			"properties": document{"addressPrefix": prefix, "networkSecurityGroup": document{"id": group}},
		})
	}
	w.putResource(id("routeTables", cluster+"-node-routetable"), document{"location": g.Location, "properties": document{}})
	balancer := id("loadBalancers", cluster)
	w.putResource(balancer, document{"location": g.Location, "sku": document{"name": "Standard"}, "properties": document{}})
	w.putResource(balancer+"/backendAddressPools/"+cluster+"-outboundBackendPool", document{"properties": document{}})
}

func (w *environment) seedIdentity(s Subscription, g Group, name string) {
	w.putResource(resourceID(s.ID, g.Name, "Microsoft.ManagedIdentity/userAssignedIdentities", name), document{
		"location": g.Location,
		"properties": document{
			"tenantId": s.TenantID, "principalId": w.cloud.seed.UUID("principal", s.ID, g.Name, name), "clientId": w.cloud.seed.UUID("client", s.ID, g.Name, name),
		},
	})
}

// putResource puts a resource there, or replaces it.
func (w *environment) putResource(id string, d document) {
	parts := strings.Split(strings.Trim(id, "/"), "/")
	d["id"], d["name"], d["type"] = id, parts[len(parts)-1], kindOf(parts)
	w.resources.Put(strings.ToLower(id), &resource{ID: id, Doc: d})
}

// kindOf is the type of a resource by the parts of its ID, such as Microsoft.Network/virtualNetworks/subnets.
func kindOf(parts []string) string {
	for i, p := range parts {
		if !strings.EqualFold(p, "providers") || i+2 >= len(parts) {
			continue
		}
		kind := parts[i+1]
		for n := i + 2; n < len(parts); n += 2 {
			kind += "/" + parts[n]
		}
		return kind
	}
	return "Microsoft.Resources/resourceGroups"
}

// exists reports whether a resource is there.
func (w *environment) exists(id string) bool { return w.resources.Get(strings.ToLower(id)) != nil }

// hasGroup reports whether a resource group is there.
func (w *environment) hasGroup(sub, group string) bool {
	return w.exists("/subscriptions/" + sub + "/resourceGroups/" + group)
}

// getResource answers for all that is only read: groups, networks, identities.
func (w *environment) getResource(x *exchange) (*answer, error) {
	r := w.resources.Get(strings.ToLower(x.path))
	if r == nil {
		if !strings.Contains(strings.ToLower(x.path), "/providers/") {
			return nil, refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", x.vars["rg"])
		}
		parts := strings.Split(strings.Trim(x.path, "/"), "/")
		return nil, notFound(kindOf(parts), parts[len(parts)-1], x.vars["rg"])
	}
	return ok(copied(r.Doc)), nil
}

// principals are the IDs of all identities that the directory knows.
func (w *environment) hasPrincipal(id string) bool {
	for _, r := range w.resources.All() {
		if strings.EqualFold(text(r.Doc, "properties.principalId"), id) {
			return true
		}
	}
	for _, s := range w.sets.All() {
		if s.Principal != "" && strings.EqualFold(s.Principal, id) {
			return true
		}
	}
	for _, a := range w.secrets.All() {
		if strings.EqualFold(a.objectID(), id) {
			return true
		}
	}
	return false
}

// address is the next private address of a network.
func (w *environment) address() string {
	n := w.number("address") + 3 // the first addresses of a subnet are the service's
	return "10.1." + itoa(int(n/250)%250) + "." + itoa(int(n%250)+4)
}

// uuid makes the next ID of a kind.
func (w *environment) uuid(kind string) string { return w.cloud.seed.UUID(kind, w.number("uuid")) }

// Resource puts a resource there as its owner would: a group, a network, an identity. The document is what its GET answers beside
// id, name and type.
func (c portal) Resource(id string, doc map[string]any) error {
	return c.cloud.by(func(w *inventory) error {
		w.environment.putResource(id, copied(doc))
		return nil
	})
}

// RemoveResource takes a resource away; what refers to it stays.
func (c portal) RemoveResource(id string) error {
	return c.cloud.by(func(w *inventory) error {
		if !w.environment.exists(id) {
			return refuse(http.StatusNotFound, "ResourceNotFound", "there is no %s", id)
		}
		w.resources.Delete(strings.ToLower(id))
		return nil
	})
}

// PutGroup puts a resource group there with the networks of its clusters and its identities, where it is not there yet.
func (c portal) PutGroup(subscription string, g Group) error {
	return c.cloud.by(func(w *inventory) error {
		s := c.cloud.subscription(subscription)
		if s == nil {
			return refuse(http.StatusNotFound, "SubscriptionNotFound", "The subscription '%s' could not be found.", subscription)
		}
		w.environment.seed(Subscription{ID: s.ID, TenantID: s.TenantID, Groups: []Group{g}})
		return nil
	})
}
