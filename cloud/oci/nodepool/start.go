package nodepool

import (
	"context"
	"fmt"
	"maps"
	"slices"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/cloud/oci/session"
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

// update sends a change on the condition of the revision that was read. Only a rollout cycles nodes: every other update ends that setting.
func (w *writer) update(ctx context.Context, is *containerengine.NodePool, r *containerengine.UpdateNodePoolDetails) error {
	if r.NodePoolCyclingDetails == nil && cycling(is) {
		r.NodePoolCyclingDetails = &containerengine.NodePoolCyclingDetails{IsNodeCyclingEnabled: new(false)}
	}
	request := containerengine.UpdateNodePoolRequest{NodePoolId: is.Id, Body: r}
	if c := r.NodeConfigDetails; c != nil && c.PlacementConfigs != nil {
		// Nodes outside of the placement are deleted. Muster has not drained them: OKE does, whatever the settings of the node pool are.
		request.OverrideEvictionGraceDuration, request.IsForceDeletionAfterOverrideGraceDuration = new(longestDrain), new("false")
	}
	return w.Write(ctx, func(etag *string) error {
		request.IfMatch = etag
		_, err := w.Session.Engine.UpdateNodePool(ctx, request)
		return err
	})
}

const (
	// longestDrain is the longest time that OKE gives pods to leave, noDrain has it delete nodes at once: Muster has drained them.
	longestDrain, noDrain = "PT60M", "PT0M"
)

// createGroup creates the node pool, unless an earlier request has.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	if there, err := w.Exists(ctx); there || err != nil {
		return err
	}
	want, err := w.desire(ctx, w.resolver())
	if err != nil {
		return err
	}
	body, err := w.t.creation(want, s.Size)
	if err != nil {
		return err
	}
	return w.Create(ctx, body, func(token *string) error {
		_, err := w.Session.Engine.CreateNodePool(ctx, containerengine.CreateNodePoolRequest{OpcRetryToken: token, Body: body})
		return err
	})
}

// creation returns the request that creates the node pool.
func (t target) creation(want desired, size int) (*containerengine.CreateNodePoolDetails, error) {
	r := &change{}
	for _, f := range rows {
		if f.Put != nil && f.Value(want.doc) != nil {
			f.Put(r, want.doc, doc{})
		}
	}
	r.mark(want.next.Content)
	r.config().Size = &size
	r.Name = new(t.at.Name)
	out, err := oke.Creation[containerengine.CreateNodePoolDetails](t.at, r.UpdateNodePoolDetails)
	if err != nil {
		return nil, err
	}
	out.ClusterId, out.CompartmentId = &t.cluster.ID, new(t.at.Compartment())
	return out, nil
}

// mark gives new nodes the tag with what they are created from.
func (r *change) mark(content string) {
	r.config().FreeformTags = fields.With(oke.AllOthers, map[string]string{oke.TemplateTag: content}, r.nodeTags())
}

// updateGroup changes the fields that differ, and what new nodes are created from where the step names another template.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := w.There()
	if err != nil {
		return err
	}
	want, err := w.desire(ctx, w.resolver())
	if err != nil {
		return err
	}
	r := &change{is: *is}
	want.drift.Put(r, want.doc, want.is)
	changes := len(want.drift) > 0
	if s.Template != "" && s.Template == want.next.Ref && !want.next.Same(want.launched) {
		rows.Differing(want.doc, want.is, fields.Rolls).Put(r, want.doc, want.is)
		if nodeTagsOf(is)[oke.TemplateTag] == "" {
			tags := fields.With(oke.AllOthers, r.FreeformTags, is.FreeformTags)
			tags[untaggedTag] = "older"
			r.FreeformTags = tags
		}
		r.mark(want.next.Content)
		changes = true
	}
	if !changes {
		return nil
	}
	return w.update(ctx, is, &r.UpdateNodePoolDetails)
}

