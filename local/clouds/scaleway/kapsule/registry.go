package kapsule

import (
	"context"
	"errors"
	"net/url"

	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/sim/scaleway"
)

// ErrBusy is why Kapsule does nothing with a cluster now: another operation runs.
var ErrBusy = errors.New("a change of the cluster is under way")

// Inspected holds the fields of a Kapsule cluster that control planes read.
type Inspected struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Version string `json:"version"`
}

// Registry is the part of the simulated Kapsule that control planes use.
type Registry interface {
	// Put creates a cluster, or upgrades it, and returns it as it is then. It returns ErrBusy while another operation runs.
	Put(ctx context.Context, want scaleway.Access) (Inspected, error)
	// Delete begins to delete a cluster, and reports whether it is gone.
	Delete(ctx context.Context, region, project, name string) (gone bool, err error)
}

// HTTP is the simulated Kapsule of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Scaleway: http://127.0.0.1:4569.
	Endpoint string
}

func (h HTTP) service() managedplane.Simulated {
	return managedplane.Simulated{Endpoint: h.Endpoint, Service: "Kapsule", Clusters: "clusters", Busy: ErrBusy}
}

// Put implements Registry.
func (h HTTP) Put(ctx context.Context, want scaleway.Access) (out Inspected, err error) {
	err = h.service().Put(ctx, want, &out)
	return out, err
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, region, project, name string) (gone bool, err error) {
	return h.service().Delete(ctx, url.PathEscape(region)+"/"+url.PathEscape(project)+"/"+url.PathEscape(name))
}
