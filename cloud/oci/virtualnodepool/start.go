package virtualnodepool

import (
	"context"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool, after it was read.
type writer struct{ reader }

// steps maps each step to the method that begins it. OKE deletes no virtual node by name.
var steps = driverkit.Steps[*writer]{
	pool.Adopt:                (*writer).adopt,
	pool.CreateGroup:          (*writer).createGroup,
	pool.UpdateGroup:          (*writer).updateGroup,
	pool.Resize:               (*writer).resize,
	pool.StartProviderRollout: (*writer).startRollout,
	pool.DeleteGroup:          (*writer).deleteGroup,
}

// update sends a change on the condition of the revision that was read. Only a rollout cycles virtual nodes: every other update
// ends that setting.
func (w *writer) update(ctx context.Context, is *containerengine.VirtualNodePool, r *containerengine.UpdateVirtualNodePoolDetails) error {
	if r.VirtualNodePoolCyclingDetails == nil && cycling(is) {
		r.VirtualNodePoolCyclingDetails = &containerengine.VirtualNodePoolCyclingDetails{IsVirtualNodeCyclingEnabled: new(false)}
	}
	return w.Write(ctx, func(etag *string) error {
		_, err := w.Session.Engine.UpdateVirtualNodePool(ctx, containerengine.UpdateVirtualNodePoolRequest{VirtualNodePoolId: is.Id,
			IfMatch: etag, Body: r})
		return err
	})
}

// createGroup creates the pool, unless an earlier request has.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	if there, err := w.Exists(ctx); there || err != nil {
		return err
	}
	want, err := w.desire()
	if err != nil {
		return err
	}
	body, err := w.t.creation(want, s.Size)
	if err != nil {
		return err
	}
	return w.Create(ctx, body, func(token *string) error {
		_, err := w.Session.Engine.CreateVirtualNodePool(ctx, containerengine.CreateVirtualNodePoolRequest{OpcRetryToken: token, Body: body})
		return err
	})
}

// creation returns the request that creates the pool.
func (t target) creation(want desired, size int) (*containerengine.CreateVirtualNodePoolDetails, error) {
	r := &change{}
	for _, f := range rows {
		if f.Put != nil && f.Value(want.doc) != nil {
			f.Put(r, want.doc, doc{})
		}
	}
	r.mark(want.next.Content)
	r.Size, r.DisplayName = &size, new(t.at.Name)
	out, err := oke.Creation[containerengine.CreateVirtualNodePoolDetails](t.at, r.UpdateVirtualNodePoolDetails)
	if err != nil {
		return nil, err
	}
	out.ClusterId, out.CompartmentId = &t.at.Cluster.ID, new(t.at.Compartment())
	return out, nil
}

// updateGroup changes the fields that differ and that replace no node.
func (w *writer) updateGroup(ctx context.Context, _ pool.Step) error {
	is, err := w.There()
	if err != nil {
		return err
	}
	want, err := w.desire()
	if err != nil || len(want.drift) == 0 {
		return err
	}
	r := &change{is: *is}
	want.drift.Put(r, want.doc, want.is)
	return w.update(ctx, is, &r.UpdateVirtualNodePoolDetails)
}

// resize sets the size. OKE selects the virtual nodes that go, and drains them.
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
	err = w.update(ctx, is, &containerengine.UpdateVirtualNodePoolDetails{Size: &s.Size})
	w.Memory.Size.Note(s.Size, w.Now, err)
	return err
}

// startRollout changes what virtual nodes are created from, and has OKE cycle those that were created from something else.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	is, err := w.There()
	if err != nil {
		return err
	}
	want, err := w.desire()
	read := w.last()
	moves := !want.next.Same(want.launched)
	if err != nil || read.rollout(want, nil).Runs() || !moves && read.percent(want) == oke.Share(1, 1) {
		return err
	}
	r := &change{is: *is}
	if moves {
		rows.Differing(want.doc, want.is, fields.Rolls).Put(r, want.doc, want.is)
		if nodeTagsOf(is)[oke.TemplateTag] == "" {
			r.FreeformTags = fields.With(oke.AllOthers, map[string]string{untaggedTag: "older"}, is.FreeformTags)
		}
		r.mark(want.next.Content)
	}
	r.VirtualNodePoolCyclingDetails = &containerengine.VirtualNodePoolCyclingDetails{IsVirtualNodeCyclingEnabled: new(true)}
	return w.update(ctx, is, &r.UpdateVirtualNodePoolDetails)
}

// adopt writes the owner tags, and changes nothing else.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	tags, err := w.Adoption()
	if err != nil || tags == nil {
		return err
	}
	return w.update(ctx, w.Memory.Read.Pool, &containerengine.UpdateVirtualNodePoolDetails{FreeformTags: tags})
}

// deleteGroup deletes the pool with its virtual nodes, which Muster has drained as far as they are drained at all.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	return w.Delete(ctx, func(id, etag *string) error {
		_, err := w.Session.Engine.DeleteVirtualNodePool(ctx, containerengine.DeleteVirtualNodePoolRequest{VirtualNodePoolId: id, IfMatch: etag,
			OverrideEvictionGraceDurationVnp: new("PT0M"), IsForceDeletionAfterOverrideGraceDurationVnp: new("true")})
		return err
	})
}
