package request

import (
	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/fields"
)

// The requests that change parts, in addition to nodePools.update.
const (
	// SetAutoscaling is nodePools.setAutoscaling.
	SetAutoscaling = "setAutoscaling"
	// SetManagement is nodePools.setManagement.
	SetManagement = "setManagement"
)

type (
	// Part is one part of a node pool that a specification may name.
	Part = fields.Field[*container.NodePool, *container.UpdateNodePoolRequest]
	// Table is parts of a node pool.
	Table = fields.Table[*container.NodePool, *container.UpdateNodePoolRequest]
)

// Request returns the nodePools.update that changes parts of a node pool, on condition that it is still as it was read.
func Request(changed Table, want, is *container.NodePool) *container.UpdateNodePoolRequest {
	r := &container.UpdateNodePoolRequest{Etag: is.Etag}
	changed.Put(r, want, is)
	return r
}

// WithRolling returns a wanted node pool that has the parts whose change replaces nodes as another one has them, but for those that one
// request changes. The first of these decides about a request.
func WithRolling(want, is *container.NodePool, changed Table) *container.NodePool {
	out, nodes := *want, *want.Config
	out.Config = &nodes
	for _, p := range rollingParts {
		if p.Copy != nil && !changed.Has(p.Name) && p.Value(want) != nil {
			p.Copy(&out, is)
		}
	}
	return &out
}
