package toy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool, after it was read.
type writer struct{ reader }

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.Adopt:                 (*writer).adopt,
	pool.CreateGroup:           (*writer).createGroup,
	pool.UpdateGroup:           (*writer).updateGroup,
	pool.Resize:                (*writer).resize,
	pool.Remove:                (*writer).remove,
	pool.Replace:               (*writer).replace,
	pool.StartProviderRollout:  (*writer).startRollout,
	pool.CancelProviderRollout: (*writer).cancelRollout,
	pool.DeleteGroup:           (*writer).deleteGroup,
}

// look reads the pool unless it was read.
func (w *writer) look(ctx context.Context, _ pool.Step) error {
	if !w.memory.read.at.IsZero() {
		return nil
	}
	return w.readAgain(ctx)
}

// send sends a change of the pool as it was read. Whatever comes of it, the read is out of date.
func (w *writer) send(ctx context.Context, operation, method, below string, content any) error {
	r := session.Request{Operation: operation, Method: method, Path: w.t.path() + below, Body: content}
	if is := w.memory.read.pool; is != nil {
		r.Revision = is.Revision
	}
	w.forget()
	_, err := w.c.Do(ctx, r, &struct{}{})
	return driverkit.VanishedAs(err, session.Table.IsAbsent(err))
}

func (w *writer) update(ctx context.Context, content body) error {
	return w.send(ctx, "UpdatePool", http.MethodPatch, "", content)
}

// there returns the pool, or a conflict if it does not exist.
func (w *writer) there() (*poolDoc, error) {
	return driverkit.Existing(w.memory.read.pool, "pool "+w.t.name)
}

// createGroup creates the pool, unless an earlier request has.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.desire()
	switch {
	case err != nil:
		return err
	case w.memory.read.cluster == nil:
		return w.t.noCluster()
	case w.memory.read.pool != nil:
		return nil
	}
	content := body{"name": w.t.name, "count": s.Size, "zones": want.doc.Zones}
	if len(want.doc.Zones) == 0 {
		content["zones"] = w.t.FailureDomains
	}
	for _, f := range rows {
		if f.Put != nil && f.Value(want.doc) != nil {
			f.Put(content, want.doc, &poolDoc{})
		}
	}
	w.forget()
	_, err = w.c.Do(ctx, session.Request{Operation: "CreatePool", Method: http.MethodPost, Path: clusterPath(w.t.Spec.Cluster) + "/pools",
		Body: content}, &struct{}{})
	if cloud.CodeOf(err) == session.CodeExists {
		return driverkit.Confirm(err, w.readAgain(ctx), func() bool {
			is := w.memory.read
			return is.pool != nil && w.t.ownership(is).Claim.Owned && is.pool.State != stateDeleting
		})
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.created = w.now
	}
	return err
}

// updateGroup changes the fields that differ and that the cloud changes in place.
func (w *writer) updateGroup(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.desire()
	if err != nil || len(want.drift) == 0 {
		return err
	}
	content := body{}
	want.drift.Put(content, want.doc, is)
	return w.update(ctx, content)
}

// resize sets the size, which is never below the number of nodes: the cloud would choose those that go.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	if n := len(w.memory.read.nodes); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NodesWouldGo", Message: fmt.Sprintf(
			"pool %s has %d nodes and was to get the size %d: the cloud would choose which go", w.t.name, n, s.Size)}
	}
	return w.update(ctx, body{"count": s.Size})
}

// remove deletes exactly the nodes of the step, and replace those with others in their place.
func (w *writer) remove(ctx context.Context, s pool.Step) error { return w.deleteNodes(ctx, s, false) }

func (w *writer) replace(ctx context.Context, s pool.Step) error { return w.deleteNodes(ctx, s, true) }

func (w *writer) deleteNodes(ctx context.Context, s pool.Step, replace bool) error {
	if _, err := w.there(); err != nil {
		return err
	}
	var chosen []string
	for _, n := range w.memory.read.nodes {
		names := func(i pool.InstanceRef) bool { return i.ID == n.ID }
		if n.state() != pool.Terminating && slices.ContainsFunc(s.Targets, names) {
			chosen = append(chosen, n.ID)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	return w.send(ctx, "DeleteNodes", http.MethodPost, "/delete-nodes", body{"nodes": chosen, "replace": replace})
}

// startRollout has the cloud replace the nodes of another configuration. The same request resumes a rollout that ended early.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.desire()
	if err != nil || len(want.rolling) == 0 && w.memory.read.percent(want, want.launched) == allPercent {
		return err
	}
	content := body{"machineType": is.MachineType}
	want.rolling.Put(content, want.doc, is)
	return w.update(ctx, content)
}

// cancelRollout has the cloud end the rollout that the step names.
func (w *writer) cancelRollout(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	if op := is.LastOperation; !op.running() || op.Kind != stateUpgrading || !slices.Contains(s.Refs, op.ID) {
		return nil
	}
	return w.send(ctx, "CancelOperation", http.MethodPost, "/operations/"+is.LastOperation.ID+"/cancel", nil)
}

// adopt writes the owner tags, and changes nothing else.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	is, own := w.memory.read.pool, w.t.ownership(w.memory.read)
	if is != nil && own.Claim.Owned {
		return nil
	}
	if err := own.Adoptable(w.unowned()); err != nil {
		return err
	}
	tags := session.Entries(is.Tags)
	for key, value := range session.Spelling.Tags(w.t.Owner) {
		tags[key] = value
	}
	return w.update(ctx, body{"tags": tags})
}

// deleteGroup deletes the pool with its nodes.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	is := w.memory.read.pool
	if is == nil || is.State == stateDeleting {
		return nil
	}
	w.memory.created = time.Time{}
	return w.send(ctx, "DeletePool", http.MethodDelete, "", nil)
}
