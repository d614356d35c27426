package azure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*pass]{
	pool.Adopt:               func(p *pass, ctx context.Context, _ pool.Step) error { return adopt(ctx, p) },
	pool.CreateGroup:         (*pass).createGroup,
	pool.PutTemplate:         (*pass).putTemplate,
	pool.UpdateGroup:         (*pass).updateGroup,
	pool.Resize:              (*pass).resize,
	pool.Remove:              (*pass).remove,
	pool.Protect:             (*pass).protect,
	pool.Unprotect:           (*pass).unprotect,
	pool.Apply:               (*pass).apply,
	pool.DeleteGroup:         (*pass).deleteGroup,
	pool.EnsurePrerequisites: (*pass).provide,
	pool.CleanUp:             (*pass).cleanUp,
}

// start begins the step.
func (p *pass) start(ctx context.Context, s pool.Step) error {
	run, err := steps.Step(s.Kind, "a scale set")
	if err != nil {
		return err
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	if err := p.t.ownership(p.memory.set).Permits(s.Kind, pool.Adopt); err != nil {
		return err
	}
	return withField(p.t.pool, run(p, ctx, s))
}

// known reads the scale set, and the one that the object names, unless they are known.
func (p *pass) known(ctx context.Context) error {
	if p.memory.set.at.IsZero() {
		if err := p.readAgain(ctx); err != nil {
			return err
		}
	}
	return p.readNamed(ctx)
}

// there returns the scale set, or a conflict if it does not exist.
func (p *pass) there() (*armcompute.VirtualMachineScaleSet, error) {
	return driverkit.Existing(p.memory.set.is, "scale set "+p.t.name)
}

// begun returns the error of a request, and remembers its operation as a hint. Without a method it remembers none: an operation on a single
// machine does not tell why a scale set failed.
func begun[T any](p *pass, method string, poller *runtime.Poller[T], err error) error {
	if err = session.Refusal(err, p.now); err != nil {
		return err
	}
	token, ok := session.Hint(poller)
	if !ok || method == "" {
		return nil
	}
	p.memory.operations.add(pool.Operation{Type: method, Resource: p.t.setID(), Token: token}, p.now)
	return nil
}

// adopt writes the owner tags to the scale set. Its machines are given them afterwards, as those of any scale set whose tags were changed.
func adopt(ctx context.Context, p *pass) error {
	set := p.memory.set
	if set.is != nil && p.t.owns(set.is) {
		return nil
	}
	if err := p.t.ownership(set).Adoptable(p.t.unowned(set)); err != nil {
		return err
	}
	return p.send(ctx, armcompute.VirtualMachineScaleSetUpdate{Tags: model.Adopt(set.is.Tags, p.t.Owner)})
}

// createGroup creates the scale set, unless its name is taken.
func (p *pass) createGroup(ctx context.Context, s pool.Step) error {
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	if p.t.Bootstrap.Empty() {
		return noData()
	}
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginCreateOrUpdate(ctx, p.t.cluster.ResourceGroup, p.t.name, want.model.Create(s.Size),
		&armcompute.VirtualMachineScaleSetsClientBeginCreateOrUpdateOptions{IfNoneMatch: new("*")})
	err = begun(p, "PUT", poller, err)
	if cloud.CodeOf(err) == codePrecondition {
		return p.confirmGroupCreated(ctx, err)
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.made, p.memory.operations.deleting = p.now, false
		p.memory.protection = protection{of: map[string]bool{}, at: p.now} // no machine of it is protected yet
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
func (p *pass) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, p.readAgain(ctx), func() bool {
		is := p.memory.set.is
		return is != nil && p.t.owns(is) && stateOf(is) != stateDeleting
	})
}

// putTemplate changes the scale set's model and nothing else.
func (p *pass) putTemplate(ctx context.Context, _ pool.Step) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	if p.t.Bootstrap.Empty() {
		return noData()
	}
	if now := p.memory.set.version(want); now.Same(want.template) && now.Data == want.template.Data {
		return nil
	}
	return p.patch(ctx, want.model.Change(model.Read(*is)), surgeNote{})
}

// updateGroup changes the fields of the scale set that need no new machines.
func (p *pass) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	planned := surgeNote(s.Planned)
	if len(want.against.State.Drift) == 0 && !p.memory.surge().stale() &&
		(planned == surgeNote{} || planned == p.memory.surge().planned()) {
		return nil
	}
	return p.patch(ctx, want.model.InPlaceChange(model.Read(*is)), planned)
}

