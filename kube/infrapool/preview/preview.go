// Package preview holds what a plan sees of a pool, and the clients that it sees it through: they read each thing once, put edited objects
// instead of the stored ones, and reject every write.
package preview

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// ErrReadOnly is the error of every write of a plan.
var ErrReadOnly = errors.New("a plan writes nothing")

// Planner looks at the pools of one infrastructure kind as the reconciler does, and changes nothing: neither in the cloud,
// which it only observes, nor in Kubernetes, where every write is refused.
type Planner interface {
	// Kind of the infrastructure objects.
	Kind() schema.GroupKind
	// Look observes one pool with the edited objects instead of the stored ones. An observation of the
	// cloud may be as old as age says. That the cloud can't be asked, or does not answer, is in the Look; the error is
	// one of the API server.
	Look(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (Look, error)
}

// Look holds the inputs of the decision that a pass over one pool would make.
type Look struct {
	// Object is the infrastructure object, Pool its MachinePool (nil when there is none).
	Object client.Object
	Pool   *clusterv1.MachinePool
	// InfraCluster references the object that describes the cluster in the cloud; its name is empty if there is none.
	InfraCluster clusterv1.ContractVersionedObjectReference
	// Desired, Observed and Traits go into pool.Decide, with Now.
	Desired  pool.Desired
	Observed pool.Observed
	Traits   pool.Traits
	Now      time.Time
	// Seen is true if the cloud was observed; otherwise Observed is not valid.
	Seen bool
	// Limits returns what rollout policies allow at a time, with no gate asked; nil if no policies apply. Desired holds those of Now.
	Limits func(at time.Time) rollouts.Limits
	// Paused is the reason why the reconciler would skip the pool; empty if it would not.
	Paused string
	// NotObserved is the reason why the cloud was not observed: it was not called, or it returned an error.
	NotObserved *pool.Cause
	// Unreachable is the error of the connection to the workload cluster; nil if its nodes can be read.
	Unreachable error
	// Health bounds a provider rollout; nil if the kind has none.
	Health *Health
	// Adopts is the group of another tool that the pool would adopt first; nil if there is none. Observed is the state after the adoption.
	Adopts *pool.Unowned
}

// Health holds the bounds of a provider rollout, as percentages of the group's size.
type Health struct {
	// MinPercent serve at any time; up to MaxPercent may exist.
	MinPercent, MaxPercent int
}

// Bounds returns the minimum number of serving machines and the maximum number of machines during a rollout of a group of size machines.
// If the percentages leave no room for a single machine, one is replaced at a time nevertheless.
func (h Health) Bounds(size int) (minServing, maxSize int) {
	minServing, maxSize = min(size, (size*h.MinPercent+99)/100), size
	switch {
	case h.MaxPercent > 100:
		maxSize = size + max(1, size*(h.MaxPercent-100)/100)
	case minServing == size:
		minServing = max(0, size-1)
	}
	return minServing, maxSize
}
