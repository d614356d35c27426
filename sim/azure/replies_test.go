package azure_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
)

// A refusal for too many requests says which limit, for how long, and how many requests were counted.
func TestThrottlingDetails(t *testing.T) {
	inBubble(t, azure.Options{Limits: azure.Limits{"LowCostGetVMScaleSetResource": {Size: 1, Refill: 0.2}}}, func(w *inventory) {
		w.create("Uniform", "mp", 0)
		path := inGroup + "virtualMachineScaleSets/mp" + version
		status, body := 200, ""
		for status == 200 {
			status, _, body = ask(w.T, w.cloud, "GET", path, "")
		}
		var said struct {
			Error struct {
				Code    string
				Details []struct{ Code, Target, Message string }
			}
		}
		w.must(json.Unmarshal([]byte(body), &said))
		if len(said.Error.Details) != 1 {
			t.Fatalf("want one detail, got %s", body)
		}
		d := said.Error.Details[0]
		check(t, "status and codes", "OperationNotAllowed TooManyRequests LowCostGetVMScaleSetResource",
			strings.Join([]string{said.Error.Code, d.Code, d.Target}, " "))
		var counted struct {
			OperationGroup       string
			StartTime, EndTime   time.Time
			AllowedRequestCount  int
			MeasuredRequestCount int
		}
		w.must(json.Unmarshal([]byte(d.Message), &counted))
		check(t, "group", "LowCostGetVMScaleSetResource", counted.OperationGroup)
		check(t, "for how long", 5*time.Second, counted.EndTime.Sub(counted.StartTime))
		check(t, "allowed", 1, counted.AllowedRequestCount)
		check(t, "measured", 2, counted.MeasuredRequestCount)
	})
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 0)
		w.must(w.cloud.Faults().Add(sim.Fault{Kind: sim.Throttle, Action: "VirtualMachineScaleSets_Get", Delay: sim.Duration(7 * time.Second)}))
		_, err := w.sets.Get(w.Context(), azure.ResourceGroup, "mp", nil)
		w.refused(err, 429, "OperationNotAllowed", "operationGroup")
		check(t, "a fault says until when, too", "7", w.last.Header.Get("Retry-After"))
	})
}

// Links lead to where the client has reached the simulator: through the proxy that it has used.
func TestLinksBehindProxies(t *testing.T) {
	for _, c := range []struct {
		reason  string
		headers []string
		want    string
	}{
		{"without a proxy", nil, "http://arm.sim/"},
		{"a proxy that ends TLS", []string{"X-Forwarded-Proto", "https"}, "https://arm.sim/"},
		{"under a name of its own", []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "management.azure.com"},
			"https://management.azure.com/"},
		{"the first of several", []string{"X-Forwarded-Proto", "https, http", "X-Forwarded-Host", "a.example, b.example"}, "https://a.example/"},
		{"what is no host is no host", []string{"X-Forwarded-Host", "evil.example/path"}, "http://arm.sim/"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inBubble(t, azure.Options{}, func(w *inventory) {
				w.create("Flexible", "mp", 2)
				w.must(w.cloud.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: 1}))
				_, _, body := ask(w.T, w.cloud, "GET", inGroup+"virtualMachines"+version, "", c.headers...)
				var page struct{ NextLink string }
				w.must(json.Unmarshal([]byte(body), &page))
				if !strings.HasPrefix(page.NextLink, c.want) {
					t.Errorf("next page: want it below %s, got %s", c.want, page.NextLink)
				}
			})
		})
	}
}
