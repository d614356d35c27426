package report

import (
	"cmp"
	"errors"
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// facts are the inputs of all conditions of one report.
type facts struct {
	d      pool.Desired
	out    engine.Outcome
	o      pool.Observed
	t      pool.Traits
	counts Counts
}

// Build returns what a pass means. The outcome is zero but for RequeueAfter when the cloud could not be read; CreateBlocked is then all
// there is to report.
func Build(d pool.Desired, out engine.Outcome, t pool.Traits) Report {
	f := facts{d: d, out: out, o: out.Observed, t: t}
	f.counts = count(f)
	r := Report{Counts: f.counts, Seen: out.Seen, Events: happened(f)}
	for _, check := range []func(facts) *Condition{templateReady, needsReady, groupReady, instancesReady, upToDate, draining, deleting,
		ready} {
		if c := check(f); c != nil {
			r.Conditions = append(r.Conditions, *c)
		}
	}
	r.State = state(f)
	if !out.Seen {
		return r
	}
	r.Template = f.o.Latest().Ref
	r.ResolvedLookups, r.Operations, r.Capacity = f.o.ResolvedLookups, f.o.Operations, f.o.Capacity
	r.Instances, r.ProviderIDs = rows(f.o)
	if f.o.Group != nil {
		r.Provisioned = true
		r.GroupID = f.o.Group.ID
		size := f.o.Group.Size - f.o.Group.Surge
		r.Size = &size
	}
	return r
}

// count counts what was observed. What can't be known stays nil.
func count(f facts) Counts {
	c := Counts{Desired: f.d.Replicas}
	if f.d.Deleting {
		c.Desired = 0
	}
	if !f.out.Seen {
		return c
	}
	if f.d.ReplicasManagedExternally && f.o.Group != nil && !f.d.Deleting {
		c.Desired = max(0, f.o.Group.Size-f.o.Group.Surge)
	}
	current, ready, upToDate := tally(f.t, f.o)
	c.Current = &current
	if !f.o.NodesUnknown {
		c.Ready = &ready
	}
	if f.o.Wanted.Content != "" {
		c.UpToDate = &upToDate
	}
	return c
}

// tally counts the instances that are not on their way out, those of them whose nodes are Ready, and those that were
// launched from the wanted template.
func tally(t pool.Traits, o pool.Observed) (current, ready, upToDate int) {
	for _, i := range o.Instances {
		if i.State == pool.Terminating {
			continue
		}
		current++
		if t.Runs(i) && i.Node != nil && i.Node.Ready {
			ready++
		}
		if i.Template.Same(o.Wanted) {
			upToDate++
		}
	}
	return current, ready, upToDate
}

// listed reports whether an instance still counts as a machine of the pool. One that a lifecycle hook of Muster holds does: its Node would
// be deleted while it is drained otherwise. So does one whose removal the cloud may have ignored, and one that the cloud reports as failed
// while its Node is Ready, or may be: it runs, and is drained before it goes.
func listed(o pool.Observed, i pool.Instance) bool {
	switch i.State {
	case pool.Terminating:
		return i.LifecycleHook != nil || i.RemovalAssumed
	case pool.Failed:
		return o.NodesUnknown || i.Node != nil && i.Node.Ready
	default:
		return true
	}
}

// rows lists the instances, and the provider IDs of those that are or will be of use, those beside them included: the Node of an instance
// that is not listed would be deleted once it is not Ready. They are ordered by their IDs, which are all that is always known of them: two
// managers, one of which is denied the moment of their creation, would write the lists of each other back for ever.
func rows(o pool.Observed) (list []Instance, ids []string) {
	for _, i := range o.Instances {
		row := Instance{ID: i.ID, ProviderID: i.ProviderID, Zone: i.Zone, State: i.State, Template: i.Template.Ref}
		if i.Node != nil {
			row.Node, row.Ready, row.Version = i.Node.Name, i.Node.Ready, i.Node.KubeletVersion
		}
		list = append(list, row)
		if listed(o, i) {
			ids = append(ids, i.ProviderID)
		}
	}
	for _, i := range o.Beside {
		ids = append(ids, i.ProviderID)
	}
	slices.SortFunc(list, func(a, b Instance) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(ids)
	return list, ids
}

// ProviderIDs are those that a report of the observation lists.
func ProviderIDs(o pool.Observed) []string {
	_, ids := rows(o)
	return ids
}

// state is the pool in one word.
func state(f facts) State {
	switch {
	case f.d.Deleting:
		return StateDeleting
	case stalled(f):
		return StateError
	case !f.out.Seen || f.o.Group == nil && f.d.CreateBlocked != nil:
		return StateWaiting
	case f.o.Group == nil:
		return StateCreating
	default:
		return working(f)
	}
}

// working is the state of a pool whose group is there.
func working(f facts) State {
	switch {
	case rolls(f):
		return StateUpdating
	case scales(f):
		return StateScaling
	case behind(f):
		return StateUpdating
	case f.counts.Ready != nil && *f.counts.Ready < f.counts.Desired:
		return StateUnhealthy
	default:
		return StateRunning
	}
}

// rolls reports whether machines are being replaced, or will be again after a roll that failed, and that nothing else happens to
// their number.
func rolls(f facts) bool {
	right := f.o.Group.Size == f.counts.Desired || surges(f)
	r := f.out.Plan.Rollout
	return right && (r.State == pool.RolloutInProgress || r.State == pool.RolloutWaiting && r.Cause.Reason == rolloutFailed)
}

// stalled reports whether something does not go on by itself.
func stalled(f facts) bool {
	failed := f.o.Group != nil && (f.o.Group.Failed != nil || len(f.o.Group.Unchangeable) > 0)
	return f.out.Plan.Rollout.State == pool.RolloutHalted || f.out.Err != nil || f.out.Plan.Refused != nil || refuses(f) || unmet(f) || failed
}

// refuses reports whether a step is refused and does not go on by itself.
func refuses(f facts) bool {
	for kind, err := range f.out.Refused {
		if lasting(kind, err) {
			return true
		}
	}
	return false
}

// lasting reports whether a refusal of a step does not end by itself: the cloud does not only want it later or while nothing else goes on,
// and it matters.
func lasting(kind pool.StepKind, err error) bool {
	var conflict *engine.ConflictError
	switch harmless := kind == pool.DefaultTemplate || kind == pool.PruneTemplates; {
	case err == nil, ineffective(err) && harmless, errors.As(err, &conflict):
		return false
	}
	return cloud.KindOf(err) != cloud.Throttled && cloud.KindOf(err) != cloud.Conflict
}

// unmet reports whether the spec can't be satisfied for a reason in the cloud, such as a missing image.
func unmet(f facts) bool {
	return f.out.Seen && f.o.Wanted.Content == "" && f.d.CreateBlocked == nil && len(f.o.Issues) > 0
}

// scales reports whether there are not yet as many machines as are wanted, or that some come or go.
func scales(f facts) bool {
	return *f.counts.Current != f.counts.Desired || f.o.Group.Size != f.counts.Desired || coming(f.t, f.o)
}

// coming reports whether machines are on their way in or out, or have not joined yet.
func coming(t pool.Traits, o pool.Observed) bool {
	for _, i := range o.Instances {
		if !t.Runs(i) || i.Node == nil && !o.NodesUnknown || i.Node != nil && i.Node.Joining() {
			return true
		}
	}
	return false
}

// behind reports whether the template, the group or what it needs is not what the specification asks for, or is about to be.
func behind(f facts) bool {
	g := f.o.Group
	return lacks(f) != "" || len(f.out.Plan.InPlace) > 0 || len(f.o.MissingPrerequisites) > 0 || unpointed(f) || len(g.Drift) > 0 ||
		g.Busy != nil
}

// unpointed reports whether the group launches other machines than the newest template makes. A version that differs in bootstrap
// data alone launches the same ones. Where a roll alone points the group to a template, the machines that it launches are all that counts.
func unpointed(f facts) bool {
	latest := f.o.Latest()
	return !f.t.RolloutOnTemplateChange && latest.Ref != "" && !sameMachines(f.o, f.o.Group.Template, latest.Ref)
}

// sameMachines reports whether two versions of the template make the same machines, whatever bootstrap data they carry.
func sameMachines(o pool.Observed, ref, other string) bool {
	return ref == other || versionOf(o, ref).Same(versionOf(o, other))
}

// versionOf returns the version of that name, or the zero Template if none exists.
func versionOf(o pool.Observed, ref string) pool.Template {
	for _, v := range o.Versions {
		if v.Ref == ref {
			return v
		}
	}
	return pool.Template{}
}

// reason is the word for an error: its kind if a cloud refused, else what went wrong on our side.
func reason(err error) string {
	var refused *cloud.Error
	switch {
	case ineffective(err):
		return pool.NoEffect
	case errors.As(err, &refused):
		return string(refused.Kind)
	default:
		return "Failed"
	}
}

// ineffective reports that the cloud accepted a step and shows no effect of it.
func ineffective(err error) bool {
	var none *engine.NoEffectError
	return errors.As(err, &none)
}

// refusal is the condition of a step that the cloud refuses, the first of the given kinds that has one, or else of one that the cloud
// accepts without effect.
func refusal(f facts, condition string, kinds ...pool.StepKind) *Condition {
	var c *Condition
	for _, kind := range kinds {
		err := f.out.Refused[kind]
		if err == nil || c != nil && ineffective(err) {
			continue
		}
		c = &Condition{condition, False, reason(err), err.Error()}
		if !ineffective(err) {
			break
		}
	}
	return c
}

// NotObserved is the message of conditions that an error leaves unknown which GroupReady tells.
const NotObserved = "not observed: GroupReady says why"

// unseen is the condition while the cloud could not be read, or need not be. The error is reported once in addition to the summary.
func unseen(f facts, condition string) *Condition {
	message := NotObserved
	if f.out.Err != nil && (condition == Ready || condition == GroupReady) {
		message = f.out.Err.Error()
	}
	switch {
	case f.out.Err != nil && cloud.KindOf(f.out.Err) == cloud.Invalid:
		return &Condition{condition, False, reason(f.out.Err), message}
	case f.out.Err != nil:
		return &Condition{condition, Unknown, reason(f.out.Err), message}
	case f.d.CreateBlocked != nil:
		return &Condition{condition, False, f.d.CreateBlocked.Reason, f.d.CreateBlocked.Message}
	default:
		return &Condition{condition, Unknown, "NotObserved", "the cloud was not asked yet"}
	}
}
