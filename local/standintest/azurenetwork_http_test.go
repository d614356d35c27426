package standintest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/sim/azure"
)

// TestTheSimulatorHoldsIt: what was made is found by a client of Azure, and may be made again.
func TestTheSimulatorHoldsIt(t *testing.T) {
	sim, err := azure.New(azure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Close() })
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	h := azurestandin.HTTP{Endpoint: server.URL}
	network := azurestandin.Resources{SubscriptionID: azure.SubscriptionID, ResourceGroup: "rg", Location: "westus2", VnetGroup: "shared",
		Vnet:    "v",
		Subnets: []string{"nodes"}, BackendPools: map[string]string{"lb": "lb-outboundBackendPool"}}
	for range 2 {
		if err := h.Make(t.Context(), network); err != nil {
			t.Fatal(err)
		}
	}
	subscription := "/subscriptions/" + azure.SubscriptionID
	for path, version := range map[string]string{
		"/resourceGroups/rg": "2021-04-01", "/resourceGroups/shared": "2021-04-01",
		"/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes": "2024-05-01",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+subscription+path+"?api-version="+version, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer any")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: want it there, got %s", path, resp.Status)
		}
	}
}

// TestARefusalIsTold: by what was refused and how.
func TestARefusalIsTold(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		http.Error(w, "no room", http.StatusConflict)
	}))
	t.Cleanup(server.Close)
	err := azurestandin.HTTP{Endpoint: server.URL}.Make(t.Context(), azurestandin.Resources{SubscriptionID: "s", ResourceGroup: "rg"})
	if err == nil || !strings.Contains(err.Error(), "/subscriptions/s/resourceGroups/rg: 409 Conflict: no room") {
		t.Errorf("want what was refused and why, got %v", err)
	}
}
