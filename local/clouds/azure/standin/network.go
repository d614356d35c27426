package standin

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/fields"
)

// Roles of subnets, as the Azure provider names them.
const (
	controlPlane = "control-plane"
	node         = "node"
	anything     = "cluster"
)

// Network is where clusters of a subscription are.
type Network struct {
	// SubscriptionID and Location of what an object does not place.
	SubscriptionID, Location string
	// Zones of a location; nil for one that has none.
	Zones func(location string) []string
	// Azure creates the resources.
	Azure Maker
}

// Maker makes networks in the simulated Azure. What is there already is left.
type Maker interface {
	Make(ctx context.Context, w Resources) error
}

// Resources holds the resources that the scale sets of one cluster may refer to.
type Resources struct {
	// SubscriptionID, ResourceGroup and Location of the cluster.
	SubscriptionID, ResourceGroup, Location string
	// VnetGroup is the resource group of the virtual network Vnet, and Subnets are its subnets. If Vnet is empty, only the resource group is
	// wanted.
	VnetGroup, Vnet string
	Subnets         []string
	// BackendPools lists the backend pools of load balancers by the name of the load balancer.
	BackendPools map[string]string
}

// FillSpec sets what the object leaves open, under the names that the Azure provider would choose.
func (n Network) FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	name := o.GetName()
	known := []fields.Field{
		{Value: n.SubscriptionID, Path: []string{"spec", "subscriptionID"}},
		{Value: n.Location, Path: []string{"spec", "location"}},
		{Value: name, Path: []string{"spec", "resourceGroup"}},
		{Value: "AzurePublicCloud", Path: []string{"spec", "azureEnvironment"}},
		{Value: name + "-vnet", Path: []string{"spec", "networkSpec", "vnet", "name"}},
	}
	if endpoint.IsValid() {
		known = append(known,
			fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
			fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}})
	}
	if err := fields.Fill(o, known...); err != nil {
		return err
	}
	group, _, err := unstructured.NestedString(o.Object, "spec", "resourceGroup")
	if err != nil {
		return err
	}
	if err := fields.Fill(o, fields.Field{Value: group, Path: []string{"spec", "networkSpec", "vnet", "resourceGroup"}}); err != nil {
		return err
	}
	if err := fillSubnets(o); err != nil {
		return err
	}
	return fillBalancer(o)
}

// fillSubnets names subnets without a name, and adds one for nodes and one for control planes if they are missing.
func fillSubnets(o *unstructured.Unstructured) error {
	found, _, err := unstructured.NestedSlice(o.Object, "spec", "networkSpec", "subnets")
	if err != nil {
		return err
	}
	has := map[string]int{}
	for _, s := range found {
		subnet, ok := s.(map[string]any)
		if !ok {
			return fmt.Errorf("spec.networkSpec.subnets: want objects, found %T", s)
		}
		role, _ := subnet["role"].(string)
		has[role]++
		if name, _ := subnet["name"].(string); name == "" {
			subnet["name"] = subnetName(o.GetName(), role, has[role])
		}
	}
	for _, role := range []string{controlPlane, node} {
		if has[role]+has[anything] == 0 {
			found = append(found, subnet(o.GetName(), role))
		}
	}
	return unstructured.SetNestedSlice(o.Object, found, "spec", "networkSpec", "subnets")
}

// subnet returns a subnet that the object lacks.
func subnet(cluster, role string) map[string]any {
	s := map[string]any{"name": subnetName(cluster, role, 0), "role": role,
		"securityGroup": map[string]any{"name": cluster + "-" + short(role) + "-nsg"}}
	if role == node {
		s["routeTable"] = map[string]any{"name": cluster + "-node-routetable"}
	}
	return s
}

// subnetName returns the provider's name of a subnet: with a number if users described several for nodes.
func subnetName(cluster, role string, count int) string {
	switch {
	case role == anything:
		return cluster + "-subnet"
	case role == node && count > 0:
		return fmt.Sprintf("%s-node-subnet-%d", cluster, count)
	default:
		return cluster + "-" + short(role) + "-subnet"
	}
}

func short(role string) string {
	if role == controlPlane {
		return "controlplane"
	}
	return role
}

// fillBalancer names the load balancer for outbound traffic of nodes, if one is wanted.
func fillBalancer(o *unstructured.Unstructured) error {
	path := []string{"spec", "networkSpec", "nodeOutboundLB"}
	if balancer, ok, err := unstructured.NestedMap(o.Object, path...); err != nil || !ok || balancer == nil {
		return err
	}
	if err := fields.Fill(o, fields.Field{Value: o.GetName(), Path: append(path[:3:3], "name")}); err != nil {
		return err
	}
	name, _, err := unstructured.NestedString(o.Object, append(path[:3:3], "name")...)
	if err != nil {
		return err
	}
	return fields.Fill(o, fields.Field{Value: name + "-outboundBackendPool", Path: append(path[:3:3], "backendPool", "name")})
}

// Make has the simulated Azure hold what the object names.
func (n Network) Make(ctx context.Context, o *unstructured.Unstructured) error {
	w := Resources{BackendPools: map[string]string{}}
	for _, f := range []struct {
		into *string
		path []string
	}{
		{&w.SubscriptionID, []string{"spec", "subscriptionID"}}, {&w.ResourceGroup, []string{"spec", "resourceGroup"}},
		{&w.Location, []string{"spec", "location"}},
		{&w.VnetGroup, []string{"spec", "networkSpec", "vnet", "resourceGroup"}}, {&w.Vnet, []string{"spec", "networkSpec", "vnet", "name"}},
	} {
		var err error
		if *f.into, _, err = unstructured.NestedString(o.Object, f.path...); err != nil {
			return err
		}
	}
	subnets, _, err := unstructured.NestedSlice(o.Object, "spec", "networkSpec", "subnets")
	if err != nil {
		return err
	}
	for _, s := range subnets {
		if subnet, ok := s.(map[string]any); ok {
			name, _ := subnet["name"].(string)
			w.Subnets = append(w.Subnets, name)
		}
	}
	for _, balancer := range []string{"nodeOutboundLB", "apiServerLB", "controlPlaneOutboundLB"} {
		name, _, err := unstructured.NestedString(o.Object, "spec", "networkSpec", balancer, "name")
		if err != nil {
			return err
		}
		pool, _, err := unstructured.NestedString(o.Object, "spec", "networkSpec", balancer, "backendPool", "name")
		if err != nil {
			return err
		}
		if name != "" && pool != "" {
			w.BackendPools[name] = pool
		}
	}
	return n.Azure.Make(ctx, w)
}

// FillStatus marks the network as ready.
func (n Network) FillStatus(o *unstructured.Unstructured) error {
	location, _, err := unstructured.NestedString(o.Object, "spec", "location")
	if err != nil {
		return err
	}
	domains := map[string]any{}
	for _, zone := range n.Zones(location) {
		domains[zone] = map[string]any{"controlPlane": true}
	}
	known := []fields.Field{{Value: true, Path: []string{"status", "ready"}}}
	if len(domains) > 0 {
		known = append(known, fields.Field{Value: domains, Path: []string{"status", "failureDomains"}})
	}
	return fields.Set(o, known...)
}
