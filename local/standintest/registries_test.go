package standintest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/muster-project/muster/local/clouds/azure/aks"
	"github.com/muster-project/muster/local/clouds/gcp/gke"
	"github.com/muster-project/muster/local/clouds/oci/oke"
	"github.com/muster-project/muster/local/clouds/scaleway/kapsule"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/scaleway"
)

// secretPart is the part of registryToken that no error may have.
const secretPart, registryToken = "0123456789abcdef", "abcdef.0123456789abcdef"

// registries are the services whose clusters a control plane creates, by their names: what a request to put a cluster returns, and the
// error of one that is busy.
var registries = map[string]struct {
	put  func(ctx context.Context, endpoint string) error
	busy error
}{
	"AKS": {func(ctx context.Context, endpoint string) error {
		_, err := aks.HTTP{Endpoint: endpoint}.Put(ctx, containerservice.DesiredCluster{Name: "c",
			Access: containerservice.Access{Token: registryToken}})
		return err
	}, aks.ErrBusy},
	"GKE": {func(ctx context.Context, endpoint string) error {
		_, err := gke.HTTP{Endpoint: endpoint}.Put(ctx, container.DesiredCluster{Name: "c", Access: container.Access{Token: registryToken}})
		return err
	}, gke.ErrBusy},
	"Kapsule": {func(ctx context.Context, endpoint string) error {
		_, err := kapsule.HTTP{Endpoint: endpoint}.Put(ctx, scaleway.Access{Name: "c", Token: registryToken})
		return err
	}, kapsule.ErrBusy},
	"OKE": {func(ctx context.Context, endpoint string) error {
		_, err := oke.HTTP{Endpoint: endpoint}.Put(ctx, oci.Access{Name: "c", Token: registryToken})
		return err
	}, oke.ErrBusy},
}

// TestRegistries holds that errors of a simulator reach the reconciler of its control planes, and that no error has the token.
func TestRegistries(t *testing.T) {
	t.Parallel()
	const refusal = "K8sVersionNotSupported: the version 1.39.0: no"
	for service, r := range registries {
		for _, tc := range []struct {
			why      string
			code     int
			response string
			want     string
			is       error
		}{
			{why: "taken", code: http.StatusOK, response: "{}"},
			{why: "another operation runs", code: http.StatusConflict, response: "{}", want: r.busy.Error() + ": {}", is: r.busy},
			{why: "refused", code: http.StatusBadRequest, response: "{}", want: service + " refused: {}"},
			{why: "refused with a code", code: http.StatusBadRequest, response: refusal, want: service + " refused: " + refusal},
		} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.response + "\n"))
			}))
			err := r.put(t.Context(), s.URL)
			s.Close()
			if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), secretPart)) {
				t.Errorf("%s, %s: want %q, got %v", service, tc.why, tc.want, err)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s, %s: want %v, got %v", service, tc.why, tc.is, err)
			}
		}
	}
}
