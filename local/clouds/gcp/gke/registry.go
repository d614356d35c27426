package gke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/container"
)

// ErrBusy is why GKE does nothing with a cluster now: another operation runs.
var ErrBusy = errors.New("GKE is busy with the cluster")

// Registry is the simulated GKE, as far as control planes use it.
type Registry interface {
	// Put creates a cluster, or upgrades it, and returns it as it is then. It returns ErrBusy while another operation runs.
	Put(ctx context.Context, want container.Wanted) (container.Inspected, error)
	// Delete begins to delete a cluster, and reports whether it is gone.
	Delete(ctx context.Context, project, location, name string) (gone bool, err error)
}

// HTTP is the simulated GKE of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Google Cloud: http://127.0.0.1:4568.
	Endpoint string
}

// Put implements Registry.
func (h HTTP) Put(ctx context.Context, want container.Wanted) (container.Inspected, error) {
	var out container.Inspected
	body, err := json.Marshal(want)
	if err != nil {
		return out, fmt.Errorf("describe the cluster %s: %w", want.Name, err)
	}
	reply, err := h.call(ctx, http.MethodPut, "", body)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(reply.Body, &out); err != nil {
		return out, fmt.Errorf("read the answer of the simulated GKE: %w", err)
	}
	return out, nil
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, project, location, name string) (gone bool, err error) {
	reply, err := h.call(ctx, http.MethodDelete, "/"+url.PathEscape(project)+"/"+url.PathEscape(location)+"/"+url.PathEscape(name), nil)
	return err == nil && reply.Code == http.StatusNoContent, err
}

// call asks the simulator. The token is in no error.
func (h HTTP) call(ctx context.Context, method, path string, body []byte) (sim.Reply, error) {
	reply, err := sim.Owner{Endpoint: h.Endpoint, Name: "GKE"}.Call(ctx, method, "gke/clusters"+path, body)
	switch {
	case err != nil:
		return reply, err
	case reply.Code == http.StatusConflict:
		return reply, fmt.Errorf("%w: %s", ErrBusy, reply.Text())
	case reply.Refused():
		return reply, fmt.Errorf("GKE refused: %s", reply.Text())
	}
	return reply, nil
}
