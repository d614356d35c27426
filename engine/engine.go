// Package engine runs one pass over one pool: observe, decide, start one step, report. It knows no cloud and no
// Kubernetes: both are handed in, so that whole scenarios run in virtual time without an API server.
package engine

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Facts are what one pass is told from outside the cloud.
type Facts[S any] struct {
	Target  cloud.Target[S]
	Desired pool.Desired
	// Nodes of the workload cluster by cloud.ProviderKey of their provider ID. Nil means that the workload cluster can't
	// be asked, which is not the same as no nodes.
	Nodes map[string]pool.Node
	// Marked are the provider keys of the instances that shall go first.
	Marked map[string]bool
	// Generation changes whenever somebody changed what the pass works from (the object's generation, the hash of the
	// bootstrap data, ...): a change ends a back-off, because what was refused may now be right.
	Generation string
	Now        time.Time
}

// NodeStarter starts the steps that concern nodes rather than the cloud: Drain and Undrain.
type NodeStarter interface {
	StartNodes(ctx context.Context, s pool.Step) error
}

// Outcome is what one pass did and saw. The Kubernetes edge writes it down once, at the end.
type Outcome struct {
	Plan pool.Plan
	// Observed has the nodes joined to their instances. It is meaningless unless Seen.
	Observed pool.Observed
	// Seen says that the cloud was asked and has answered.
	Seen bool
	// Started says that Plan.Step was begun without an error.
	Started bool
	// Err is why the pass ended early: a *cloud.Error, or an error of the Kubernetes edge.
	Err error
	// BackedOff says that nothing was asked or begun, because an earlier error wants more time.
	BackedOff bool
	// Again is when to look again; it is never zero.
	Again time.Duration
}
