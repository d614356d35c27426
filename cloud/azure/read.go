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
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
)

// read reads the scale set with its machines, unless what was read is as new as the pass wants.
func (p *pass) read(ctx context.Context) error {
	if p.memory.asRead(p.now, p.t.MaxAge) {
		return nil
	}
	return p.readAgain(ctx)
}

// recent is the age up to which an answer that pools share counts whatever it shows. An older one counts only if it shows what the last
// look has shown.
const recent = time.Second

// readAgain reads the scale set with its machines. Both may come from older reads that pools share; what is both older and different is
// read again for this pass. No step rests on it: the engine looks with a MaxAge of zero before one.
func (p *pass) readAgain(ctx context.Context) error {
	last := p.memory.set
	p.memory.set = setRead{}
	read, err := p.readSet(ctx, p.t.MaxAge)
	if err == nil && read.oldest().Before(p.now.Add(-recent)) && !read.same(last) {
		read, err = p.readDiffering(ctx, read)
	}
	if err != nil {
		return err
	}
	p.fresh = !read.oldest().Before(p.now)
	if read.is == nil {
		return p.readNone(read.at)
	}
	if err = p.readShields(ctx, read); err != nil {
		return err
	}
	p.memory.set = read
	p.note(read)
	return nil
}

// readDiffering reads again what an older answer of reads that pools share shows differently from the last look.
func (p *pass) readDiffering(ctx context.Context, old setRead) (setRead, error) {
	read := old
	if old.at.Before(p.now) {
		var err error
		if read, err = p.readSetAlone(ctx, 0); err != nil {
			return setRead{}, err
		}
	}
	if read.is == nil || !p.ours(read.is) {
		return read, nil
	}
	if old.is == nil || flexible(old.is) != flexible(read.is) || old.machinesAt.Before(p.now) {
		return p.readMembers(ctx, read, 0)
	}
	read.machines, read.guests, read.machinesAt = old.machines, old.guests, old.machinesAt
	return read, nil
}

// readSet reads the scale set and its machines, no older than maxAge.
func (p *pass) readSet(ctx context.Context, maxAge time.Duration) (setRead, error) {
	read, err := p.readSetAlone(ctx, maxAge)
	if err != nil || read.is == nil || !p.ours(read.is) {
		return read, err
	}
	return p.readMembers(ctx, read, maxAge)
}

// readSetAlone reads the scale set, no older than maxAge.
func (p *pass) readSetAlone(ctx context.Context, maxAge time.Duration) (setRead, error) {
	set, at, err := p.c.Set(ctx, p.t.cluster.ResourceGroup, p.t.name, maxAge)
	if err != nil {
		return setRead{}, err
	}
	read := setRead{is: set.Is, at: at, skew: set.Skew}
	if set.Is != nil && set.Is.Properties != nil {
		read.created = ourTime(set.Is.Properties.TimeCreated, set.Skew)
	}
	return read, nil
}

// readMembers reads the machines of a scale set, no older than maxAge.
func (p *pass) readMembers(ctx context.Context, read setRead, maxAge time.Duration) (setRead, error) {
	all, at, err := p.readMachines(ctx, read, maxAge)
	if err != nil {
		return setRead{}, err
	}
	read.machines, read.guests = p.parted(p.memory.seen(all, at))
	read.machinesAt = at
	return read, nil
}

// oldest returns when the older of the reads began of which a look consists.
func (r setRead) oldest() time.Time {
	if r.machinesAt.IsZero() || r.at.Before(r.machinesAt) {
		return r.at
	}
	return r.machinesAt
}

// same reports whether a look shows what the last one has shown.
func (r setRead) same(last setRead) bool {
	return r.is != nil && last.is != nil && sameSet(r.is, last.is) &&
		slices.EqualFunc(r.machines, last.machines, machine.same) && slices.EqualFunc(r.guests, last.guests, machine.same)
}

