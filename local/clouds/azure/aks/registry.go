package aks

import (
	"context"
	"errors"
	"net/url"

	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// ErrBusy is why a managed cluster is not changed now: another operation runs on it or on one of its pools.
var ErrBusy = errors.New("another operation runs")

// Registry is the simulated AKS, as far as managed clusters are made in it.
type Registry interface {
	// Put creates a managed cluster or changes it as far as it differs, and returns what it is then. ErrBusy is returned while it can't be
	// changed.
	Put(ctx context.Context, want containerservice.DesiredCluster) (containerservice.Inspected, error)
	// Delete begins to delete a managed cluster, and reports whether it is gone.
	Delete(ctx context.Context, subscription, group, name string) (gone bool, err error)
}

// HTTP is the simulated AKS of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Azure: http://127.0.0.1:4567.
	Endpoint string
}

func (h HTTP) service() managedplane.Simulated {
	return managedplane.Simulated{Endpoint: h.Endpoint, Service: "AKS", Clusters: "aks/clusters", Busy: ErrBusy}
}

// Put implements Registry.
func (h HTTP) Put(ctx context.Context, want containerservice.DesiredCluster) (out containerservice.Inspected, err error) {
	err = h.service().Put(ctx, want, &out)
	return out, err
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, subscription, group, name string) (gone bool, err error) {
	return h.service().Delete(ctx, url.PathEscape(subscription)+"/"+url.PathEscape(group)+"/"+url.PathEscape(name))
}
