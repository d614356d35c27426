package azure_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/azure"
)

// asked sends a request about a pool in a version that the SDK does not know yet, and returns the status and the document of the answer.
func (w *aksClients) asked(method, pool, version, body string) (status int, answer map[string]any) {
	w.Helper()
	at := "http://arm.sim/subscriptions/" + azure.SubscriptionID + "/resourceGroups/" + azure.ResourceGroup +
		"/providers/Microsoft.ContainerService/managedClusters/" + aksName + "/agentPools/" + pool + "?api-version=" + version
	r, err := http.NewRequestWithContext(w.Context(), method, at, strings.NewReader(body))
	w.must(err)
	r.Header.Set("Authorization", "Bearer any")
	r.Header.Set("Content-Type", "application/json")
	reply, err := w.Do(r)
	w.must(err)
	// An answer without a body has no document.
	_ = json.NewDecoder(reply.Body).Decode(&answer)
	w.must(reply.Body.Close())
	return reply.StatusCode, answer
}

// TestPoolOfVMs holds that the machines of a pool of type VirtualMachines are virtual machines by themselves, and that the pool has their
// size and count in its scale profile alone.
func TestPoolOfVMs(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		const version = "2025-08-01"
		for _, row := range []struct {
			why, version, body string
			status             int
		}{
			{"a version without scale profiles", "2025-05-01",
				`"virtualMachinesProfile": {"scale": {"manual": [{"size": "Standard_D2s_v3", "count": 2}]}}`, 400},
			{"size and count of a scale set", version, `"count": 2, "vmSize": "Standard_D2s_v3"`, 400},
			{"no profile", version, `"mode": "User"`, 400},
			{"AKS's autoscaler", version, `"enableAutoScaling": true, "virtualMachinesProfile": {"scale": {"manual": [{"size": "Standard_D2s_v3", "count": 2}]}}`, 400},
			{"one size", version, `"virtualMachinesProfile": {"scale": {"manual": [{"size": "Standard_D2s_v3", "count": 2}]}}`, 201},
		} {
			if got, answer := w.asked(http.MethodPut, "vms", row.version,
				`{"properties": {"type": "VirtualMachines", `+row.body+`}}`); got != row.status {
				t.Errorf("%s: want the status %d, got %d: %v", row.why, row.status, got, answer)
			}
		}
		time.Sleep(time.Hour)
		held := w.held("vms")
		check(t, "machines", 2, len(held.Machines))
		check(t, "name of a machine", held.ScaleSet+"0", held.Machines[0].Name)
		_, answer := w.asked(http.MethodGet, "vms", version, "")
		shown, err := json.Marshal(answer["properties"])
		w.must(err)
		for _, want := range []string{`"virtualMachinesProfile":{"scale":{"manual":[{"count":2,"size":"Standard_D2s_v3"}]}}`,
			`"virtualMachineNodesStatus":[{"count":2,"size":"Standard_D2s_v3"}]`, `"vmSize":""`} {
			if !strings.Contains(string(shown), want) || strings.Contains(string(shown), `"enableAutoScaling"`) {
				t.Errorf("want %s shown, got %s", want, shown)
			}
		}
		sets, err := w.sets.NewListPager("MC_"+azure.ResourceGroup+"_"+aksName+"_"+azure.Location, nil).NextPage(t.Context())
		w.must(err)
		check(t, "scale sets beside that of the System pool", 1, len(sets.Value))
	})
}
