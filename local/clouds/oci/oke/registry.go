package oke

import (
	"context"
	"errors"
	"net/url"

	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/sim/oci"
)

// ErrBusy is why OKE does nothing with a cluster now: another operation runs.
var ErrBusy = errors.New("OKE is busy with the cluster")

// Inspected holds the fields of an OKE cluster that control planes read.
type Inspected struct {
	ID                string `json:"id"`
	LifecycleState    string `json:"lifecycleState"`
	KubernetesVersion string `json:"kubernetesVersion"`
}

// Registry is the part of the simulated OKE that control planes use.
type Registry interface {
	// Put creates a cluster, or upgrades it, and returns it as it is then.
	Put(ctx context.Context, want oci.Access) (Inspected, error)
	// Delete begins to delete a cluster, and reports whether it is gone.
	Delete(ctx context.Context, region, compartment, name string) (gone bool, err error)
}

// HTTP is the simulated OKE of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Oracle Cloud: http://127.0.0.1:4570.
	Endpoint string
}

func (h HTTP) service() managedplane.Simulated {
	return managedplane.Simulated{Endpoint: h.Endpoint, Service: "OKE", Clusters: "clusters", Busy: ErrBusy}
}

// Put implements Registry.
func (h HTTP) Put(ctx context.Context, want oci.Access) (out Inspected, err error) {
	err = h.service().Put(ctx, want, &out)
	return out, err
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, region, compartment, name string) (gone bool, err error) {
	return h.service().Delete(ctx, url.PathEscape(region)+"/"+url.PathEscape(compartment)+"/"+url.PathEscape(name))
}
