package azure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct{ reader }

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.Adopt:               (*writer).adopt,
	pool.CreateGroup:         (*writer).createGroup,
	pool.PutTemplate:         (*writer).putTemplate,
	pool.UpdateGroup:         (*writer).updateGroup,
	pool.Resize:              (*writer).resize,
	pool.Remove:              (*writer).remove,
	pool.Protect:             (*writer).protect,
	pool.Unprotect:           (*writer).unprotect,
	pool.Apply:               (*writer).apply,
	pool.DeleteGroup:         (*writer).deleteGroup,
	pool.EnsurePrerequisites: (*writer).ensurePrerequisites,
	pool.CleanUp:             (*writer).cleanUp,
}

// look reads the scale set, and the one that the object names, unless they are known.
func (r *reader) look(ctx context.Context, _ pool.Step) error {
	if r.memory.set.at.IsZero() {
		if err := r.readAgain(ctx); err != nil {
			return err
		}
	}
	return r.readNamed(ctx)
}

// there returns the scale set, or a conflict if it does not exist.
func (w *writer) there() (*armcompute.VirtualMachineScaleSet, error) {
	return driverkit.Existing(w.memory.set.is, "scale set "+w.t.name)
}

// begun returns the error of a request, and remembers its operation as a hint. Without a method it remembers none: an operation on a single
// machine does not tell why a scale set failed.
func begun[T any](w *writer, method string, poller *runtime.Poller[T], err error) error {
	if err = session.Refusal(err, w.now); err != nil {
		return err
	}
	token, ok := session.Hint(poller)
	if !ok || method == "" {
		return nil
	}
	w.memory.operations.add(pool.Operation{Type: method, Resource: w.t.setID(), Token: token}, w.now)
	return nil
}

// adopt writes the owner tags to the scale set. Its machines are given them afterwards, as those of any scale set whose tags were changed.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	set := w.memory.set
	if set.is != nil && w.t.owns(set.is) {
		return nil
	}
	if err := w.t.ownership(set).Adoptable(w.t.unowned(set)); err != nil {
		return err
	}
	return w.send(ctx, armcompute.VirtualMachineScaleSetUpdate{Tags: model.Adopt(set.is.Tags, w.t.Owner)})
}

// createGroup creates the scale set, unless its name is taken.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.desired(ctx)
	if err != nil {
		return err
	}
	if w.t.Bootstrap.Empty() {
		return noData()
	}
	w.memory.touched()
	poller, err := w.c.ScaleSets.BeginCreateOrUpdate(ctx, w.t.cluster.ResourceGroup, w.t.name, want.model.Create(s.Size),
		&armcompute.VirtualMachineScaleSetsClientBeginCreateOrUpdateOptions{IfNoneMatch: new("*")})
	err = begun(w, "PUT", poller, err)
	if cloud.CodeOf(err) == codePrecondition {
		return w.confirmGroupCreated(ctx, err)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made, w.memory.operations.deleting = w.now, false
		w.memory.protection = protection{of: map[string]bool{}, at: w.now} // no machine of it is protected yet
	}
	return err
}

// noData returns the error of a model without bootstrap data: machines could not boot from it.
func noData() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoBootstrapData", Message: "there is no bootstrap data yet for machines to boot with"}
}

// codePrecondition is Azure's code of a scale set that changed since it was read, or that exists already.
const codePrecondition = "PreconditionFailed"

// confirmGroupCreated reads whether a scale set that exists already was created by an earlier request, whose reply was lost.
func (w *writer) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, w.readAgain(ctx), func() bool {
		is := w.memory.set.is
		return is != nil && w.t.owns(is) && stateOf(is) != stateDeleting
	})
}

// putTemplate changes the scale set's model and nothing else.
func (w *writer) putTemplate(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.desired(ctx)
	if err != nil {
		return err
	}
	if w.t.Bootstrap.Empty() {
		return noData()
	}
	if now := w.memory.set.version(want); now.Same(want.template) && now.Data == want.template.Data {
		return nil
	}
	change := want.model.Change(model.Read(*is))
	if !flexible(is) {
		created, until := w.memory.set.creations(w.now)
		change.Tags = want.against.Recorded(change.Tags, created, until)
	}
	return w.patch(ctx, change, pool.PlannedSurge{})
}

