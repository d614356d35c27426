package kapsule

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/scaleway/session"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool, after it was read.
type writer struct{ reader }

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.Adopt:                (*writer).adopt,
	pool.CreateGroup:          (*writer).createGroup,
	pool.UpdateGroup:          (*writer).updateGroup,
	pool.Resize:               (*writer).resize,
	pool.Remove:               (*writer).remove,
	pool.StartProviderRollout: (*writer).startRollout,
	pool.DeleteGroup:          (*writer).deleteGroup,
}

// look reads the pool unless it was read.
func (w *writer) look(ctx context.Context, _ pool.Step) error {
	if !w.memory.read.at.IsZero() {
		return nil
	}
	return w.readAgain(ctx, w.t.Cache.MaxAge)
}

// there returns the pool, or a conflict if it does not exist.
func (w *writer) there() (*k8s.Pool, error) {
	return driverkit.Existing(w.memory.read.pool, "pool "+w.t.name)
}

// send sends a change. Whatever comes of it, the read is out of date.
func (w *writer) send(ctx context.Context, r session.Request) error {
	w.forget()
	err := w.c.Do(ctx, r, &struct{}{})
	return driverkit.VanishedAs(err, session.Absent(err))
}

func (w *writer) update(ctx context.Context, is *k8s.Pool, content doc) error {
	return w.send(ctx, session.Request{Operation: "UpdatePool", Method: http.MethodPatch, Path: poolPath(is), Body: content})
}

// createGroup creates the pool, unless an earlier request has. Kapsule refuses a name that another pool of the cluster has.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.desire()
	read := w.memory.read
	switch {
	case err != nil:
		return err
	case read.Doc == nil:
		return w.t.noCluster()
	case read.pool != nil:
		return nil
	}
	content := w.t.creation(want, s.Size)
	size, _ := content["size"].(int)
	if err := w.mayHave(ctx, size); err != nil {
		return err
	}
	err = w.send(ctx, session.Request{Operation: "CreatePool", Method: http.MethodPost,
		Path: "/clusters/" + url.PathEscape(read.Doc.ID) + "/pools", Body: content})
	if cloud.KindOf(err) == cloud.Conflict || driverkit.PartOf(err) == "name" {
		return driverkit.Confirm(cloud.AsConflict(err), w.readAgain(ctx, 0), w.owned)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.created = w.now
	}
	return err
}

// owned reports whether the pool exists and is the target's.
func (w *writer) owned() bool {
	is := w.memory.read
	return is.pool != nil && w.t.ownership(is).Claim.Owned && is.pool.Status != k8s.PoolStatusDeleting
}

// creation returns the request that creates the pool. Machines of a pool with node type external join by themselves.
func (t target) creation(want desired, size int) doc {
	if t.spec.External() {
		size = 0
	}
	content := doc{"name": t.name, "size": size}
	for _, f := range rows {
		if f.Name != memberVersion && f.Value != nil && f.Value(want.doc) != nil {
			f.Put(content, want.doc, doc{})
		}
	}
	content[memberNodeType] = t.spec.NodeType // as the user has written it
	return content
}

// updateGroup changes the fields that differ: those of one request together, and each that has a request of its own.
func (w *writer) updateGroup(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.desire()
	if err != nil {
		return err
	}
	content := doc{}
	for _, f := range want.drift {
		if f.Method == "" {
			f.Put(content, want.doc, want.is)
		}
	}
	if len(content) > 0 {
		if err := w.update(ctx, is, content); err != nil {
			return err
		}
	}
	for _, f := range want.drift {
		if f.Method == "" {
			continue
		}
		content := doc{}
		f.Put(content, want.doc, want.is)
		err := w.send(ctx, session.Request{Operation: f.Method, Method: http.MethodPut, Path: poolPath(is) + below(f.Name), Body: content})
		if err != nil {
			return err
		}
	}
	return nil
}

