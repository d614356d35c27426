package azure

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
)

// read reads the scale set with its machines, unless what was read is as new as the pass wants.
func (p *pass) read(ctx context.Context) error {
	if p.memory.asRead(p.now, p.t.MaxAge) {
		return nil
	}
	return p.readAgain(ctx)
}

// readAgain reads the scale set with its machines. The scale set may come from an older read that pools share if nothing has changed since
// the last look, in it or in its machines; whatever is new is judged by a read of this pass.
func (p *pass) readAgain(ctx context.Context) error {
	last := p.memory.set
	p.memory.set = setRead{}
	read, err := p.readSet(ctx, p.t.MaxAge)
	if err == nil && read.at.Before(p.now) && !read.same(last) {
		read, err = p.readSet(ctx, 0)
	}
	if err != nil {
		return err
	}
	p.fresh = !read.at.Before(p.now)
	if read.is == nil {
		return p.readNone(read.at)
	}
	p.memory.set = read
	p.note(read)
	return nil
}

// readSet reads the scale set, no older than maxAge, and its machines, in one request each.
func (p *pass) readSet(ctx context.Context, maxAge time.Duration) (setRead, error) {
	set, at, err := p.c.Set(ctx, p.t.cluster.ResourceGroup, p.t.name, maxAge)
	if err != nil {
		return setRead{}, err
	}
	read := setRead{is: set.Is, at: at}
	if set.Is == nil || !p.ours(set.Is) {
		return read, nil
	}
	if set.Is.Properties != nil {
		read.created = ourTime(set.Is.Properties.TimeCreated, set.Skew)
	}
	all, err := p.readMachines(ctx, set.Is, set.Skew)
	if err != nil {
		return setRead{}, err
	}
	read.machines, read.guests = p.parted(p.memory.seen(all, p.now))
	return read, p.readShields(ctx, set.Is, read.machines)
}

// same reports whether a look shows what the last one has shown.
func (r setRead) same(last setRead) bool {
	return r.is != nil && last.is != nil && (r.is == last.is || reflect.DeepEqual(r.is, last.is)) &&
		slices.EqualFunc(r.machines, last.machines, machine.same) && slices.EqualFunc(r.guests, last.guests, machine.same)
}

// readNone notes that there is no scale set, unless one was made a moment ago: to believe it would make it twice, or let the object
// of one go that is there.
func (p *pass) readNone(at time.Time) error {
	if p.now.Sub(p.memory.made) < visibleWithin {
		return &cloud.Error{Kind: cloud.Conflict, Code: "GroupNotShown", Message: fmt.Sprintf(
			"scale set %s was made a moment ago and is not shown yet", p.t.name)}
	}
	p.memory.set = setRead{at: at}
	p.memory.operations, p.memory.shielded, p.memory.shieldsRefused, p.memory.extended = nil, nil, nil, nil
	p.memory.growFailed, p.memory.deleteFailed = time.Time{}, time.Time{}
	p.memory.deleting = false
	return nil
}

// readNamed reads the scale set that the object names, where that is another than ours and ours does not exist: another tool may have
// managed the pool before.
func (p *pass) readNamed(ctx context.Context) error {
	id := p.t.GroupID
	subscription, group := azurev1.SegmentOf(id, "subscriptions"), azurev1.SegmentOf(id, "resourceGroups")
	name := azurev1.SegmentOf(id, "virtualMachineScaleSets")
	set := &p.memory.set
	if set.is != nil || name == "" || set.named.id == id || strings.EqualFold(id, p.groupID()) {
		return nil
	}
	label := fmt.Sprintf("scale set %s of resource group %s", name, group)
	if !strings.EqualFold(subscription, p.t.cluster.SubscriptionID) {
		set.named = namedGroup{id, cloud.NamedElsewhere(label, "it is in subscription "+subscription)}
		return nil
	}
	found, err := p.c.ScaleSets.Get(ctx, group, name, nil)
	if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
		return err
	}
	set.named = namedGroup{id: id}
	if err == nil && !p.ours(&found.VirtualMachineScaleSet) {
		owner := quoted(model.Read(found.VirtualMachineScaleSet).Owner)
		set.named.foreign = cloud.NamedElsewhere(label, fmt.Sprintf("its tag %s is %s", model.TagOwner, owner))
	}
	return nil
}

// readMachines lists the machines with their instance views.
func (p *pass) readMachines(ctx context.Context, is *armcompute.VirtualMachineScaleSet, skew time.Duration) ([]machine, error) {
	if flexible(is) {
		return p.readFlexible(ctx, skew)
	}
	pager := p.c.ScaleSetVMs.NewListPager(p.t.cluster.ResourceGroup, p.t.name, &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: new("instanceView")})
	list, err := session.Listed(ctx, pager, func(page armcompute.VirtualMachineScaleSetVMsClientListResponse) []*armcompute.VirtualMachineScaleSetVM {
		return page.Value
	}, p.now)
	if err != nil {
		return nil, notShown(err)
	}
	machines := make([]machine, 0, len(list))
	for _, vm := range list {
		machines = append(machines, uniformMachine(vm, skew))
	}
	return machines, nil
}

