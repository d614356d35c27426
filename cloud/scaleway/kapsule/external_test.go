package kapsule_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/scaleway"
)

// register has a machine outside of Scaleway join the pool of an ID, as its agent does.
func (w *world) register(poolID string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, endpoint+"/k8s/v1/regions/"+scaleway.Region+"/pools/"+poolID+
		"/external-nodes", strings.NewReader("{}"))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", secretKey)
	reply, err := (sim.Transport{Handler: w.cloud}).RoundTrip(req)
	if err != nil || reply.StatusCode != http.StatusOK {
		w.Fatalf("register a machine: %+v, %v", reply, err)
	}
	_ = reply.Body.Close() // nothing of it is read
	settle()
}

// TestExternal: machines of a pool with node type external join and leave by themselves. No size makes them, and that is told.
func TestExternal(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		if _, err := w.cloud.PutCluster(scaleway.Access{Name: "kosmos", Version: version[1:], Type: "multicloud"}); err != nil {
			t.Fatal(err)
		}
		settle()
		w.target.Spec.Cluster.Name = "kosmos"
		w.change(func(s *spec) { s.NodeType = "external" })
		w.create(3)
		o := w.observe()
		if o.Group == nil || o.Group.Size != 0 || len(o.Group.Drift)+len(o.Group.Unchangeable) > 0 || o.Capacity != nil {
			t.Fatalf("want an empty pool, got %+v", o.Group)
		}
		var e *cloud.Error
		sent := w.sent(func() {
			if err := w.try(domain.Step{Kind: domain.Resize, Size: 3}); !errors.As(err, &e) || e.Kind != cloud.Invalid ||
				e.Field != "MachinePool spec.replicas" || !strings.Contains(e.Message, "join by themselves") {
				t.Errorf("want a size refused in words, got %v", err)
			}
		})
		if slices.Contains(sent, "UpdatePool") {
			t.Errorf("want no size requested, got %v", sent)
		}
		w.register(w.cloud.Snapshot().Group("pool").ID)
		o = w.observe()
		if o.Group.Size != 1 || len(o.Instances) != 1 || o.Instances[0].ProviderID == "" || len(o.Group.Drift) > 0 {
			t.Errorf("want the machine that has joined, got %+v, %+v", o.Group, o.Instances)
		}
		w.start(remove(o, 0))
		if o = w.observe(); o.Group.Size != 0 || len(o.Instances) != 0 {
			t.Errorf("want the machine gone that was named, got %+v, %+v", o.Group, o.Instances)
		}
	})
}
