package azure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// pass is one call of Observe or Start for one pool.
type pass struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
	// fresh is true if the scale set was read by a request of this call.
	fresh bool
	// lookups are what was looked up for all pools.
	lookups *cache.Lookups
}

// observe reads what is not known any more and puts it into pool's words.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := p.readNamed(ctx); err != nil {
		return pool.Observed{}, err
	}
	if foreign := p.foreign(); foreign != nil {
		return pool.Observed{OwnershipConflict: foreign, ResolvedLookups: p.t.Remembered, Fresh: p.fresh}, nil
	}
	want, failed := p.want(ctx)
	out := pool.Observed{
		Wanted: want.template, ResolvedLookups: want.remember, ShortNotice: p.spot(), Operations: p.memory.operations, Fresh: p.fresh,
		Capacity: want.capacity,
	}
	if err := p.observeRole(ctx, &out); err != nil {
		return pool.Observed{}, err
	}
	is := p.memory.set.is
	out.Shared = p.shares(is)
	if is == nil {
		if failed != nil {
			return out, &cloud.SpecUnsatisfiableError{Err: failed}
		}
		return out, nil
	}
	if failed != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(failed))
	}
	words := p.t.redactIssues(p.readWords(ctx))
	out.Operations = p.memory.operations
	version := p.version(want)
	out.Versions, out.Group, out.Instances = []pool.Template{version}, p.group(want, version, words), p.instances(want)
	out.ExternalStandby = p.lent()
	out.Issues = p.t.redactIssues(append(out.Issues, unique(toldOnce(words, p.machineIssues()))...))
	out.Issues = append(out.Issues, p.guestIssues()...)
	if refused := p.memory.shieldsRefused; refused != nil {
		out.Issues = append(out.Issues, *refused)
	}
	return out, nil
}

// shares reports whether pools share all reads of a look: those of mode Uniform list the machines of each scale set by itself.
func (p *pass) shares(is *armcompute.VirtualMachineScaleSet) bool {
	if is == nil {
		return p.t.Spec.Pool.OrchestrationMode == azurev1.FlexibleOrchestrationMode
	}
	return flexible(is)
}

// foreign returns why a scale set that has our name, or that the object names, is refused: it lacks our owner tag.
func (p *pass) foreign() *pool.Cause {
	is := p.memory.set.is
	o := driverkit.Ownership{
		Exists: is != nil, Named: p.memory.set.named, GroupID: p.t.GroupID, Tag: model.TagOwner,
		Group: fmt.Sprintf("scale set %s of resource group %s", p.t.name, p.t.cluster.ResourceGroup), Kind: "scale set",
		Rename: "by the annotation muster.dev/group-name",
	}
	if is != nil {
		o.Owned, o.Owner = p.ours(is), model.Read(*is).Owner
	}
	return o.Conflict()
}

// version is the one model that the scale set has.
func (p *pass) version(want wanted) pool.Template {
	current := model.Read(*p.memory.set.is)
	content := current.Content
	if want.against != nil {
		content = want.against.State.Content
	}
	return pool.Template{Ref: model.Ref(content, current.Data), Content: content, Data: current.Data}
}

// group is the scale set in pool's words.
func (p *pass) group(want wanted, version pool.Template, words []pool.Cause) *pool.Group {
	is := p.memory.set.is
	state := stateOf(is)
	g := &pool.Group{
		ID: p.groupID(), TaggedFor: cloud.TaggedFor(func(name string) string { return model.Tag(is.Tags, model.OwnTag(name)) }),
		Size: size(p.memory.set), Surge: p.surge(), Template: version.Ref,
		Deleting: state == stateDeleting, Busy: cmp.Or(busy(state), p.extending(want)), State: state, Created: p.memory.set.created,
		ScaleUpFailedAt: p.memory.growFailed, DeleteFailedAt: p.memory.deleteFailed,
	}
	if !g.DeleteFailedAt.IsZero() {
		g.Failed = &pool.Cause{Reason: "DeleteFailed", Message: "Azure could not delete the scale set"}
		for k, c := range words {
			if k == 0 {
				g.Failed.Reason = c.Reason
			}
			g.Failed.Message += "; " + c.Message
		}
	}
	if !g.Deleting && want.against != nil {
		g.Drift, g.Unchangeable = want.against.State.Drift, want.unchangeable
	}
	if lacking(p.memory.set) && !p.unsettled(p.memory.growFailed) {
		g.UnfulfilledCapacity = capacity(p.memory.set) - g.Size
	}
	g.SurgeRecordStale, g.SurgePlanned = !g.Deleting && p.surgeSpent(), pool.PlannedSurge(p.surgePlanned())
	return g
}

// busy returns what Azure does to the scale set while it takes no other write: it creates or deletes it. While a scale set is being
// changed others of its machines can be removed and changed, and it can be given another size and model. Two writes that reach Azure
// at the same moment conflict; the refused one is retried.
func busy(state string) *pool.Cause {
	switch state {
	case stateCreating:
		return &pool.Cause{Reason: state, Message: "Azure is making the scale set"}
	case stateDeleting:
		return &pool.Cause{Reason: state, Message: "Azure is deleting the scale set"}
	}
	return nil
}

// extending returns what Azure does to machines of a Flexible scale set that are being given extensions: their tags are written once they
// have them, and until then nothing would tell that they were.
func (p *pass) extending(want wanted) *pool.Cause {
	if want.against == nil || !flexible(p.memory.set.is) {
		return nil
	}
	for _, m := range p.memory.set.machines {
		if m.provisioning == stateUpdating && slices.Contains(m.made(want.against).Behind, model.FieldExtensions) {
			return &pool.Cause{Reason: stateUpdating, Message: "Azure is changing the extensions of machines"}
		}
	}
	return nil
}

// capacity is how many machines of its own the scale set was asked to keep.
func capacity(read setRead) int {
	return max(0, model.Read(*read.is).Capacity()-staying(read.guests))
}

// existing is how many machines there are that are not on their way out.
func existing(read setRead) int { return staying(read.machines) }

func staying(list []machine) int {
	n := 0
	for _, m := range list {
		if m.state() != pool.Terminating {
			n++
		}
	}
	return n
}

// lacking reports whether Azure was asked for more machines than there are, and has given that up.
func lacking(read setRead) bool {
	return gaveUp(stateOf(read.is)) && existing(read) < capacity(read)
}

// size is the number of machines that the scale set keeps: what it was asked for, or what is there once Azure has given up bringing
// the rest.
func size(read setRead) int {
	if lacking(read) {
		return existing(read)
	}
	return capacity(read)
}

// unique leaves out what was said before.
func unique(causes []pool.Cause) []pool.Cause {
	var out []pool.Cause
	for _, c := range causes {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}