// updateGroup changes the fields of the scale set that need no new machines.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.desired(ctx)
	if err != nil {
		return err
	}
	surge := w.memory.surge()
	if len(want.against.State.Drift) == 0 && !surge.Stale() && (s.Planned == pool.PlannedSurge{} || s.Planned == surge.Planned) {
		return nil
	}
	return w.patch(ctx, want.model.InPlaceChange(model.Read(*is)), s.Planned)
}

// patch sends a change that keeps the size, and records what is left of a surge and what is planned of the next. Where Azure gave up
// creating machines, any change would have it try again: the size is then the number of existing machines.
func (w *writer) patch(ctx context.Context, change armcompute.VirtualMachineScaleSetUpdate, planned pool.PlannedSurge) error {
	is := w.memory.set.is
	keep, capacity := w.memory.set.size(), w.memory.set.capacity()
	if keep < capacity && w.memory.operations.unsettled(w.now) {
		return w.t.notYet()
	}
	if change.SKU != nil || keep != capacity {
		sku := ptr.Deref(change.SKU, armcompute.SKU{})
		if change.SKU == nil {
			sku = ptr.Deref(is.SKU, armcompute.SKU{})
		}
		sku.Capacity = new(int64(w.memory.set.withAttached(keep)))
		change.SKU = &sku
	}
	surge := w.memory.surge()
	if change.Tags == nil || planned == (pool.PlannedSurge{}) && !surge.Stale() {
		return w.send(ctx, change)
	}
	change.Tags[model.TagSurge] = new(surges.Record(pool.PlannedSurge{Surge: surge.Count(), Size: keep}, planned))
	return w.memory.surgeRecorded(w.send(ctx, change))
}

// notYet returns the error of a capacity that is not written yet, because the write could terminate a machine.
func (t target) notYet() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesNotShown", Message: fmt.Sprintf(
		"scale set %s was at work a moment ago: its capacity is written when it is sure which machines there are", t.name)}
}

// send sends a change with the ETag that was read: Azure rejects it if the scale set changed since.
func (w *writer) send(ctx context.Context, change armcompute.VirtualMachineScaleSetUpdate) error {
	etag := w.memory.set.is.Etag
	w.memory.touched()
	poller, err := w.c.ScaleSets.BeginUpdate(ctx, w.t.cluster.ResourceGroup, w.t.name, change,
		&armcompute.VirtualMachineScaleSetsClientBeginUpdateOptions{IfMatch: etag})
	return begun(w, "PATCH", poller, err)
}

// resize requests a number of machines, never fewer than exist.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	if n := w.memory.set.existing(); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"scale set %s has %d machines and was to be asked for %d: Azure would choose who goes", w.t.name, n, s.Size)}
	}
	if s.Size < w.memory.set.capacity() && w.memory.operations.unsettled(w.now) {
		return w.t.notYet()
	}
	if s.Surge > 0 || w.memory.surge().Count() > 0 {
		err = w.memory.surgeRecorded(w.send(ctx, w.memory.set.resized(pool.PlannedSurge{Surge: s.Surge, Size: s.Size})))
	} else {
		err = w.send(ctx, model.Resize(model.Read(*is), w.memory.set.withAttached(s.Size), nil))
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.operations.growFailed = time.Time{}
	}
	return err
}

func idsOf(list []machine) []string {
	ids := make([]string, 0, len(list))
	for _, m := range list {
		ids = append(ids, m.id)
	}
	return ids
}

// remove deletes exactly the given machines, in one request. Azure lowers the capacity by their number.
func (w *writer) remove(ctx context.Context, s pool.Step) error {
	chosen := w.memory.set.members(s.Targets)
	if len(chosen) == 0 {
		return nil
	}
	surge := w.memory.surge()
	if note := surge.Now(); note.Surge > 0 && w.memory.set.size() > note.Size {
		// The scale set was made larger since: the surge is counted from the present size, so that this removal uses it up.
		note.Size = w.memory.set.size()
		return w.memory.surgeRecorded(w.send(ctx, w.memory.set.resized(note)))
	}
	w.memory.surgeRemoval = surge.Without(idsOf(chosen))
	w.memory.touched()
	poller, err := w.c.ScaleSets.BeginDeleteInstances(ctx, w.t.cluster.ResourceGroup, w.t.name,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: to.SliceOfPtrs(idsOf(chosen)...)}, nil)
	err = begun(w, "DELETE", poller, err)
	if err == nil {
		w.memory.removing(chosen, w.now)
	}
	return session.Vanished(err)
}

