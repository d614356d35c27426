package azure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// steps are how each step is begun.
var steps = driverkit.Steps[*pass]{
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
	return p.blame(run(p, ctx, s))
}

// known makes sure that the scale set has been read before something depends on it, and that it is the pool's own.
func (p *pass) known(ctx context.Context) error {
	if p.memory.set.at.IsZero() {
		if err := p.readAgain(ctx); err != nil {
			return err
		}
	}
	if err := p.readNamed(ctx); err != nil {
		return err
	}
	return driverkit.Owned(p.foreign())
}

// there is the scale set that a step needs.
func (p *pass) there() (*armcompute.VirtualMachineScaleSet, error) {
	if is := p.memory.set.is; is != nil {
		return is, nil
	}
	return nil, &cloud.Error{Kind: cloud.Conflict, Code: "GroupGone", Message: fmt.Sprintf("scale set %s is there no more", p.t.name)}
}

// operationsMost bounds the operations that are remembered: only the last ones are ever asked about.
const operationsMost = 5

// begun ends a step whose request was answered, and keeps its operation as a hint. Without a method it keeps none: what is done to a
// machine alone says nothing about why a scale set failed.
func begun[T any](p *pass, method string, poller *runtime.Poller[T], err error) error {
	if err = session.Refusal(err, p.now); err != nil {
		return err
	}
	token, ok := session.Hint(poller)
	if !ok || method == "" {
		return nil
	}
	list := append(p.memory.operations, pool.Operation{Type: method, Resource: p.set(), Token: token})
	p.memory.operations, p.memory.begun = list[max(0, len(list)-operationsMost):], p.now
	return nil
}

// createGroup makes the scale set, unless something has its name already.
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
		p.memory.made, p.memory.deleting = p.now, false
		p.memory.shielded, p.memory.shieldedAt, p.memory.shieldsRefused = map[string]bool{}, p.now, nil // no machine of it is protected yet
	}
	return err
}

// noData is the refusal to make a model that machines can't boot from.
func noData() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoBootstrapData", Message: "there is no bootstrap data yet for machines to boot with"}
}

// codePrecondition is Azure's word for a scale set that is another one than was seen, or is there already.
const codePrecondition = "PreconditionFailed"

// confirmGroupCreated finds out whether a scale set that exists already is the one that an earlier, unanswered request made.
func (p *pass) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, p.readAgain(ctx), func() bool {
		is := p.memory.set.is
		return is != nil && p.ours(is) && stateOf(is) != stateDeleting
	})
}

// putTemplate changes the scale set's model, and nothing else of it.
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
	if now := p.version(want); now.Same(want.template) && now.Data == want.template.Data {
		return nil
	}
	return p.patch(ctx, want.model.Change(model.Read(*is)), surgeNote{})
}

// updateGroup changes what Azure changes on the scale set without making other machines.
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
	if len(want.against.State.Drift) == 0 && !p.surgeSpent() && (planned == surgeNote{} || planned == p.surgePlanned()) {
		return nil
	}
	return p.patch(ctx, want.model.InPlaceChange(model.Read(*is)), planned)
}

// patch sends a change that leaves the size as it is, and writes down what is left of a surge and what is planned of the next. Where Azure
// has given up bringing machines, it would try that again with any change: the size is then what is there.
func (p *pass) patch(ctx context.Context, change armcompute.VirtualMachineScaleSetUpdate, planned surgeNote) error {
	is := p.memory.set.is
	keep, asked := size(p.memory.set), capacity(p.memory.set)
	if keep < asked && p.unsettled(p.memory.growFailed) {
		return p.notYet()
	}
	if change.SKU != nil || keep != asked {
		sku := deref(change.SKU)
		if change.SKU == nil {
			sku = deref(is.SKU)
		}
		sku.Capacity = new(int64(p.withGuests(keep)))
		change.SKU = &sku
	}
	if change.Tags == nil || planned == (surgeNote{}) && !p.surgeSpent() {
		return p.send(ctx, change)
	}
	change.Tags[model.TagSurge] = new(surgeNote{Surge: p.surge(), Size: keep}.followedBy(planned))
	return p.account(p.send(ctx, change))
}

// unsettled reports whether something was seen, or that a write by Muster was begun, so short a time ago that the list of machines may be
// behind it: a capacity that is lowered to what it shows could take one.
func (p *pass) unsettled(seen time.Time) bool {
	return p.now.Sub(seen) < visibleWithin || p.now.Sub(p.memory.begun) < visibleWithin
}

// notYet is the refusal to write a capacity before it is sure that it terminates no machine.
func (p *pass) notYet() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesNotShown", Message: fmt.Sprintf(
		"scale set %s was at work a moment ago: its capacity is written when it is sure which machines there are", p.t.name)}
}

// send sends a change of the scale set that was seen, and of no other.
func (p *pass) send(ctx context.Context, change armcompute.VirtualMachineScaleSetUpdate) error {
	etag := p.memory.set.is.Etag
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginUpdate(ctx, p.t.cluster.ResourceGroup, p.t.name, change,
		&armcompute.VirtualMachineScaleSetsClientBeginUpdateOptions{IfMatch: etag})
	return begun(p, "PATCH", poller, err)
}