// patch sends a change that keeps the size, and records what is left of a surge and what is planned of the next. Where Azure gave up
// creating machines, any change would have it try again: the size is then the number of existing machines.
func (p *pass) patch(ctx context.Context, change armcompute.VirtualMachineScaleSetUpdate, planned surgeNote) error {
	is := p.memory.set.is
	keep, asked := p.memory.set.size(), p.memory.set.capacity()
	if keep < asked && p.memory.operations.unsettled(p.now) {
		return p.t.notYet()
	}
	if change.SKU != nil || keep != asked {
		sku := ptr.Deref(change.SKU, armcompute.SKU{})
		if change.SKU == nil {
			sku = ptr.Deref(is.SKU, armcompute.SKU{})
		}
		sku.Capacity = new(int64(p.memory.set.withAttached(keep)))
		change.SKU = &sku
	}
	if change.Tags == nil || planned == (surgeNote{}) && !p.memory.surge().stale() {
		return p.send(ctx, change)
	}
	change.Tags[model.TagSurge] = new(surgeNote{Surge: p.memory.surge().count(), Size: keep}.followedBy(planned))
	return p.memory.surgeRecorded(p.send(ctx, change))
}

// notYet returns the error of a capacity that is not written yet, because the write could terminate a machine.
func (t target) notYet() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesNotShown", Message: fmt.Sprintf(
		"scale set %s was at work a moment ago: its capacity is written when it is sure which machines there are", t.name)}
}

// send sends a change with the ETag that was read: Azure rejects it if the scale set changed since.
func (p *pass) send(ctx context.Context, change armcompute.VirtualMachineScaleSetUpdate) error {
	etag := p.memory.set.is.Etag
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginUpdate(ctx, p.t.cluster.ResourceGroup, p.t.name, change,
		&armcompute.VirtualMachineScaleSetsClientBeginUpdateOptions{IfMatch: etag})
	return begun(p, "PATCH", poller, err)
}

// resize requests a number of machines, never fewer than exist.
func (p *pass) resize(ctx context.Context, s pool.Step) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	if n := p.memory.set.existing(); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"scale set %s has %d machines and was to be asked for %d: Azure would choose who goes", p.t.name, n, s.Size)}
	}
	if s.Size < p.memory.set.capacity() && p.memory.operations.unsettled(p.now) {
		return p.t.notYet()
	}
	if s.Surge > 0 || p.memory.surge().count() > 0 {
		err = p.memory.surgeRecorded(p.send(ctx, p.memory.set.resized(surgeNote{Surge: s.Surge, Size: s.Size})))
	} else {
		err = p.send(ctx, model.Resize(model.Read(*is), p.memory.set.withAttached(s.Size), nil))
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.operations.growFailed = time.Time{}
	}
	return err
}

func idsOf(list []machine) []*string {
	ids := make([]*string, 0, len(list))
	for _, m := range list {
		ids = append(ids, new(m.id))
	}
	return ids
}

// remove deletes exactly the given machines, in one request. Azure lowers the capacity by their number.
func (p *pass) remove(ctx context.Context, s pool.Step) error {
	chosen := p.memory.set.members(s.Targets)
	if len(chosen) == 0 {
		return nil
	}
	surge := p.memory.surge()
	if note := surge.now(); note.Surge > 0 && p.memory.set.size() > note.Size {
		// The scale set was made larger since: the surge is counted from the present size, so that this removal uses it up.
		note.Size = p.memory.set.size()
		return p.memory.surgeRecorded(p.send(ctx, p.memory.set.resized(note)))
	}
	if removal := surge.without(chosen); removal != nil {
		p.memory.surgeRemoval = removal
	}
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginDeleteInstances(ctx, p.t.cluster.ResourceGroup, p.t.name,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: idsOf(chosen)}, nil)
	err = begun(p, "DELETE", poller, err)
	if err == nil {
		p.memory.removing(chosen, p.now)
	}
	return session.Vanished(err)
}

