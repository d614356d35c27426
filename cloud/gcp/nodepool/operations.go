package nodepool

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

const (
	// typeUpgrade is the type of operations in which GKE replaces nodes, on request and by itself.
	typeUpgrade    = "UPGRADE_NODES"
	statusDone     = "DONE"
	statusAborting = "ABORTING"
	// codeCancelled is the canonical code of an operation that was cancelled.
	codeCancelled = 1
)

// outcome is the result of an operation.
type outcome struct {
	cancelled bool
	// failed is why it failed; nil if it did not.
	failed *cloud.Error
}

// readOperation brings what is known of the last operation up to date: while GKE is at work on the node pool, which operation that is; once
// it has ended, how. At rest it reads nothing, unless machines are left that are not as the node pool.
func (r *reader) readOperation(ctx context.Context) error {
	last := &r.memory.last
	r.memory.restoreOperation(r.t.Operations, r.now)
	switch {
	case r.memory.read.pool.Status == statusReconciling:
		return r.tolerate(&r.memory.read, r.findOperation(ctx))
	case last.operation.Token == "":
		if want, err := r.desired(); err == nil && r.memory.mayHaveRolled(want) {
			return r.tolerate(&r.memory.read, r.findOperation(ctx))
		}
		return nil
	case r.memory.nothingNew(r.now):
		return nil
	}
	is, err := r.c.Container.Projects.Locations.Operations.Get(r.t.operationPath(r.c.Project, last.operation.Token)).Context(ctx).Do()
	switch err = r.c.Refusal(err); {
	case session.Absent(err) && r.now.Sub(last.begun) < visibleWithin:
		return nil // a read that is behind knows nothing of it yet
	case session.Absent(err):
		// GKE does not know it any more.
		r.memory.ended(&outcome{}, r.now)
	case err != nil:
		return r.tolerate(&r.memory.read, err)
	case is.Status == statusDone:
		r.findOrigin(ctx, is)
		r.memory.ended(outcomeOf(is), r.now)
	default:
		last.ran = r.now
	}
	return nil
}

// mayHaveRolled reports whether an operation that is not known may have rolled the node pool: it is blue-green, or machines are left that
// are not as the node pool.
func (m *memory) mayHaveRolled(w desired) bool {
	return blueGreen(m.read.pool) != nil || len(w.unlike(m.read)) > 0 || m.leftBehind(w)
}

// nothingNew reports whether the last operation has ended, or has begun too lately for a read of it to tell more.
func (m *memory) nothingNew(now time.Time) bool {
	return m.last.outcome != nil || !m.last.aborting && now.Sub(m.last.begun) < visibleWithin
}

// leftBehind reports whether an upgrade that is not known may have left older machines, which no template tells from the others. It is true
// once for the templates that the groups have.
func (m *memory) leftBehind(w desired) bool {
	read := m.read
	if !w.launched.hasHiddenParts() || !slices.ContainsFunc(read.machines(), read.outdated) {
		return false
	}
	var templates []string
	for _, g := range read.groups {
		templates = append(templates, g.Template)
	}
	looked := slices.Equal(m.looked, templates)
	m.looked = templates
	return !looked
}

// findOperation finds the last operation on the node pool: the one that runs, or the one that ended last.
func (r *reader) findOperation(ctx context.Context) error {
	list, err := r.c.Container.Projects.Locations.Operations.List(r.t.locationPath(r.c.Project)).Context(ctx).Do()
	if err = r.c.Refusal(err); err != nil {
		return err
	}
	own := slices.DeleteFunc(list.Operations, func(o *container.Operation) bool { return !r.t.concerns(o) })
	if len(own) == 0 {
		return nil
	}
	is := slices.MaxFunc(own, func(a, b *container.Operation) int {
		return cmp.Or(cmp.Compare(running(a), running(b)), strings.Compare(a.StartTime, b.StartTime))
	})
	if is.Name == r.memory.last.operation.Token {
		r.memory.last.aborting = is.Status == statusAborting
		r.findOrigin(ctx, is)
	}
	if is.Name != r.memory.last.operation.Token && is.Name != r.memory.settled {
		r.memory.began(lastOperation{operation: operationOf(is, r.path()), begun: r.now, aborting: is.Status == statusAborting})
		r.findOrigin(ctx, is)
		if is.Status == statusDone {
			r.memory.ended(outcomeOf(is), r.now)
		}
	}
	return nil
}

// running is 1 for an operation that runs, and 0 for one that has ended.
func running(o *container.Operation) int {
	if o.Status == statusDone {
		return 0
	}
	return 1
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
		code := canonical[o.Error.Code]
		if len(o.NodepoolConditions) > 0 { // deprecated, and more exact where GKE shows them
			code = codeOf(o.NodepoolConditions[0])
		}
		out.failed = session.ErrorOf(code, o.Error.Message)
	}
	return out
}

// canonical are the names of the canonical codes with which operations fail (google.rpc.Code).
var canonical = map[int64]string{
	3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 6: "ALREADY_EXISTS", 7: "PERMISSION_DENIED", 8: "RESOURCE_EXHAUSTED",
	9: "FAILED_PRECONDITION", 10: "ABORTED", 13: "INTERNAL", 14: "UNAVAILABLE"}

// codeOf returns the code of a condition. The member code is deprecated, and more exact where GKE shows it.
func codeOf(c *container.StatusCondition) string {
	if c.Code != "" && c.Code != "UNKNOWN" {
		return c.Code
	}
	return c.CanonicalCode
}
