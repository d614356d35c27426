// Package preview holds what a plan sees of a pool, and the clients that it sees it through: they read each thing once, put edited objects
// in the place of the stored ones, and reject every write.
package preview

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/pool"
)

// ErrReadOnly is the error of every write of a plan.
var ErrReadOnly = errors.New("a plan writes nothing")

// Planner looks at the pools of one infrastructure kind as the reconciler does, and changes nothing: neither in the cloud,
// which it only observes, nor in Kubernetes, where every write is refused.
type Planner interface {
	// Kind of the infrastructure objects.
	Kind() schema.GroupKind
	// Look looks at one pool with the edited objects in the place of those that the API server has. An observation of the
	// cloud may be as old as age says. That the cloud can't be asked, or does not answer, is in the Look; the error is
	// one of the API server.
	Look(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (Look, error)
}

// Look is what a pass over one pool would decide from.
type Look struct {
	// Object is the infrastructure object, Pool its MachinePool (nil when there is none).
	Object client.Object
	Pool   *clusterv1.MachinePool
	// InfraCluster is what the cluster's place in the cloud is read from; its name is empty when there is none.
	InfraCluster clusterv1.ContractVersionedObjectReference
	// Desired, Observed and Traits go into pool.Decide, with Now.
	Desired  pool.Desired
	Observed pool.Observed
	Traits   pool.Traits
	Now      time.Time
	// Seen is true if the cloud has answered; otherwise Observed means nothing.
	Seen bool
	// Paused says why the reconciler would leave the pool alone; empty when it would not.
	Paused string
	// NotObserved says why the cloud was not asked, or what it answered in the place of an observation.
	NotObserved *pool.Cause
	// Unreachable is why the workload cluster can't be asked for nodes; nil when it can.
	Unreachable error
	// Health is what the cloud's own roll keeps to, when the kind has one.
	Health *Health
	// Adopts is the group of another tool that the pool would adopt first; Observed is what it would observe then. It is nil without one.
	Adopts *pool.Unowned
}

// Health are the bounds that a cloud's own roll keeps to, as percentages of the group's size.
type Health struct {
	// MinPercent serve at any time; up to MaxPercent may exist.
	MinPercent, MaxPercent int
}

// Bounds are the least number that serve and the largest that exist while a group of so many machines is rolled. Where the
// percentages leave no room for a single machine, one goes at a time nevertheless.
func (h Health) Bounds(size int) (least, most int) {
	least, most = min(size, (size*h.MinPercent+99)/100), size
	switch {
	case h.MaxPercent > 100:
		most = size + max(1, size*(h.MaxPercent-100)/100)
	case least == size:
		least = max(0, size-1)
	}
	return least, most
}
