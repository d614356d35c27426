package azure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

// read reads the scale set with its machines, unless the last read is new enough for the pass.
func (r *reader) read(ctx context.Context) error {
	if driverkit.Reusable(r.memory.set.oldest(), r.now, r.t.Cache.MaxAge) {
		return nil
	}
	return r.readAgain(ctx)
}

// readAgain reads the scale set with its machines. Both may come from older reads that pools share. What removes machines does not rest on
// those: the engine observes with a MaxAge of zero before it.
func (r *reader) readAgain(ctx context.Context) error {
	from := r.setReader()
	r.memory.set = setRead{}
	read, err := from.set(ctx, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	r.fresh = !read.oldest().Before(r.now)
	if read.is == nil {
		return r.memory.forgetSet(read.at, r.now, r.t.name)
	}
	if err = r.memory.protection.read(ctx, from, read); err != nil {
		return err
	}
	r.memory.set, r.memory.made = read, time.Time{}
	r.memory.operations.observe(read, r.t.Operations, r.now)
	return nil
}

// readNamed reads the scale set that the object names, if that is not the pool's own and the pool's own does not exist: another tool may
// have managed the pool before.
func (r *reader) readNamed(ctx context.Context) error {
	id := r.t.GroupID
	subscription, group := azurev1.SegmentOf(id, "subscriptions"), azurev1.SegmentOf(id, "resourceGroups")
	name := azurev1.SegmentOf(id, "virtualMachineScaleSets")
	set := &r.memory.set
	if set.is != nil || name == "" || set.named.ID == id || strings.EqualFold(id, r.t.groupID()) {
		return nil
	}
	label := fmt.Sprintf("scale set %s of resource group %s", name, group)
	if !strings.EqualFold(subscription, r.t.cluster.SubscriptionID) {
		set.named = driverkit.NamedGroup{ID: id, Conflict: cloud.NamedElsewhere(label, "it is in subscription "+subscription)}
		return nil
	}
	found, err := r.c.ScaleSets.Get(ctx, group, name, nil)
	if err = session.Refusal(err, r.now); err != nil && !session.Absent(err) {
		return err
	}
	set.named = driverkit.NamedGroup{ID: id}
	if err == nil && !r.t.owns(&found.VirtualMachineScaleSet) {
		set.named.Conflict = driverkit.NamedConflict(label, name, r.t.claim(found.Tags))
	}
	return nil
}

// setReader reads a pool's scale set from Azure. It does not decide what is kept of that: of the memory it uses only the number of pages
// that a list is expected to have, and the machines that were removed.
type setReader struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
}

// setReader returns the reader of the scale set.
func (r *reader) setReader() setReader {
	return setReader{c: r.c, t: r.t, now: r.now, memory: r.memory}
}

// maxListLag is the maximum age difference between the scale set and a shared list of its machines.
const maxListLag = time.Second

// set reads the scale set and its machines, no older than maxAge.
func (r setReader) set(ctx context.Context, maxAge time.Duration) (setRead, error) {
	set, at, err := r.c.Set(ctx, r.t.cluster.ResourceGroup, r.t.name, maxAge)
	if err != nil {
		return setRead{}, err
	}
	read := setRead{is: set.Is, at: at, skew: set.Skew}
	if set.Is == nil {
		return read, nil
	}
	if set.Is.Properties != nil {
		read.created = session.OurTime(set.Is.Properties.TimeCreated, set.Skew)
	}
	if !r.t.owns(set.Is) {
		return read, nil
	}
	all, at, err := r.machines(ctx, read, maxAge)
	if err == nil && maxAge > 0 && at.Before(read.at.Add(-maxListLag)) {
		// What the scale set has more than the older list shows would count as missing.
		all, at, err = r.machines(ctx, read, max(r.now.Sub(read.at), 1))
	}
	if err != nil {
		return setRead{}, err
	}
	read.machines, read.attached = r.t.separate(r.memory.seen(all, at))
	read.machinesAt = at
	return read, nil
}

// machines lists the machines with their instance views, and returns when the list was begun. Those of mode Uniform have one list for
// each scale set, which is always read anew.
func (r setReader) machines(ctx context.Context, of setRead, maxAge time.Duration) ([]machine, time.Time, error) {
	if flexible(of.is) {
		return r.flexibleMachines(ctx, maxAge)
	}
	ctx, pages := wire.Paged(ctx, r.memory.pages)
	list, err := r.listMachines(ctx, &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: new("instanceView")})
	if err != nil {
		return nil, time.Time{}, notShown(err)
	}
	r.memory.pages = pages.Sent()
	machines := make([]machine, 0, len(list))
	for _, vm := range list {
		machines = append(machines, uniformMachine(vm, of.skew))
	}
	return machines, r.now, nil
}

// flexibleMachines returns the virtual machines of a Flexible scale set. Those are resources of their own, and only their own list shows
// all fields.
func (r setReader) flexibleMachines(ctx context.Context, maxAge time.Duration) ([]machine, time.Time, error) {
	read, at, err := r.c.Machines(ctx, r.t.cluster.ResourceGroup, r.t.name, maxAge)
	if err != nil {
		return nil, time.Time{}, notShown(err)
	}
	machines := make([]machine, 0, len(read.List))
	for _, vm := range read.List {
		machines = append(machines, flexibleMachine(vm, read.Skew))
	}
	return machines, at, nil
}

// listMachines lists the machines of the scale set as Azure shows those of mode Uniform.
func (r setReader) listMachines(
	ctx context.Context, options *armcompute.VirtualMachineScaleSetVMsClientListOptions,
) ([]*armcompute.VirtualMachineScaleSetVM, error) {
	pager := r.c.ScaleSetVMs.NewListPager(r.t.cluster.ResourceGroup, r.t.name, options)
	type page = armcompute.VirtualMachineScaleSetVMsClientListResponse
	return session.Listed(ctx, pager, func(p page) []*armcompute.VirtualMachineScaleSetVM { return p.Value }, r.now)
}

// tags returns those that a machine has now: a write replaces them all, and the list of the machines of Flexible scale sets is one that
// pools share.
func (r setReader) tags(ctx context.Context, m machine) (map[string]*string, error) {
	if m.flexible == nil {
		return m.tags, nil
	}
	vm, err := r.c.VMs.Get(ctx, r.t.cluster.ResourceGroup, m.id, nil)
	return vm.Tags, session.Vanished(session.Refusal(err, r.now))
}

// viewIssues returns the issues in the scale set's instance view, which Flexible ones do not have. It is false if the view could not be
// read.
func (r setReader) viewIssues(ctx context.Context, is *armcompute.VirtualMachineScaleSet) ([]pool.Cause, bool) {
	if flexible(is) {
		return nil, true
	}
	view, err := r.c.ScaleSets.GetInstanceView(ctx, r.t.cluster.ResourceGroup, r.t.name, nil)
	if err = session.Refusal(err, r.now); err != nil {
		return []pool.Cause{driverkit.CauseOf(err)}, false
	}
	var issues []pool.Cause
	for _, status := range view.Statuses {
		if cause, ok := session.StatusIssue(status); ok {
			issues = append(issues, cause)
		}
	}
	return issues, true
}

// notShown turns the error of a list that does not exist into a conflict, which has everything read again: its scale set existed when it
// was read.
func notShown(err error) error {
	if !session.Absent(err) {
		return err
	}
	return &cloud.Error{
		Kind: cloud.Conflict, Op: cloud.OpOf(err), Code: cloud.CodeOf(err), Message: "the scale set went while its machines were read",
	}
}
