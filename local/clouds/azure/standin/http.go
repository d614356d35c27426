package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
)

// HTTP is the simulated Azure of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Resource Manager: http://127.0.0.1:4567.
	Endpoint string
}

// resource is something that the simulator's owner has it hold.
type resource struct {
	ID  string         `json:"id"`
	Doc map[string]any `json:"doc"`
}

// Make has the simulator hold a network.
func (h HTTP) Make(ctx context.Context, w Resources) error {
	for _, r := range w.resources() {
		if err := h.put(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// resources returns all wanted resources, parents first.
func (w Resources) resources() []resource {
	subscription := "/subscriptions/" + w.SubscriptionID
	place := map[string]any{"location": w.Location}
	group := subscription + "/resourceGroups/" + w.ResourceGroup
	if w.Vnet == "" {
		return []resource{{group, place}}
	}
	vnetGroup := subscription + "/resourceGroups/" + w.VnetGroup
	vnet := vnetGroup + "/providers/Microsoft.Network/virtualNetworks/" + w.Vnet
	all := []resource{{group, place}, {vnetGroup, place}, {vnet, place}}
	for _, s := range w.Subnets {
		all = append(all, resource{vnet + "/subnets/" + s, map[string]any{}})
	}
	for _, name := range slices.Sorted(maps.Keys(w.BackendPools)) {
		balancer := group + "/providers/Microsoft.Network/loadBalancers/" + name
		all = append(all, resource{balancer, map[string]any{"location": w.Location, "sku": map[string]any{"name": "Standard"}}},
			resource{balancer + "/backendAddressPools/" + w.BackendPools[name], map[string]any{}})
	}
	return all
}

// put has the simulator hold one resource.
func (h HTTP) put(ctx context.Context, r resource) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("describe %s: %w", r.ID, err)
	}
	reply, err := sim.Owner{Endpoint: h.Endpoint, Name: "Azure"}.Call(ctx, http.MethodPut, "resources", body)
	if err == nil && reply.Refused() {
		err = fmt.Errorf("the simulated Azure did not take %s: %s: %s", r.ID, reply.Status, reply.Text())
	}
	return err
}
