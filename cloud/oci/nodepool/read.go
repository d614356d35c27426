package nodepool

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// reads are the reads of node pools.
type reads = oke.Reader[containerengine.NodePoolSummary, containerengine.NodePool, node]

// readsOf has the requests that read node pools.
var readsOf = oke.Kind[containerengine.NodePoolSummary, containerengine.NodePool]{
	List: (*session.Session).NodePools, Touch: (*session.Session).TouchNodePools,
	Get: func(c *session.Session, ctx context.Context, id *string) (*rest.Response[containerengine.NodePool], error) {
		return c.Engine.GetNodePool(ctx, containerengine.GetNodePoolRequest{NodePoolId: id})
	},
	Listed: func(p containerengine.NodePoolSummary) oke.Listed {
		return oke.ListedOf(p.Id, p.Name, p.ClusterId, p.LifecycleState, p.FreeformTags)
	},
	Shown: func(p *containerengine.NodePool) oke.Listed {
		return oke.ListedOf(p.Id, p.Name, p.ClusterId, p.LifecycleState, p.FreeformTags)
	},
	Size: sizeOf,
}

// memory holds the last reads of one pool. Losing it costs a few reads.
type memory struct {
	oke.Memory[containerengine.NodePoolSummary, containerengine.NodePool, node]
	// removals are the nodes whose deletion was accepted: reads may be behind it.
	removals driverkit.Removals
	// seen is when nodes that are being created were seen first, by their OCIDs: OKE does not show when a node was created.
	seen map[string]time.Time
}

// poolRead is a node pool as it was read.
type poolRead struct {
	oke.Read[containerengine.NodePoolSummary, containerengine.NodePool, node]
}

// node is a node of the pool that has a machine.
type node struct {
	containerengine.Node
	state pool.InstanceState
	// created is when it was seen first, for one that is being created; zero for any other.
	created time.Time
	// assumed is true if its deletion was accepted and is not shown yet.
	assumed bool
}

// staying reports whether the node counts for the size.
func (n node) staying() bool { return n.state != pool.Terminating }

// reader reads one pool for one pass.
type reader struct {
	reads
	t       target
	memory  *memory
	lookups *cache.Lookups
}

// last returns the last read.
func (r *reader) last() poolRead { return poolRead{r.memory.Read} }

// moving reports whether nodes come or go, or may.
func (r *reader) moving() bool { return r.memory.removals.Lately(r.Now) || r.last().moving() }

// nodesOf returns the nodes of a node pool that have a machine, in an answer to a request that began at a moment.
func (r *reader) nodesOf(_ context.Context, p *containerengine.NodePool, at time.Time) (out []node, _ error) {
	has, seen := map[string]bool{}, map[string]time.Time{}
	for _, n := range p.Nodes {
		if text(n.Id) == "" || text(n.LifecycleState) == oke.StateDeleted {
			continue
		}
		has[*n.Id] = true
		is := node{Node: n, state: stateOf(n)}
		if is.assumed = r.memory.removals.Assumed(*n.Id, !is.staying(), at); is.assumed {
			is.state = pool.Terminating
		}
		if is.state == pool.Pending {
			if is.created = r.memory.seen[*n.Id]; is.created.IsZero() {
				is.created = at
			}
			seen[*n.Id] = is.created
		}
		out = append(out, is)
	}
	r.memory.seen = seen
	r.memory.removals.Listed(has, at)
	return out, nil
}

// stateOf returns the state of a node.
func stateOf(n containerengine.Node) pool.InstanceState {
	switch text(n.LifecycleState) {
	case oke.StateCreating:
		return pool.Pending
	case oke.StateDeleting:
		return pool.Terminating
	case "FAILING", oke.StateInactive:
		return pool.Failed
	}
	return pool.Running
}

// staying counts the nodes that are not being deleted.
func (r poolRead) staying() (n int) {
	for _, one := range r.Nodes {
		if one.staying() {
			n++
		}
	}
	return n
}

// moving reports whether nodes come or go.
func (r poolRead) moving() bool {
	return r.staying() != len(r.Nodes) || len(r.Nodes) != r.size() ||
		slices.ContainsFunc(r.Nodes, func(n node) bool { return n.state == pool.Pending })
}

// busy returns what OKE is doing to the node pool, if it takes no change or has nothing left to do but to finish one. While nodes come and
// go, others can be deleted and the size can be changed.
func (r poolRead) busy(rolling bool) *pool.Cause {
	state := text(r.Pool.LifecycleState)
	if rolling || state != oke.StateCreating && (state != oke.StateUpdating || r.moving()) {
		return nil
	}
	return &pool.Cause{Reason: "NodePoolBusy", Message: "OKE is at work on the node pool: its state is " + state}
}

// size returns the size of the node pool.
func (r poolRead) size() int { return sizeOf(r.Pool) }

func sizeOf(p *containerengine.NodePool) int {
	if c := p.NodeConfigDetails; c != nil {
		return value(c.Size)
	}
	return 0
}