// resize asks for a number of machines, never for fewer than there are.
func (p *pass) resize(ctx context.Context, s pool.Step) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	if n := existing(p.memory.set); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"scale set %s has %d machines and was to be asked for %d: Azure would choose who goes", p.t.name, n, s.Size)}
	}
	if s.Size < capacity(p.memory.set) && p.unsettled(p.memory.growFailed) {
		return p.notYet()
	}
	if s.Surge > 0 || p.surge() > 0 {
		err = p.account(p.send(ctx, p.resized(*is, surgeNote{Surge: s.Surge, Size: s.Size})))
	} else {
		err = p.send(ctx, model.Resize(model.Read(*is), p.withGuests(s.Size), nil))
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.growFailed = time.Time{}
	}
	return err
}

// members are those of the targets that are there and not on their way out, by the name that Azure has for them.
func (p *pass) members(targets []pool.InstanceRef) []machine {
	var list []machine
	for _, t := range targets {
		for _, m := range p.memory.set.machines {
			if m.id == t.ID && m.state() != pool.Terminating {
				list = append(list, m)
			}
		}
	}
	return list
}

func idsOf(list []machine) []*string {
	ids := make([]*string, 0, len(list))
	for _, m := range list {
		ids = append(ids, new(m.id))
	}
	return ids
}

// remove deletes exactly the chosen machines, in one request. Azure lowers the capacity by their number.
func (p *pass) remove(ctx context.Context, s pool.Step) error {
	chosen := p.members(s.Targets)
	if len(chosen) == 0 {
		return nil
	}
	if note, is := p.surgeNow(), p.memory.set.is; note.Surge > 0 && size(p.memory.set) > note.Size {
		// The scale set was made larger since: the surge is counted from the present size, so that this removal uses it up.
		note.Size = size(p.memory.set)
		return p.account(p.send(ctx, p.resized(*is, note)))
	}
	p.removes(chosen)
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginDeleteInstances(ctx, p.t.cluster.ResourceGroup, p.t.name,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: idsOf(chosen)}, nil)
	err = begun(p, "DELETE", poller, err)
	if err == nil {
		p.memory.removing(chosen, p.now)
	}
	return session.Vanished(err)
}

// apply has Azure change on machines what it can change there, as the scale set has it by now. In mode Flexible it gives them extensions
// that way; tags it writes to the machines themselves, for nothing documents that they are among what is applied.
func (p *pass) apply(ctx context.Context, s pool.Step) error {
	// Azure refuses to change a machine that is being changed: what it lacks after that is given to it then.
	chosen := slices.DeleteFunc(p.members(s.Targets), func(m machine) bool { return m.provisioning == stateUpdating })
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
	lacking := p.lackingExtensions(want, chosen)
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

// lackingExtensions are the machines of a Flexible scale set that lack extensions and were not given them. A machine's tags tell only
// once they are written; losing the memory of it costs one more request.
func (p *pass) lackingExtensions(want wanted, chosen []machine) []machine {
	return slices.DeleteFunc(slices.Clone(chosen), func(m machine) bool {
		behind := want.against == nil || slices.Contains(m.made(want.against).Behind, model.FieldExtensions)
		return !behind || p.memory.extended[m.id] == want.model.Extensions()
	})
}

// extend gives machines of a Flexible scale set their extensions.
func (p *pass) extend(ctx context.Context, want wanted, chosen []machine) error {
	given := map[string]string{}
	for _, m := range p.memory.set.machines {
		if hash, known := p.memory.extended[m.id]; known {
			given[m.id] = hash
		}
	}
	for _, m := range chosen {
		given[m.id] = want.model.Extensions()
	}
	err := p.upgrade(ctx, chosen)
	if err == nil {
		p.memory.extended = given
	}
	return err
}

// protect keeps Azure from choosing machines when the scale set is made smaller.
func (p *pass) protect(ctx context.Context, s pool.Step) error { return p.setProtection(ctx, s, true) }

// unprotect lets Azure choose machines again.
func (p *pass) unprotect(ctx context.Context, s pool.Step) error {
	return p.setProtection(ctx, s, false)
}

// setProtection protects machines from scale-in, or takes that protection off.
func (p *pass) setProtection(ctx context.Context, s pool.Step, on bool) error {
	is := p.memory.set.is
	for _, m := range p.members(s.Targets) {
		if m.shielded == on {
			continue
		}
		p.memory.touched()
		p.memory.shielded = nil // it may be protected from now on or not, whatever Azure answers
		poller, err := p.c.ScaleSetVMs.BeginUpdate(ctx, p.t.cluster.ResourceGroup, p.t.name, m.id, armcompute.VirtualMachineScaleSetVM{
			Location: is.Location, Tags: m.tags,
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

// deleteGroup deletes the scale set with what is still in it. Azure takes this whatever it is doing to the scale set.
func (p *pass) deleteGroup(ctx context.Context, _ pool.Step) error {
	if p.memory.set.is == nil {
		return nil
	}
	if err := p.noGuests(); err != nil {
		return err
	}
	// Whether the reply comes or not, it may be gone from now on.
	p.memory.made = time.Time{}
	p.memory.touched()
	poller, err := p.c.ScaleSets.BeginDelete(ctx, p.t.cluster.ResourceGroup, p.t.name, &armcompute.VirtualMachineScaleSetsClientBeginDeleteOptions{ForceDeletion: new(false)})
	if err = begun(p, "DELETE", poller, err); session.Absent(err) {
		return nil
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.deleteFailed, p.memory.deleting = time.Time{}, true
	}
	return err
}