// sameSet reports whether two reads show a scale set alike. A list and a single read may write the ID in another case, and only one of them
// may have an ETag; two equal ETags are those of one version.
func sameSet(a, b *armcompute.VirtualMachineScaleSet) bool {
	switch {
	case a == b:
		return true
	case stateOf(a) != stateOf(b):
		return false
	case a.Etag != nil && b.Etag != nil:
		return *a.Etag == *b.Etag
	}
	one, other := *a, *b
	one.ID, other.ID, one.Etag, other.Etag = nil, nil, nil, nil
	return reflect.DeepEqual(one, other)
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
	if set.is != nil || name == "" || set.named.ID == id || strings.EqualFold(id, p.groupID()) {
		return nil
	}
	label := fmt.Sprintf("scale set %s of resource group %s", name, group)
	if !strings.EqualFold(subscription, p.t.cluster.SubscriptionID) {
		set.named = driverkit.NamedGroup{ID: id, Conflict: cloud.NamedElsewhere(label, "it is in subscription "+subscription)}
		return nil
	}
	found, err := p.c.ScaleSets.Get(ctx, group, name, nil)
	if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
		return err
	}
	set.named = driverkit.NamedGroup{ID: id}
	if err == nil && !p.ours(&found.VirtualMachineScaleSet) {
		owner := driverkit.QuoteTag(model.Read(found.VirtualMachineScaleSet).Owner)
		set.named.Conflict = cloud.NamedElsewhere(label, fmt.Sprintf("its tag %s is %s", model.TagOwner, owner))
	}
	return nil
}

// readMachines lists the machines with their instance views, and returns when the list was begun. Those of mode Uniform have one list for
// each scale set, which is always read anew.
func (p *pass) readMachines(ctx context.Context, of setRead, maxAge time.Duration) ([]machine, time.Time, error) {
	if flexible(of.is) {
		return p.readFlexible(ctx, maxAge)
	}
	pager := p.c.ScaleSetVMs.NewListPager(p.t.cluster.ResourceGroup, p.t.name, &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: new("instanceView")})
	ctx, pages := wire.Paged(ctx, p.memory.pages)
	list, err := session.Listed(ctx, pager, func(page armcompute.VirtualMachineScaleSetVMsClientListResponse) []*armcompute.VirtualMachineScaleSetVM {
		return page.Value
	}, p.now)
	if err != nil {
		return nil, time.Time{}, notShown(err)
	}
	p.memory.pages = pages.Sent()
	machines := make([]machine, 0, len(list))
	for _, vm := range list {
		machines = append(machines, uniformMachine(vm, of.skew))
	}
	return machines, p.now, nil
}

// readFlexible returns the virtual machines of a Flexible scale set: those are resources of their own, and their list alone shows
// them whole.
func (p *pass) readFlexible(ctx context.Context, maxAge time.Duration) ([]machine, time.Time, error) {
	read, at, err := p.c.Machines(ctx, p.t.cluster.ResourceGroup, p.t.name, maxAge)
	if err != nil {
		return nil, time.Time{}, notShown(err)
	}
	machines := make([]machine, 0, len(read.List))
	for _, vm := range read.List {
		machines = append(machines, flexibleMachine(vm, read.Skew))
	}
	return machines, at, nil
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
func (p *pass) readShields(ctx context.Context, read setRead) error {
	machines := read.machines
	if !p.ours(read.is) || !flexible(read.is) {
		return nil
	}
	if len(machines) == 0 {
		p.memory.shieldsRefused = nil
	} else if p.memory.shieldsDue(p.now) {
		err := p.listShields(ctx)
		if err != nil && cloud.KindOf(err) == cloud.Denied {
			p.memory.shielded, p.memory.shieldedAt, p.memory.shieldsRefused = nil, p.now, new(driverkit.CauseOf(err))
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

// ours reports whether the scale set carries our owner tag.
func (p *pass) ours(is *armcompute.VirtualMachineScaleSet) bool {
	return model.Read(*is).Owner == p.t.Owner.ID
}

// flexible says how the scale set that is there keeps its machines, whatever the specification says now.
func flexible(is *armcompute.VirtualMachineScaleSet) bool {
	return is.Properties != nil && is.Properties.OrchestrationMode != nil &&
		strings.EqualFold(string(*is.Properties.OrchestrationMode), string(armcompute.OrchestrationModeFlexible))
}
