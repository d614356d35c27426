package azure_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/document"
)

// TestAgentPoolsAsRecorded holds what clients of Azure have recorded of an agent pool: it is scaled, loses its taints, is stopped and
// started, loses a machine, gets a new node image, and is deleted.
func TestAgentPoolsAsRecorded(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		const at = "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/" + azure.ResourceGroup +
			"/providers/Microsoft.ContainerService/managedClusters/" + aksName + "/agentPools/user"
		const version = "?api-version=2025-08-01"
		r := &recorder{inventory: w.inventory}
		for _, row := range []struct {
			reason, method, path, body string
			status                     int
			// shown are values of the answer; after are those once the operation has ended. result is the status at Location, 0 without one.
			shown, after map[string]any
			result       int
		}{
			{"created", http.MethodPut, "",
				`{"properties":{"count":2,"vmSize":"Standard_D2s_v3","mode":"User","nodeTaints":["a=b:NoSchedule"]}}`, 201,
				map[string]any{"provisioningState": "Creating", "nodeTaints": "a=b:NoSchedule"}, nil, 0},
			{"another count", http.MethodPut, "", `{"properties":{"count":3}}`, 200,
				map[string]any{"provisioningState": "Scaling", "count": 3}, map[string]any{"count": 3}, 0},
			{"no taints", http.MethodPut, "", `{"properties":{"nodeTaints":[]}}`, 200,
				map[string]any{"provisioningState": "Updating", "nodeTaints": nil}, map[string]any{"nodeTaints": nil}, 0},
			{"stopped", http.MethodPut, "", `{"properties":{"count":3,"powerState":{"code":"Stopped"}}}`, 200,
				map[string]any{"provisioningState": "Stopping", "powerState.code": "Stopped", "count": 0},
				map[string]any{"powerState.code": "Stopped", "count": 0}, 0},
			{"started", http.MethodPut, "", `{"properties":{"count":0,"powerState":{"code":"Running"}}}`, 200,
				map[string]any{"provisioningState": "Starting", "powerState.code": "Running", "count": 3}, map[string]any{"count": 3}, 0},
			{"a machine is deleted", http.MethodPost, "/deleteMachines", "", 202, nil, map[string]any{"count": 2}, 204},
			{"a new node image", http.MethodPost, "/upgradeNodeImageVersion", "", 202,
				map[string]any{"provisioningState": "UpgradingNodeImageVersion"}, nil, 204},
			{"deleted", http.MethodDelete, "", "", 202, nil, nil, 204},
		} {
			if row.path == "/deleteMachines" {
				row.body = `{"machineNames":["` + w.held("user").Machines[0].Name + `"]}`
			}
			status, d := r.ask(row.method, at+row.path+version, row.body)
			check(t, row.reason+": status", row.status, status)
			shows(t, row.reason, d, row.shown)
			result := r.header.Get("Location")
			if r.header.Get("Azure-AsyncOperation") == "" || (result != "") != (row.result != 0) {
				t.Errorf("%s: want the addresses of an operation, got %v", row.reason, r.header)
			}
			time.Sleep(time.Hour)
			if row.result != 0 {
				status, _ = r.ask(http.MethodGet, strings.TrimPrefix(result, "http://arm.sim"), "")
				check(t, row.reason+": the result", row.result, status)
			}
			if row.reason != "deleted" {
				_, d = r.ask(http.MethodGet, at+version, "")
				check(t, row.reason+": state", "Succeeded", document.Text(d, "properties.provisioningState"))
				shows(t, row.reason+", at the end", d, row.after)
			}
		}
	})
}

// TestAbortAsRecorded holds the answer to an abort of a stop, and what it leaves.
func TestAbortAsRecorded(t *testing.T) {
	t.Parallel()
	inCluster(t, func(w *aksClients) {
		const at = "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/" + azure.ResourceGroup +
			"/providers/Microsoft.ContainerService/managedClusters/" + aksName + "/agentPools/user"
		const version = "?api-version=2025-08-01"
		_, err := w.putPool("user", user(2, nil))
		w.must(err)
		r := &recorder{inventory: w.inventory}
		_, _ = r.ask(http.MethodPut, at+version, `{"properties":{"powerState":{"code":"Stopped"}}}`)
		status, d := r.ask(http.MethodPost, at+"/abort"+version, "")
		check(t, "status", 202, status)
		shows(t, "the answer", d, map[string]any{"provisioningState": "Stopping", "powerState.code": "Stopped", "count": 0})
		check(t, "an address of the result", true, r.header.Get("Location") != "")
		time.Sleep(time.Minute)
		_, d = r.ask(http.MethodGet, strings.TrimPrefix(r.header.Get("Azure-AsyncOperation"), "http://arm.sim"), "")
		check(t, "the operation", "Succeeded", document.Text(d, "status"))
		_, d = r.ask(http.MethodGet, at+version, "")
		shows(t, "afterwards", d, map[string]any{"provisioningState": "Canceled", "powerState.code": "Running", "count": 2})
	})
}

// shows checks properties of an agent pool: texts, numbers, lists of one text, and nil for one that is not shown.
func shows(t *testing.T, reason string, d document.Object, want map[string]any) {
	t.Helper()
	properties := document.Under(d, "properties")
	for path, value := range want {
		switch value := value.(type) {
		case nil:
			check(t, reason+": "+path+" is shown", false, properties[path] != nil)
		case int:
			n, _ := document.Number(properties, path)
			check(t, reason+": "+path, value, n)
		case string:
			text := document.Text(properties, path)
			if list := document.Texts(properties, path); len(list) > 0 {
				text = strings.Join(list, ", ")
			}
			check(t, reason+": "+path, value, text)
		}
	}
}
