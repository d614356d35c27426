package eks

import (
	"context"
	"net/url"

	"github.com/muster-project/muster/local/managedplane"
)

// HTTP is the simulated EKS of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated AWS: http://127.0.0.1:4566.
	Endpoint string
}

func (h HTTP) service() managedplane.Simulated {
	return managedplane.Simulated{Endpoint: h.Endpoint, Service: "EKS", Clusters: "eks/clusters", Busy: ErrInUse}
}

// Put makes a cluster known.
func (h HTTP) Put(ctx context.Context, c Cluster) error { return h.service().Put(ctx, c, nil) }

// Delete forgets a cluster.
func (h HTTP) Delete(ctx context.Context, region, name string) error {
	_, err := h.service().Delete(ctx, url.PathEscape(name)+"?region="+url.QueryEscape(region))
	return err
}