// resize sets the size, which is never below the number of nodes: OKE would choose those that go.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	is, err := w.There()
	if err != nil {
		return err
	}
	if s.Size < w.last().size() {
		if is, err = w.Exactly(ctx); err != nil {
			return err
		}
	}
	if n := w.last().staying(); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NodesWouldGo", Message: fmt.Sprintf(
			"node pool %s has %d nodes and was to get the size %d: OKE would choose which go", w.t.at.Name, n, s.Size)}
	}
	err = w.update(ctx, is, &containerengine.UpdateNodePoolDetails{
		NodeConfigDetails: &containerengine.UpdateNodePoolNodeConfigDetails{Size: &s.Size}})
	w.memory.Size.Note(s.Size, w.Now, err)
	return err
}

// remove deletes exactly the nodes of the step, one by one. Each lowers the size by one. Where OKE takes no other change while it deletes
// one, the others are left to the next pass.
func (w *writer) remove(ctx context.Context, s pool.Step) error {
	is, err := w.Exactly(ctx)
	if err != nil {
		return err
	}
	read, size, begun := w.last(), w.last().size(), false
	for _, n := range read.Nodes {
		if !n.staying() || !slices.ContainsFunc(s.Targets, func(i pool.InstanceRef) bool { return i.ID == *n.Id }) {
			continue
		}
		err := w.deleteNode(ctx, is, *n.Id)
		if driverkit.MayHaveHappened(err) {
			size--
			w.memory.removals.Accept(*n.Id, w.Now, oke.VisibleWithin)
			w.memory.Size.Note(size, w.Now, nil)
		}
		if begun && cloud.KindOf(err) == cloud.Conflict {
			return nil
		}
		if err != nil {
			return w.Vanished(ctx, err)
		}
		begun = true
	}
	return nil
}

// deleteNode deletes one node. The drain is Muster's own and has ended. A node that is being deleted is no error.
func (w *writer) deleteNode(ctx context.Context, is *containerengine.NodePool, id string) error {
	w.Forget()
	_, err := w.Session.Engine.DeleteNode(ctx, containerengine.DeleteNodeRequest{NodePoolId: is.Id, NodeId: &id, IsDecrementSize: new("true"),
		OverrideEvictionGraceDuration: new(noDrain), IsForceDeletionAfterOverrideGraceDuration: new("true")})
	if cloud.CodeOf(err) == session.CodeConflict {
		return nil
	}
	return err
}

// startRollout has OKE cycle the nodes that are not as the node pool is.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	is, err := w.There()
	if err != nil {
		return err
	}
	want, err := w.desire(ctx, w.resolver())
	switch {
	case err != nil:
		return err
	case !want.next.Same(want.launched):
		return &cloud.Error{Kind: cloud.Conflict, Code: "TemplateOutOfDate",
			Message: "node pool " + w.t.at.Name + " does not launch what is wanted yet: it is changed before its nodes are cycled"}
	case w.last().percent(want) == allPercent || w.last().rollout(want, nil).Runs():
		return nil
	}
	r := &containerengine.UpdateNodePoolDetails{NodePoolCyclingDetails: w.t.howToCycle()}
	if now := nodeTagsOf(is)[oke.TemplateTag]; slices.Contains(r.NodePoolCyclingDetails.CycleModes, string(ociv1.CycleBootVolume)) &&
		now != "" {
		r.FreeformTags = maps.Clone(is.FreeformTags)
		r.FreeformTags[cycledTag] = now
	}
	return w.update(ctx, is, r)
}

// adopt writes the owner tags, and changes nothing else.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	tags, err := w.Adoption()
	if err != nil || tags == nil {
		return err
	}
	return w.update(ctx, w.memory.Read.Pool, &containerengine.UpdateNodePoolDetails{FreeformTags: tags})
}

// deleteGroup deletes the node pool with its nodes, which Muster has drained as far as they are drained at all.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	return w.Delete(ctx, func(id, etag *string) error {
		_, err := w.Session.Engine.DeleteNodePool(ctx, containerengine.DeleteNodePoolRequest{NodePoolId: id, IfMatch: etag,
			OverrideEvictionGraceDuration: new(noDrain), IsForceDeletionAfterOverrideGraceDuration: new("true")})
		return err
	})
}
