package nodepool

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// The types of operations in which GKE replaces nodes: on request, and by itself.
const (
	typeUpgrade     = "UPGRADE_NODES"
	typeAutoUpgrade = "AUTO_UPGRADE_NODES"
	statusDone      = "DONE"
	// codeCancelled is the canonical code of an operation that was cancelled.
	codeCancelled = 1
)

// outcome is how an operation ended.
type outcome struct {
	cancelled bool
	// failed is why it failed; nil if it did not.
	failed *cloud.Error
}

// readOperation brings what is known of the last operation up to date: while GKE is at work on the node pool, which operation that is; once
// it has ended, how. At rest it reads nothing.
func (p *pass) readOperation(ctx context.Context) error {
	last := &p.memory.last
	p.memory.recall(p.t.Operations, p.now)
	if p.memory.read.pool.Status == statusReconciling {
		return p.readRunning(ctx)
	}
	if last.operation.Token == "" || last.outcome != nil || last.ended.IsZero() {
		return nil
	}
	is, err := p.c.Container.Projects.Locations.Operations.Get(p.t.operationPath(p.c.Project, last.operation.Token)).Context(ctx).Do()
	if err = p.c.Refusal(err); err != nil {
		if cloud.KindOf(err) == cloud.Throttled || cloud.KindOf(err) == cloud.Unavailable {
			return nil
		}
		// GKE does not know it any more, or does not tell.
		last.outcome = &outcome{}
		p.memory.settle()
		return nil
	}
	if is.Status == statusDone {
		last.outcome = outcomeOf(is)
		p.memory.settle()
	}
	return nil
}

// readRunning finds the operation that runs on the node pool.
func (p *pass) readRunning(ctx context.Context) error {
	list, err := p.c.Container.Projects.Locations.Operations.List(p.t.locationPath(p.c.Project)).Context(ctx).Do()
	if err = p.c.Refusal(err); err != nil {
		if cloud.KindOf(err) == cloud.Denied {
			return nil
		}
		return err
	}
	running := slices.DeleteFunc(list.Operations, func(o *container.Operation) bool { return o.Status == statusDone || !p.t.concerns(o) })
	if len(running) == 0 {
		return nil
	}
	is := slices.MaxFunc(running, func(a, b *container.Operation) int { return strings.Compare(a.StartTime, b.StartTime) })
	if is.Name != p.memory.last.operation.Token {
		p.memory.began(lastOperation{operation: operationOf(is, p.path()), begun: p.now})
	}
	return nil
}

// concerns reports whether an operation is one on the node pool.
func (t target) concerns(o *container.Operation) bool {
	return strings.HasSuffix(o.TargetLink, "/clusters/"+t.cluster.Name+"/nodePools/"+t.name)
}

// operationOf returns an operation on a resource as it is kept.
func operationOf(o *container.Operation, resource string) pool.Operation {
	return pool.Operation{Type: o.OperationType, Resource: resource, Token: o.Name}
}

// locationPath returns the name of the cluster's location in requests.
func (t target) locationPath(project string) string {
	return "projects/" + project + "/locations/" + t.cluster.Location
}

// operationPath returns the name of an operation in requests.
func (t target) operationPath(project, name string) string {
	return t.locationPath(project) + "/operations/" + name
}

// outcomeOf returns how an operation ended.
func outcomeOf(o *container.Operation) *outcome {
	out := &outcome{}
	if o.Error == nil {
		return out
	}
	if out.cancelled = o.Error.Code == codeCancelled; !out.cancelled {
		code := ""
		if len(o.NodepoolConditions) > 0 {
			code = codeOf(o.NodepoolConditions[0])
		}
		out.failed = session.Said(code, o.Error.Message)
	}
	return out
}

// codeOf returns the code of a condition.
func codeOf(c *container.StatusCondition) string {
	if c.Code != "" && c.Code != "UNKNOWN" {
		return c.Code
	}
	return c.CanonicalCode
}