// apply has Azure change on machines what can be changed in place to the scale set's model. In mode Flexible extensions are changed that
// way; tags are written to each machine, because Azure does not document that it applies them.
func (w *writer) apply(ctx context.Context, s pool.Step) error {
	// Azure refuses to change a machine that is being changed: a later pass changes what it then still lacks.
	chosen := slices.DeleteFunc(w.memory.set.members(s.Targets), func(m machine) bool { return m.provisioning == stateUpdating })
	if len(chosen) == 0 {
		return nil
	}
	if !flexible(w.memory.set.is) {
		return w.upgrade(ctx, chosen)
	}
	want, err := w.desired(ctx)
	if err != nil {
		return err
	}
	lacking := w.memory.extended.lacking(want, chosen, w.now)
	if len(lacking) == 0 {
		return w.tag(ctx, chosen, want.model.MachineTags)
	}
	if untagged := slices.DeleteFunc(slices.Clone(lacking), func(m machine) bool { return model.Extending(m.tags) }); len(untagged) > 0 {
		return w.tag(ctx, untagged, want.model.ExtendingTags)
	}
	return w.extend(ctx, want, lacking)
}

// tag writes the tags of machines of a Flexible scale set.
func (w *writer) tag(ctx context.Context, chosen []machine, tags func(is map[string]*string) map[string]*string) error {
	for _, m := range chosen {
		w.memory.touched()
		poller, err := w.c.VMs.BeginUpdate(ctx, w.t.cluster.ResourceGroup, m.id, armcompute.VirtualMachineUpdate{Tags: tags(m.tags)}, nil)
		if err = begun(w, "", poller, err); err != nil {
			return session.Vanished(err)
		}
	}
	return nil
}

// upgrade has Azure apply the scale set's model to machines.
func (w *writer) upgrade(ctx context.Context, chosen []machine) error {
	w.memory.touched()
	poller, err := w.c.ScaleSets.BeginUpdateInstances(ctx, w.t.cluster.ResourceGroup, w.t.name,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: to.SliceOfPtrs(idsOf(chosen)...)}, nil)
	return session.Vanished(begun(w, "PATCH", poller, err))
}

// extend gives machines of a Flexible scale set their extensions.
func (w *writer) extend(ctx context.Context, want desired, chosen []machine) error {
	extended := w.memory.extended.and(w.memory.set.machines, chosen, want.model, w.now)
	err := w.upgrade(ctx, chosen)
	if err == nil {
		w.memory.extended = extended
	}
	return err
}

// protect protects machines from scale-in: Azure does not choose them when the capacity is lowered.
func (w *writer) protect(ctx context.Context, s pool.Step) error {
	return w.setProtection(ctx, s, true)
}

// unprotect removes the protection from scale-in.
func (w *writer) unprotect(ctx context.Context, s pool.Step) error {
	return w.setProtection(ctx, s, false)
}

// setProtection sets or removes the protection of machines from scale-in.
func (w *writer) setProtection(ctx context.Context, s pool.Step, on bool) error {
	is := w.memory.set.is
	for _, m := range w.memory.set.members(s.Targets) {
		if m.protected == on {
			continue
		}
		tags, err := w.setReader().tags(ctx, m)
		if err != nil {
			return err
		}
		w.memory.touched()
		w.memory.protection.changes(m.id)
		poller, err := w.c.ScaleSetVMs.BeginUpdate(ctx, w.t.cluster.ResourceGroup, w.t.name, m.id, armcompute.VirtualMachineScaleSetVM{
			Location: is.Location, Tags: tags,
			Properties: &armcompute.VirtualMachineScaleSetVMProperties{
				ProtectionPolicy: &armcompute.VirtualMachineScaleSetVMProtectionPolicy{ProtectFromScaleIn: new(on)},
			},
		}, nil)
		if err = begun(w, "", poller, err); err != nil {
			return session.Vanished(err)
		}
	}
	return nil
}

// deleteGroup deletes the scale set with its machines. Azure accepts this during any other operation.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if w.memory.set.is == nil {
		return nil
	}
	if err := w.memory.set.attached.checkNone(w.t.name); err != nil {
		return err
	}
	// Even without a reply Azure may delete it from now on.
	w.memory.made = time.Time{}
	w.memory.touched()
	poller, err := w.c.ScaleSets.BeginDelete(ctx, w.t.cluster.ResourceGroup, w.t.name, nil)
	if err = begun(w, "DELETE", poller, err); session.Absent(err) {
		return nil
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.operations.deleteFailed, w.memory.operations.deleting = time.Time{}, true
	}
	return err
}
