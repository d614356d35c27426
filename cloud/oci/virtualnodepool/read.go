package virtualnodepool

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// pageSize is the largest page of a list.
const pageSize = 1000

// reads are the reads of virtual node pools.
type reads = oke.Reader[containerengine.VirtualNodePoolSummary, containerengine.VirtualNodePool, node]

// node is a virtual node.
type node = containerengine.VirtualNodeSummary

// readsOf has the requests that read virtual node pools.
var readsOf = oke.Kind[containerengine.VirtualNodePoolSummary, containerengine.VirtualNodePool]{
	List: (*session.Session).VirtualNodePools, Touch: (*session.Session).TouchVirtualNodePools,
	Get: func(c *session.Session, ctx context.Context, id *string) (*rest.Response[containerengine.VirtualNodePool], error) {
		return c.Engine.GetVirtualNodePool(ctx, containerengine.GetVirtualNodePoolRequest{VirtualNodePoolId: id})
	},
	Listed: func(p containerengine.VirtualNodePoolSummary) oke.Listed {
		return oke.ListedOf(p.Id, p.DisplayName, p.ClusterId, p.LifecycleState, p.FreeformTags)
	},
	Shown: func(p *containerengine.VirtualNodePool) oke.Listed {
		return oke.ListedOf(p.Id, p.DisplayName, p.ClusterId, p.LifecycleState, p.FreeformTags)
	},
	Size: sizeOf,
}

// memory holds the last reads of one pool.
type memory = oke.Memory[containerengine.VirtualNodePoolSummary, containerengine.VirtualNodePool, node]

// poolRead is a virtual node pool as it was read.
type poolRead struct {
	oke.Read[containerengine.VirtualNodePoolSummary, containerengine.VirtualNodePool, node]
}

// reader reads one pool for one pass.
type reader struct {
	reads
	t target
}

// last returns the last read.
func (r *reader) last() poolRead { return poolRead{r.Memory.Read} }

// moving reports whether nodes come or go.
func (r poolRead) moving() bool {
	return len(r.Nodes) != r.size() || slices.ContainsFunc(r.Nodes, func(n node) bool {
		state := stateOf(n)
		return state == pool.Pending || state == pool.Terminating
	})
}

// size returns the size of the pool.
func (r poolRead) size() int { return sizeOf(r.Pool) }

func sizeOf(p *containerengine.VirtualNodePool) int {
	if p.Size == nil {
		return 0
	}
	return *p.Size
}

// readNodes reads the virtual nodes of a pool.
func (r *reader) readNodes(ctx context.Context, p *containerengine.VirtualNodePool, _ time.Time) (out []node, err error) {
	all, _, err := session.ReadAll(ctx, func(n node) *string { return n.Id },
		func(ctx context.Context, at *string) (*rest.Response[[]node], error) {
			return r.Session.Engine.ListVirtualNodes(ctx, containerengine.ListVirtualNodesRequest{VirtualNodePoolId: p.Id,
				Limit: session.Number(pageSize), Page: at})
		})
	for _, n := range all {
		if text(n.LifecycleState) != oke.StateDeleted {
			out = append(out, n)
		}
	}
	return out, err
}

// stateOf returns the state of a virtual node.
func stateOf(n node) pool.InstanceState {
	switch text(n.LifecycleState) {
	case oke.StateCreating:
		return pool.Pending
	case oke.StateDeleting:
		return pool.Terminating
	case "FAILED", oke.StateInactive:
		return pool.Failed
	}
	return pool.Running
}