// resize sets the size, which is never below the number of nodes: Kapsule would choose those that go. A maximum that would be in the way
// goes along where no autoscaler keeps it.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	if w.t.spec.External() {
		return tooMany("machines of a pool with node type external join by themselves, and no size makes them: register %d machines, or leave "+
			"spec.replicas to their number", s.Size)
	}
	if s.Size < int(is.Size) {
		if is, err = w.exactly(ctx); err != nil {
			return err
		}
	}
	if n := w.memory.read.staying(); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NodesWouldGo", Message: fmt.Sprintf(
			"pool %s has %d nodes and was to get the size %d: Kapsule would choose which go", w.t.name, n, s.Size)}
	}
	if s.Size > int(is.Size) {
		if err := w.mayHave(ctx, s.Size); err != nil {
			return err
		}
	}
	content := doc{"size": s.Size}
	if !is.Autoscaling && s.Size > int(is.MaxSize) {
		content[memberMax] = s.Size
	}
	if !is.Autoscaling && s.Size < int(is.MinSize) {
		content[memberMin] = s.Size
	}
	err = w.update(ctx, is, content)
	w.memory.size.Note(s.Size, w.now, err)
	return err
}

// exactly reads the pool anew unless it was read right before, and returns a conflict if it does not show the size that was requested last.
func (w *writer) exactly(ctx context.Context) (*k8s.Pool, error) {
	if w.memory.read.at.Before(w.now) {
		if err := w.readAgain(ctx, 0); err != nil {
			return nil, err
		}
	}
	is, err := w.there()
	if err != nil {
		return nil, err
	}
	return is, w.memory.size.Check("pool "+w.t.name, int(is.Size), w.now, visibleWithin)
}

// remove deletes exactly the nodes of the step, one by one. Each lowers the size by one. Where Kapsule takes no other change while it
// deletes one, the others are left to the next pass.
func (w *writer) remove(ctx context.Context, s pool.Step) error {
	is, err := w.exactly(ctx)
	if err != nil {
		return err
	}
	size, begun := int(is.Size), false
	for _, n := range w.memory.read.nodes {
		names := func(i pool.InstanceRef) bool { return i.ID == n.ID }
		if !n.staying() || !slices.ContainsFunc(s.Targets, names) {
			continue
		}
		// The drain is Muster's own and has ended. The parameter has to be there, and has no effect (specification, DeleteNode).
		err := w.send(ctx, session.Request{Operation: "DeleteNode", Method: http.MethodDelete, Path: "/nodes/" + url.PathEscape(n.ID),
			Query: url.Values{"skip_drain": {"false"}}})
		if driverkit.MayHaveHappened(err) {
			size--
			w.memory.removals.Accept(n.ID, w.now, visibleWithin)
			w.memory.size.Note(size, w.now, nil)
		}
		if begun && cloud.KindOf(err) == cloud.Conflict {
			return nil
		}
		if err != nil {
			return err
		}
		begun = true
	}
	return nil
}

// startRollout has Kapsule replace the nodes for another version.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.desire()
	if err != nil || !want.upgrades() || w.memory.read.upgrading() {
		return err
	}
	if err := w.memory.read.scaling(w.now); err != nil {
		return err
	}
	if err := w.readDocument(ctx, 0, &w.memory.read); err != nil {
		return err
	}
	if want, err = w.desire(); err != nil || !want.upgrades() {
		return err
	}
	return w.send(ctx, session.Request{Operation: "UpgradePool", Method: http.MethodPost, Path: poolPath(is) + "/upgrade",
		Body: doc{memberVersion: want.doc[memberVersion]}})
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
	tags, owner := slices.Clone(is.Tags), Spelling.Tags(w.t.Owner)
	for _, key := range slices.Sorted(maps.Keys(owner)) {
		tags = append(tags, key+between+owner[key])
	}
	return w.update(ctx, is, doc{memberTags: tags})
}

// deleteGroup deletes the pool with its nodes.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	is := w.memory.read.pool
	if is == nil || is.Status == k8s.PoolStatusDeleting {
		return nil
	}
	w.memory.created = time.Time{}
	err := w.send(ctx, session.Request{Operation: "DeletePool", Method: http.MethodDelete, Path: poolPath(is)})
	return err
}
