package gke

import (
	"context"
	"errors"
	"net/url"

	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/sim/gcp/container"
)

// ErrBusy is why GKE does nothing with a cluster now: another operation runs.
var ErrBusy = errors.New("GKE is busy with the cluster")

// Registry is the simulated GKE, as far as control planes use it.
type Registry interface {
	// Put creates a cluster, or upgrades it, and returns it as it is then. It returns ErrBusy while another operation runs.
	Put(ctx context.Context, want container.DesiredCluster) (container.Inspected, error)
	// Delete begins to delete a cluster, and reports whether it is gone.
	Delete(ctx context.Context, project, location, name string) (gone bool, err error)
}

// HTTP is the simulated GKE of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Google Cloud: http://127.0.0.1:4568.
	Endpoint string
}

func (h HTTP) service() managedplane.Simulated {
	return managedplane.Simulated{Endpoint: h.Endpoint, Service: "GKE", Clusters: "gke/clusters", Busy: ErrBusy}
}

// Put implements Registry.
func (h HTTP) Put(ctx context.Context, want container.DesiredCluster) (out container.Inspected, err error) {
	err = h.service().Put(ctx, want, &out)
	return out, err
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, project, location, name string) (gone bool, err error) {
	return h.service().Delete(ctx, url.PathEscape(project)+"/"+url.PathEscape(location)+"/"+url.PathEscape(name))
}
