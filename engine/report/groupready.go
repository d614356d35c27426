package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// scaling is the reason while the group's size is on its way.
const scaling = "Scaling"

// groupReady reports whether the group exists, is ours, and has the shape and size that the specification asks for.
func groupReady(f facts) *Condition {
	if f.d.Deleting {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, GroupReady)
	}
	if c := groupRefused(f); c != nil {
		return c
	}
	if is := f.o.Unowned; is != nil {
		return &Condition{GroupReady, False, "Adopting", fmt.Sprintf("%s is being adopted", is.Group)}
	}
	if c := missing(f); c != nil {
		return c
	}
	return shape(f, f.o.Group)
}

// groupSteps are the steps whose refusal the condition of the group reports, most important first.
var groupSteps = []pool.StepKind{
	pool.Adopt, pool.CreateGroup, pool.UpdateGroup, pool.Resize, pool.Remove, pool.Replace, pool.EnterStandby, pool.Release, pool.Protect,
	pool.Unprotect, pool.DeleteGroup,
}

// groupRefused is the condition while Muster or the cloud refuses what the specification asks of the group, or the cloud failed to do it.
func groupRefused(f facts) *Condition {
	if refused := f.out.Plan.Refused; refused != nil {
		return &Condition{GroupReady, False, refused.Reason, refused.Message}
	}
	if g := f.o.Group; g != nil && g.Failed != nil {
		return &Condition{GroupReady, False, g.Failed.Reason, g.Failed.Message}
	}
	return refusal(f, GroupReady, groupSteps...)
}

// missing is the condition while there is no group that could have a shape.
func missing(f facts) *Condition {
	g := f.o.Group
	switch {
	case g == nil && cmp.Or(f.d.CreateBlocked, pool.FormerLeft(f.d, f.o)) != nil:
		c := cmp.Or(f.d.CreateBlocked, pool.FormerLeft(f.d, f.o))
		return &Condition{GroupReady, False, c.Reason, c.Message}
	case g == nil && len(f.o.MissingPrerequisites) > 0 && f.t.Prerequisites != "":
		c := needsReady(f)
		return &Condition{GroupReady, c.Status, c.Reason, c.Message}
	case g == nil && templateBlocks(f) != nil:
		c := templateBlocks(f)
		return &Condition{GroupReady, c.Status, c.Reason, c.Message}
	case g == nil:
		return &Condition{GroupReady, False, "GroupMissing", fmt.Sprintf("the %s is being created", f.t.Group)}
	case g.Deleting:
		return &Condition{GroupReady, False, "GroupDeleting", fmt.Sprintf("the %s is being deleted and will be created again", f.t.Group)}
	default:
		return nil
	}
}

// shape compares the group with what the specification asks for.
func shape(f facts, g *pool.Group) *Condition {
	if c := trouble(f, g); c != nil {
		return c
	}
	switch {
	case len(f.o.Unresolved) > 0:
		return unresolved(f.o.Unresolved[0])
	case len(g.Drift) > 0:
		return &Condition{GroupReady, False, "GroupChanged", fmt.Sprintf("the %s differs in %s", f.t.Group, strings.Join(g.Drift, ", "))}
	case unpointed(f):
		return &Condition{GroupReady, False, "TemplateOutOfDate", fmt.Sprintf("the %s launches from %s, the newest is %s", f.t.Group, g.Template,
			f.o.Latest().Ref)}
	case g.Size < f.counts.Desired && starved(f) != nil:
		return starved(f)
	case g.Size != f.counts.Desired && !surges(f):
		return &Condition{GroupReady, False, scaling, fmt.Sprintf("the %s has a size of %d, the pool wants %d", f.t.Group, g.Size,
			f.counts.Desired)}
	case g.Deferred != nil:
		return &Condition{GroupReady, False, g.Deferred.Reason, g.Deferred.Message}
	case g.Size > f.d.MaxReplicas():
		return &Condition{GroupReady, False, "MaxSizePending", fmt.Sprintf("%s is lowered to %d when the size of the %s (%d) allows it",
			f.d.MaxField, f.d.Max, f.t.Group, g.Size)}
	default:
		return &Condition{GroupReady, True, "UpToDate", fmt.Sprintf("the %s is what the specification asks for", f.t.Group)}
	}
}

// unresolved is the condition while a part of the specification was not compared with the group: False if it can't be followed, Unknown if
// the cloud did not answer what it means.
func unresolved(c pool.Cause) *Condition {
	if c.Reason == string(cloud.Invalid) {
		return &Condition{GroupReady, False, c.Reason, c.Message}
	}
	return &Condition{GroupReady, Unknown, c.Reason, c.Message}
}

// starved says, with the cloud's words, that it could not bring all machines that the group was asked for.
func starved(f facts) *Condition {
	const failed = "ScaleUpFailed"
	if !slices.ContainsFunc(f.out.Plan.Waiting, func(c pool.Cause) bool { return c.Reason == failed }) {
		return nil
	}
	c := &Condition{GroupReady, False, failed, fmt.Sprintf("the %s has a size of %d, the pool wants %d, and the cloud could not bring more",
		f.t.Group, f.o.Group.Size, f.counts.Desired)}
	if len(f.o.Issues) > 0 {
		c.Reason = f.o.Issues[0].Reason
		c.Message += ": " + f.o.Issues[0].Message
	}
	return c
}

// trouble returns the condition of a group that cannot get its specified fields or size, for a while or for good. A rollout is reported
// with the machines.
func trouble(f facts, g *pool.Group) *Condition {
	switch {
	case len(g.Unchangeable) > 0:
		return &Condition{GroupReady, False, "GroupUnchangeable",
			fmt.Sprintf("the %s differs in %s, which can't be changed on one that exists: change the specification back, or create another pool%s",
				f.t.Group, strings.Join(g.Unchangeable, ", "), caveats(f))}
	case g.Busy != nil && !f.o.ProviderRollout.Runs():
		return &Condition{GroupReady, False, g.Busy.Reason, g.Busy.Message}
	}
	return nil
}

// caveats returns the warnings about changes that the cloud may refuse or has refused.
func caveats(f facts) string {
	text := ""
	for _, caveat := range f.o.Caveats {
		text += "; " + caveat.Message
	}
	return text
}

// surges reports whether what the group has more than the pool wants was added for a rollout.
func surges(f facts) bool {
	surplus := f.out.Plan.Budget.Surplus > 0 && !f.o.ProviderRollout.Runs()
	if f.o.Group == nil || f.t.SupportsStandby || f.out.Plan.Rollout.State == pool.RolloutDone || surplus {
		return false
	}
	more := f.o.Group.Size - f.counts.Desired
	return more > 0 && more <= f.out.Plan.Budget.MaxSurge
}
