package standintest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/clouds/azure/standin"
)

// azureRecorded records requests.
type azureRecorded struct {
	made standin.Resources
	err  error
}

func (r *azureRecorded) Make(_ context.Context, w standin.Resources) error {
	r.made = w
	return r.err
}

func describe(spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetName("capz")
	return o
}

// TestAzureNetwork: the names are those that the Azure provider would choose, which the published manifest's azure.json relies on; what a
// person wrote stays; and all of it is made in the cloud.
func TestAzureNetwork(t *testing.T) {
	controlPlaneSubnet := map[string]any{"name": "capz-controlplane-subnet", "role": "control-plane",
		"securityGroup": map[string]any{"name": "capz-controlplane-nsg"}}
	nodeSubnet := map[string]any{"name": "capz-node-subnet", "role": "node", "securityGroup": map[string]any{"name": "capz-node-nsg"},
		"routeTable": map[string]any{"name": "capz-node-routetable"}}
	for _, tc := range []struct {
		reason   string
		spec     map[string]any
		endpoint clusterv1.APIEndpoint
		wantSpec map[string]any
		wantMade standin.Resources
	}{
		{reason: "an empty one gets the provider's names", spec: map[string]any{},
			endpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 20001},
			wantSpec: map[string]any{"subscriptionID": "sub", "location": "westus2", "resourceGroup": "capz", "azureEnvironment": "AzurePublicCloud",
				"controlPlaneEndpoint": map[string]any{"host": "127.0.0.1", "port": int64(20001)},
				"networkSpec": map[string]any{"vnet": map[string]any{"name": "capz-vnet", "resourceGroup": "capz"},
					"subnets": []any{controlPlaneSubnet, nodeSubnet}}},
			wantMade: standin.Resources{SubscriptionID: "sub", ResourceGroup: "capz", Location: "westus2", VnetGroup: "capz", Vnet: "capz-vnet",
				Subnets: []string{"capz-controlplane-subnet", "capz-node-subnet"}, BackendPools: map[string]string{}}},
		{reason: "what a person wrote stays, subnets without a name get one, a balancer that is asked for gets its names",
			spec: map[string]any{"subscriptionID": "own", "location": "eastus", "resourceGroup": "rg", "azureEnvironment": "AzureUSGovernmentCloud",
				"networkSpec": map[string]any{"vnet": map[string]any{"name": "v", "resourceGroup": "shared"},
					"nodeOutboundLB": map[string]any{"frontendIPsCount": int64(1)},
					"subnets": []any{map[string]any{"role": "node", "name": "mine"}, map[string]any{"role": "node"},
						map[string]any{"role": "control-plane"}}}},
			wantSpec: map[string]any{"subscriptionID": "own", "location": "eastus", "resourceGroup": "rg",
				"azureEnvironment": "AzureUSGovernmentCloud",
				"networkSpec": map[string]any{"vnet": map[string]any{"name": "v", "resourceGroup": "shared"},
					"nodeOutboundLB": map[string]any{"frontendIPsCount": int64(1), "name": "capz",
						"backendPool": map[string]any{"name": "capz-outboundBackendPool"}},
					"subnets": []any{map[string]any{"role": "node", "name": "mine"}, map[string]any{"role": "node", "name": "capz-node-subnet-2"},
						map[string]any{"role": "control-plane", "name": "capz-controlplane-subnet"}}}},
			wantMade: standin.Resources{SubscriptionID: "own", ResourceGroup: "rg", Location: "eastus", VnetGroup: "shared", Vnet: "v",
				Subnets:      []string{"mine", "capz-node-subnet-2", "capz-controlplane-subnet"},
				BackendPools: map[string]string{"capz": "capz-outboundBackendPool"}}},
		{reason: "a subnet for everything needs no other",
			spec: map[string]any{"networkSpec": map[string]any{"subnets": []any{map[string]any{"role": "cluster"}}}},
			wantSpec: map[string]any{"subscriptionID": "sub", "location": "westus2", "resourceGroup": "capz", "azureEnvironment": "AzurePublicCloud",
				"networkSpec": map[string]any{"vnet": map[string]any{"name": "capz-vnet", "resourceGroup": "capz"},
					"subnets": []any{map[string]any{"role": "cluster", "name": "capz-subnet"}}}},
			wantMade: standin.Resources{SubscriptionID: "sub", ResourceGroup: "capz", Location: "westus2", VnetGroup: "capz", Vnet: "capz-vnet",
				Subnets: []string{"capz-subnet"}, BackendPools: map[string]string{}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			azure := &azureRecorded{}
			n := standin.Network{SubscriptionID: "sub", Location: "westus2", Zones: func(string) []string { return nil }, Azure: azure}
			o := describe(tc.spec)
			for range 2 { // what is filled in stays as it is
				if err := n.FillSpec(o, tc.endpoint); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.wantSpec, o.Object["spec"]); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if err := n.Make(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantMade, azure.made); diff != "" {
				t.Errorf("made (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatus: a location has zones, or it has none and the cluster then has no failure domains.
func TestStatus(t *testing.T) {
	zones := func(location string) []string {
		if location == "westus" {
			return nil
		}
		return []string{"1", "2"}
	}
	for _, tc := range []struct {
		location string
		want     map[string]any
	}{
		{"westus2", map[string]any{"ready": true, "failureDomains": map[string]any{"1": map[string]any{"controlPlane": true},
			"2": map[string]any{"controlPlane": true}}}},
		{"westus", map[string]any{"ready": true}},
	} {
		o := describe(map[string]any{"location": tc.location})
		if err := (standin.Network{Zones: zones}).FillStatus(o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, o.Object["status"]); diff != "" {
			t.Errorf("%s: status (-want +got):\n%s", tc.location, diff)
		}
	}
}

// TestAnObjectThatIsWrong holds that fields of a wrong type are reported, and so is a cloud that fails to create the network.
func TestAnObjectThatIsWrong(t *testing.T) {
	refused := errors.New("refused")
	n := standin.Network{SubscriptionID: "sub", Location: "westus2", Azure: &azureRecorded{err: refused}}
	for _, spec := range []map[string]any{
		{"resourceGroup": int64(1)}, {"networkSpec": "none"}, {"networkSpec": map[string]any{"subnets": []any{"a name"}}},
	} {
		if err := n.FillSpec(describe(spec), clusterv1.APIEndpoint{}); err == nil {
			t.Errorf("want an error for %v, got none", spec)
		}
	}
	if err := n.Make(t.Context(), describe(map[string]any{})); !errors.Is(err, refused) {
		t.Errorf("want the cloud's refusal, got %v", err)
	}
}
