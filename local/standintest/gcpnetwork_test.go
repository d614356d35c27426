package standintest_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/sim/gcp"
)

// gcpRecorded records requests.
type gcpRecorded struct{ made string }

func (r *gcpRecorded) Make(_ context.Context, project, name string) error {
	r.made = project + "/" + name
	return nil
}

// TestGCPNetwork: what the object leaves open is filled in, what a user wrote stays, and the network is made where it is.
func TestGCPNetwork(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		spec     map[string]any
		endpoint clusterv1.APIEndpoint
		wantSpec map[string]any
		wantMade string
		domains  map[string]any
	}{
		{reason: "an empty one gets the default network of the project", spec: map[string]any{},
			endpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 20001},
			wantSpec: map[string]any{"project": "p", "region": "r1", "network": map[string]any{"name": "default"},
				"controlPlaneEndpoint": map[string]any{"host": "127.0.0.1", "port": int64(20001)}},
			wantMade: "p/default", domains: map[string]any{"r1-a": map[string]any{"controlPlane": true},
				"r1-b": map[string]any{"controlPlane": true}}},
		{reason: "a shared network is made in its own project, and chosen zones are those of the cluster",
			spec: map[string]any{"project": "q", "region": "r2", "network": map[string]any{"name": "n", "hostProject": "h"},
				"failureDomains": []any{"r2-b"}},
			wantSpec: map[string]any{"project": "q", "region": "r2", "network": map[string]any{"name": "n", "hostProject": "h"},
				"failureDomains": []any{"r2-b"}},
			wantMade: "h/n", domains: map[string]any{"r2-b": map[string]any{"controlPlane": true}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			compute := &gcpRecorded{}
			n := standin.Network{Project: "p", Region: "r1", Zones: func(r string) []string { return []string{r + "-a", r + "-b"} },
				Compute: compute}
			o := &unstructured.Unstructured{Object: map[string]any{"spec": tc.spec}}
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
			if compute.made != tc.wantMade {
				t.Errorf("made: want %s, got %s", tc.wantMade, compute.made)
			}
			if err := n.FillStatus(o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]any{"ready": true, "failureDomains": tc.domains}, o.Object["status"]); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHTTP has the simulator hold a network, and reports what it refuses.
func TestHTTP(t *testing.T) {
	cloud, err := gcp.New(gcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(cloud)
	t.Cleanup(func() {
		web.Close()
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	h := standin.HTTP{Endpoint: web.URL}
	for range 2 {
		if err := h.Make(t.Context(), "simulated-project", "own"); err != nil {
			t.Fatal(err)
		}
	}
	if err := (standin.HTTP{Endpoint: web.URL + "/nowhere"}).Make(t.Context(), "simulated-project", "own"); err == nil {
		t.Error("want the refusal of an address that is no simulator's")
	}
}