// readFlexible lists the virtual machines of a Flexible scale set: those are resources of their own, and their list alone shows
// them whole.
func (p *pass) readFlexible(ctx context.Context, skew time.Duration) ([]machine, error) {
	pager := p.c.VMs.NewListPager(p.t.cluster.ResourceGroup, &armcompute.VirtualMachinesClientListOptions{
		Filter: new("'virtualMachineScaleSet/id' eq '" + p.set() + "'"), Expand: new(armcompute.ExpandTypeForListVMsInstanceView),
	})
	list, err := session.Listed(ctx, pager, func(page armcompute.VirtualMachinesClientListResponse) []*armcompute.VirtualMachine {
		return page.Value
	}, p.now)
	if err != nil {
		return nil, notShown(err)
	}
	machines := make([]machine, 0, len(list))
	for _, vm := range list {
		machines = append(machines, flexibleMachine(vm, skew))
	}
	return machines, nil
}

// notShown makes of a list that is not there a reason to look again: its scale set was there a moment ago.
func notShown(err error) error {
	if !session.Absent(err) {
		return err
	}
	return &cloud.Error{Kind: cloud.Conflict, Op: opOf(err), Code: cloud.CodeOf(err), Message: "the scale set went while its machines were read"}
}

// readShields reads which machines of a Flexible scale set are protected, now and then: their own list does not show it. Those that
// came since are not.
func (p *pass) readShields(ctx context.Context, is *armcompute.VirtualMachineScaleSet, machines []machine) error {
	if !flexible(is) {
		return nil
	}
	if len(machines) == 0 {
		p.memory.shieldsRefused = nil
	} else if p.memory.shieldsDue(p.now) {
		err := p.listShields(ctx)
		if err != nil && cloud.KindOf(err) == cloud.Denied {
			p.memory.shielded, p.memory.shieldedAt, p.memory.shieldsRefused = nil, p.now, new(causeOf(err))
		} else if err != nil {
			return notShown(err)
		}
	}
	for k := range machines {
		machines[k].shielded = p.memory.shielded[machines[k].id]
		machines[k].shieldUnknown = p.memory.shieldsRefused != nil
	}
	return nil
}

// listShields lists which machines are protected.
func (p *pass) listShields(ctx context.Context) error {
	pager := p.c.ScaleSetVMs.NewListPager(p.t.cluster.ResourceGroup, p.t.name, nil)
	list, err := session.Listed(ctx, pager, func(page armcompute.VirtualMachineScaleSetVMsClientListResponse) []*armcompute.VirtualMachineScaleSetVM {
		return page.Value
	}, p.now)
	if err != nil {
		return err
	}
	p.memory.shielded, p.memory.shieldedAt, p.memory.shieldsRefused = map[string]bool{}, p.now, nil
	for _, vm := range list {
		if guarded(vm) {
			p.memory.shielded[idOf(vm)] = true
		}
	}
	return nil
}

// note keeps what a look tells about our own operations: when they were given up, and that they are over.
func (p *pass) note(read setRead) {
	p.memory.made = time.Time{}
	if !p.memory.adopted {
		p.memory.adopted = true
		p.memory.operations = append(slices.Clone(p.t.Operations), p.memory.operations...)
	}
	switch state := stateOf(read.is); {
	case state == stateSucceeded:
		if p.now.Sub(p.memory.begun) >= visibleWithin {
			p.memory.operations, p.memory.deleting = nil, false
		}
		p.memory.growFailed, p.memory.deleteFailed = time.Time{}, time.Time{}
	case gaveUp(state):
		p.memory.growFailed = since(p.memory.growFailed, p.now, lacking(read))
		p.memory.deleteFailed = since(p.memory.deleteFailed, p.now, p.memory.deleting)
	}
}

// since is when something was first seen that is so now; zero when it is not.
func since(before, now time.Time, is bool) time.Time {
	switch {
	case !is:
		return time.Time{}
	case before.IsZero():
		return now
	default:
		return before
	}
}

// ours says whether the scale set carries our owner tag.
func (p *pass) ours(is *armcompute.VirtualMachineScaleSet) bool {
	return model.Read(*is).Owner == p.t.Owner.ID
}

// flexible says how the scale set that is there keeps its machines, whatever the specification says now.
func flexible(is *armcompute.VirtualMachineScaleSet) bool {
	return is.Properties != nil && is.Properties.OrchestrationMode != nil &&
		strings.EqualFold(string(*is.Properties.OrchestrationMode), string(armcompute.OrchestrationModeFlexible))
}