// apply has Azure change on machines what can be changed in place to the scale set's model. In mode Flexible extensions are changed that
// way; tags are written to each machine, because Azure does not document that it applies them.
func (p *pass) apply(ctx context.Context, s pool.Step) error {
	// Azure refuses to change a machine that is being changed: a later pass changes what it then still lacks.
	chosen := slices.DeleteFunc(p.memory.set.members(s.Targets), func(m machine) bool { return m.provisioning == stateUpdating })
	if len(chosen) == 0 {
		return nil
	}
	if !flexible(p.memory.set.is) {
		return p.upgrade(ctx, chosen)
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	lacking := p.memory.extended.lacking(want, chosen, p.now)
	if len(lacking) == 0 {
		return p.tag(ctx, chosen, want.model.MachineTags)
	}
	if told := slices.DeleteFunc(slices.Clone(lacking), func(m machine) bool { return model.Extending(m.tags) }); len(told) > 0 {
		return p.tag(ctx, told, want.model.ExtendingTags)
	}
	return p.extend(ctx, want, lacking)
}

// tag writes the tags of machines of a Flexible scale set.
func (p *pass) tag(ctx context.Context, chosen []machine, tags func(is map[string]*string) map[string]*string) error {
	for _, m := range chosen {
		p.memory.touched()
		poller, err := p.c.VMs.BeginUpdate(ctx, p.t.cluster.ResourceGroup, m.id, armcompute.VirtualMachineUpdate{Tags: tags(m.tags)}, nil)
		if err = begun(p, "", poller, err); err != nil {
			return session.Vanished(err)
		}
	}
	return nil
}

// upgrade has Azure apply the scale set's model to machines.
func (p *pass) upgrade(ctx context.Context, chosen []machine) error {
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginUpdateInstances(ctx, p.t.cluster.ResourceGroup, p.t.name,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: idsOf(chosen)}, nil)
	return session.Vanished(begun(p, "PATCH", poller, err))
}

// extend gives machines of a Flexible scale set their extensions.
func (p *pass) extend(ctx context.Context, want wanted, chosen []machine) error {
	given := p.memory.extended.and(p.memory.set.machines, chosen, want.model, p.now)
	err := p.upgrade(ctx, chosen)
	if err == nil {
		p.memory.extended = given
	}
	return err
}

// protect protects machines from scale-in: Azure does not choose them when the capacity is lowered.
func (p *pass) protect(ctx context.Context, s pool.Step) error { return p.setProtection(ctx, s, true) }

// unprotect removes the protection from scale-in.
func (p *pass) unprotect(ctx context.Context, s pool.Step) error {
	return p.setProtection(ctx, s, false)
}

// setProtection sets or removes the protection of machines from scale-in.
func (p *pass) setProtection(ctx context.Context, s pool.Step, on bool) error {
	is := p.memory.set.is
	for _, m := range p.memory.set.members(s.Targets) {
		if m.protected == on {
			continue
		}
		tags, err := p.reader().tags(ctx, m)
		if err != nil {
			return err
		}
		p.memory.touched()
		p.memory.protection.changes(m.id)
		poller, err := p.c.ScaleSetVMs.BeginUpdate(ctx, p.t.cluster.ResourceGroup, p.t.name, m.id, armcompute.VirtualMachineScaleSetVM{
			Location: is.Location, Tags: tags,
			Properties: &armcompute.VirtualMachineScaleSetVMProperties{
				ProtectionPolicy: &armcompute.VirtualMachineScaleSetVMProtectionPolicy{ProtectFromScaleIn: new(on)},
			},
		}, nil)
		if err = begun(p, "", poller, err); err != nil {
			return session.Vanished(err)
		}
	}
	return nil
}

// deleteGroup deletes the scale set with its machines. Azure accepts this during any other operation.
func (p *pass) deleteGroup(ctx context.Context, _ pool.Step) error {
	if p.memory.set.is == nil {
		return nil
	}
	if err := p.memory.set.attached.checkNone(p.t.name); err != nil {
		return err
	}
	// Even without a reply Azure may delete it from now on.
	p.memory.made = time.Time{}
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginDelete(ctx, p.t.cluster.ResourceGroup, p.t.name,
		&armcompute.VirtualMachineScaleSetsClientBeginDeleteOptions{ForceDeletion: new(false)})
	if err = begun(p, "DELETE", poller, err); session.Absent(err) {
		return nil
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.operations.deleteFailed, p.memory.operations.deleting = time.Time{}, true
	}
	return err
}
