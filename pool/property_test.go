package pool

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/muster-project/muster/pool/order"
)

func copied(o Observed) Observed {
	o.Versions, o.Instances = slices.Clone(o.Versions), slices.Clone(o.Instances)
	for k, i := range o.Instances {
		if i.Node != nil {
			node := *i.Node
			o.Instances[k].Node = &node
		}
	}
	if o.Group != nil {
		group := *o.Group
		group.Drift, group.Unchangeable = slices.Clone(group.Drift), slices.Clone(group.Unchangeable)
		o.Group = &group
	}
	return o
}

// Equal inputs give equal plans, and neither is changed by deciding.
func TestDecideIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		before := copied(o)
		tr := someTraits().Draw(t, "traits")
		first := Decide(d, o, tr, now)
		if !reflect.DeepEqual(o, before) {
			t.Fatalf("want the observation unchanged:\n%+v\n%+v", before, o)
		}
		if again := Decide(d, copied(before), tr, now); !reflect.DeepEqual(first, again) {
			t.Fatalf("want equal plans, got %s and %s", say(first), say(again))
		}
	})
}

// What no step of any plan ever does.
func TestStepsAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		tr := someTraits().Draw(t, "traits")
		o = seenBy(tr, o)
		p := Decide(d, o, tr, now)
		if p.Step != nil {
			if fault := unsafeStep(d, o, tr, now, *p.Step); fault != "" {
				t.Fatalf("%s: %s", say(p), fault)
			}
		}
		if p.DeletionComplete && (o.Group != nil || slices.ContainsFunc(o.Versions, ours) || len(o.Leftovers) > 0 || !d.Deleting) {
			t.Fatalf("want nothing said to be gone that is there, got %s", say(p))
		}
		if p.Step == nil && !p.Quiescent && !p.DeletionComplete && p.Refused == nil && len(p.Waiting) == 0 && waitsForNothing(o) {
			t.Fatalf("want to be told what is waited for, got nothing")
		}
	})
}

// ours reports whether a version is not given.
func ours(v Template) bool { return !v.UserManaged }

// waitsForNothing reports whether the group holds exactly what it should.
func waitsForNothing(o Observed) bool {
	return o.Group != nil && !slices.ContainsFunc(o.Instances, func(i Instance) bool { return i.State != Running }) &&
		len(o.Instances) == o.Group.Size
}

// unsafeStep says what is wrong with a step, if anything.
func unsafeStep(d Desired, o Observed, tr Traits, now time.Time, s Step) string {
	if _, avoid := d.StepsInBackoff[s.Kind]; avoid {
		return "it was refused a moment ago"
	}
	if s.Cause.Reason == "" || s.Cause.Message == "" {
		return "it has no cause"
	}
	if o.OwnershipConflict != nil {
		return "the group is not ours"
	}
	there := map[string]Instance{}
	for _, i := range o.Instances {
		there[i.ID] = i
	}
	seen := map[string]bool{}
	for _, target := range s.Targets {
		i, ok := there[target.ID]
		switch {
		case !ok:
			return "it names " + target.ID + ", which does not exist"
		case seen[target.ID]:
			return "it names " + target.ID + " twice"
		case i.State == Terminating && (i.LifecycleHook == nil || !slices.Contains([]StepKind{Drain, Release, Renew}, s.Kind)):
			return "it names " + target.ID + ", which goes anyway"
		case i.State != Terminating && (s.Kind == Release || s.Kind == Renew):
			return "nothing holds " + target.ID
		case target.ProviderID != i.ProviderID || (i.Node == nil) != (target.Node == "") || i.Node != nil && i.Node.Name != target.Node:
			return "it says wrong things about " + target.ID
		case target.Cause.Reason == "":
			return "nothing says why " + target.ID
		}
		seen[target.ID] = true
	}
	return cmp.Or(unsafeRemoval(d, o, tr, now, s, there), unsafeSize(d, o, tr, now, s), unsafePrune(d, o, s), untimely(d, o, tr, s),
		overBudget(d, o, tr, now, s, there),
		unfounded(d, o, tr, now, s, there), unsafeRoll(d, o, tr, s), unsafeChange(d, o, tr, s, there))
}

// wanted is the number of machines that budgets are counted from, and the strategy's numbers for it.
func wanted(d Desired, o Observed, tr Traits) (n, surge, unavailable int) {
	n = d.Replicas
	if d.ReplicasManagedExternally {
		n = max(0, o.Group.Size-o.Group.Surge)
		if !tr.SupportsStandby && !tr.RecordsSurge {
			defer func() { surge, unavailable = 0, min(n, max(unavailable, 1)) }()
		}
	}
	if d.Strategy == nil || d.Strategy.MaxSurge.Value+d.Strategy.MaxUnavailable.Value == 0 {
		return n, 1, 0
	}
	share := func(v IntOrPercent, round int) int {
		if v.Percent {
			return (v.Value*n + round) / 100
		}
		return v.Value
	}
	surge, unavailable = share(d.Strategy.MaxSurge, 99), min(n, share(d.Strategy.MaxUnavailable, 0))
	if surge+unavailable == 0 && d.Strategy.MaxUnavailable.Value > 0 {
		unavailable = min(n, 1)
	}
	return n, surge, unavailable
}

// available counts rule 1's way.
func available(d Desired, tr Traits, i Instance, now time.Time) bool {
	return (i.State == Running || i.State == Failed && tr.KeepsFailedInstances) && i.Node != nil && i.Node.Ready &&
		now.Sub(i.Node.ReadySince) >= d.MinReady && i.Node.DrainStarted.IsZero() &&
		i.TerminationNotice == nil && (i.DeletionRequested == nil || !i.Node.Cordoned)
}

// overBudget holds rules 1 and 2.
func overBudget(d Desired, o Observed, tr Traits, now time.Time, s Step, there map[string]Instance) string {
	if o.Group == nil || d.Deleting {
		return ""
	}
	n, surge, unavailable := wanted(d, o, tr)
	serve, lost, asides, counted := 0, 0, 0, 0
	for _, i := range alive(o) {
		if available(d, tr, i, now) {
			serve++
		}
		if i.Standby {
			asides++
		} else {
			counted++
		}
	}
	for _, target := range s.Targets {
		if available(d, tr, there[target.ID], now) {
			lost++
		}
	}
	switch s.Kind {
	case Drain, Remove, Replace:
		if d.NoDrain == nil && lost > 0 && serve-lost < n-unavailable {
			return fmt.Sprintf("%d of %d serve, %d must, and it takes %d", serve, n, n-unavailable, lost)
		}
	case EnterStandby:
		if !tr.SupportsStandby || max(o.Group.Size, counted)+asides+len(s.Targets) > n+surge {
			return fmt.Sprintf("%d exist, %d are wanted with a surge of %d, and it adds %d", max(o.Group.Size, counted)+asides, n, surge,
				len(s.Targets))
		}
	case Resize:
		if s.Size > o.Group.Size && s.Size > max(n+surge, counted) {
			return fmt.Sprintf("%d are wanted with a surge of %d, and it asks for %d", n, surge, s.Size)
		}
		if tr.SupportsStandby && s.Size > o.Group.Size && s.Size > max(n, counted) {
			return "the surge is not in the size"
		}
	}
	return ""
}

// outdated says independently whether an instance has a reason to be replaced.
func outdated(d Desired, o Observed, i Instance) bool {
	made := born(&i)
	restart := d.Restart != nil && !made.IsZero() && made.Before(d.Restart.Before)
	return restart || !d.SkipModel && !i.Template.Same(o.Wanted) && o.Wanted.Content != ""
}

// unfounded reports whether an instance is removed without a reason.
func unfounded(d Desired, o Observed, tr Traits, now time.Time, s Step, there map[string]Instance) string {
	if d.Deleting || s.Kind != Drain && s.Kind != Remove && s.Kind != Replace && s.Kind != EnterStandby {
		return ""
	}
	n, _, _ := wanted(d, o, tr)
	tooMany := 0
	for _, i := range alive(o) {
		if !i.Standby {
			tooMany++
		}
	}
	tooMany -= n
	for _, target := range s.Targets {
		i := there[target.ID]
		byHand := d.Strategy != nil && !tr.RolloutOnTemplateChange || !tr.ProviderRollout || tr.RolloutOnTemplateChange &&
			(d.SkipModel || i.Template.Same(o.Wanted) || o.Wanted.Content == "" || i.Template.Content == "")
		switch {
		case i.DeletionRequested != nil || i.Standby || i.TerminationNotice != nil || i.State == Terminating || i.State == Failed &&
			tr.KeepsFailedInstances && (i.Node == nil || !i.Node.Ready):
		case d.RolloutPaused == nil && byHand && outdated(d, o, i):
		case heals(d, o, tr, now, i):
		case tooMany > 0 && s.Kind != EnterStandby:
			tooMany--
		default:
			return target.ID + " has no reason to go"
		}
	}
	return ""
}

// heals says independently whether an instance may be replaced for its health: one may at a time, unless more are unwell than the
// pool bears. That one is drained already is left to the drain.
func heals(d Desired, o Observed, tr Traits, now time.Time, i Instance) bool {
	unwell := func(i Instance) bool {
		switch {
		case i.State == Failed && (!tr.KeepsFailedInstances || i.Node == nil || !i.Node.Ready):
			return true
		case i.State != Running && i.State != Failed:
			return false
		case i.Node == nil || !i.Node.Ready && i.Node.Joined.Add(10*time.Second).After(i.Node.ReadySince):
			return !born(&i).IsZero() && now.Sub(born(&i)) > 15*time.Minute
		default:
			return !i.Node.Ready
		}
	}
	if d.Remediation == nil || o.NodesUnknown || !unwell(i) || i.Node != nil &&
		(i.Node.SkipRemediation || !i.Node.ReadySince.IsZero() && now.Sub(i.Node.ReadySince) <= d.Remediation.After) {
		return false
	}
	if i.Node != nil && !i.Node.DrainStarted.IsZero() {
		return true
	}
	n, _, _ := wanted(d, o, tr)
	most := d.Remediation.MaxUnhealthy.Value
	if d.Remediation.MaxUnhealthy.Percent {
		most = max(1, most*n/100)
	}
	list, counted := alive(o), 0
	for _, other := range list {
		if unwell(other) {
			most--
		}
		if !other.Standby {
			counted++
		}
	}
	return most >= 0 && counted >= n && len(list) == len(o.Instances)
}

// unsafeRoll holds what the cloud's own roll is not asked.
func unsafeRoll(d Desired, o Observed, tr Traits, s Step) string {
	runs := o.ProviderRollout != nil && !o.ProviderRollout.ended()
	old := func(i Instance) bool { return outdated(d, o, i) }
	switch {
	case s.Kind == StartProviderRollout && (!tr.ProviderRollout || d.Strategy != nil && !tr.RolloutOnTemplateChange ||
		d.RolloutPaused != nil || runs || o.NodesUnknown):
		return "a roll is not wanted now"
	case s.Kind == StartProviderRollout && !slices.ContainsFunc(o.Versions,
		func(v Template) bool { return v.Ref == s.Template && v.Same(o.Wanted) }):
		return "it rolls to what is not wanted"
	case s.Kind == StartProviderRollout && !tr.RolloutOnTemplateChange && !slices.ContainsFunc(alive(o), old):
		return "nothing is to be replaced"
	case s.Kind == StartProviderRollout && tr.RolloutOnTemplateChange && d.SkipModel && slices.ContainsFunc(alive(o), func(i Instance) bool {
		return i.Template.Content != "" && !i.Template.Same(o.Wanted)
	}):
		return "it would replace what is to stay"
	case s.Kind == CancelProviderRollout && (!runs || o.ProviderRollout.State == ProviderRolloutCancelling || len(s.Refs) != 1 ||
		!tr.CanCancelRollout):
		return "there is nothing to cancel"
	case s.Kind == CancelProviderRollout && !d.Deleting && o.ProviderRollout.Template.Content == "":
		return "the roll is not ours"
	case s.Kind == UpdateGroup && tr.RolloutOnTemplateChange && s.Template != o.Group.Template:
		return "the group is pointed at a template by a roll alone"
	}
	return ""
}

// unsafeChange holds what is not done to machines that stay.
func unsafeChange(d Desired, o Observed, tr Traits, s Step, there map[string]Instance) string {
	if s.Kind == PutTemplate && tr.InlineTemplate && o.Group == nil {
		return "there is no group that could hold the template"
	}
	if s.Kind != Apply && s.Kind != Protect {
		return ""
	}
	for _, target := range s.Targets {
		i := there[target.ID]
		switch {
		case i.State == Pending || i.State == Failed && (i.Node == nil || !i.Node.Ready) || i.Standby || i.DeletionRequested != nil ||
			i.TerminationNotice != nil:
			return target.ID + " is not there to stay"
		case s.Kind == Apply && (len(i.InPlaceDrift) == 0 || !i.Template.Same(o.Wanted)):
			return target.ID + " would be changed in more than what is meant"
		case s.Kind == Apply && i.Updating:
			return target.ID + " is being changed"
		case s.Kind == Protect && !i.ScaleInUnprotected:
			return target.ID + " is protected"
		}
	}
	switch {
	case len(s.Targets) == 0 || len(s.Targets) > tr.RemoveBatch && s.Kind == Apply || len(s.Targets) > 5 && s.Kind == Protect:
		return "it names none, or too many"
	case s.Kind == Protect && d.ReplicasManagedExternally:
		return "who sizes the group could not make it smaller any more"
	case s.Kind == Apply && !o.Latest().Same(o.Wanted):
		return "it would bring what is not wanted"
	}
	return ""
}

// untimely reports whether a step does not fit what the cloud is doing, or what stage the pool's life is at.
func untimely(d Desired, o Observed, tr Traits, s Step) string {
	group := []StepKind{UpdateGroup, Resize, Remove, Replace, EnterStandby, StartProviderRollout, DefaultTemplate, PruneTemplates, Apply,
		Protect}
	if !tr.CanDeleteBusyGroup {
		group = append(group, DeleteGroup)
	}
	if tr.InlineTemplate {
		group = append(group, PutTemplate)
	}
	rolls := tr.RolloutOnTemplateChange && o.ProviderRollout != nil && !o.ProviderRollout.ended()
	switch {
	case o.Group != nil && (o.Group.Busy != nil || rolls) && slices.Contains(group, s.Kind):
		return "the cloud is at work on the group"
	case s.Kind == EnsurePrerequisites && (d.Deleting || d.CreateBlocked != nil || len(o.MissingPrerequisites) == 0):
		return "nothing is needed now"
	case s.Kind == CreateGroup && len(o.MissingPrerequisites) > 0:
		return "the group needs something first"
	case s.Kind == CleanUp && (!d.Deleting || o.Group != nil || len(o.Leftovers) == 0):
		return "nothing is left over yet"
	case s.Kind == DefaultTemplate && (s.Template != o.Group.Template || !slices.ContainsFunc(o.Versions, func(v Template) bool {
		return v.Ref == s.Template && !v.Undeletable && !v.UserManaged
	})):
		return "it is no default"
	case s.Kind == PutTemplate && o.Wanted.UserManaged, s.Kind == DeleteTemplates && !slices.ContainsFunc(o.Versions, ours):
		return "the template is not ours"
	}
	return ""
}

// losesPlace reports whether a removal takes more instances than the surge, those apart that a user asked to go, from a group whose size an
// external autoscaler owns and that each removal lowers.
func losesPlace(d Desired, o Observed, tr Traits, s Step, there map[string]Instance) bool {
	if !d.ReplicasManagedExternally || tr.ReplaceKeepsSize || d.Deleting {
		return false
	}
	places := o.Group.Surge
	for _, target := range s.Targets {
		if there[target.ID].DeletionRequested == nil {
			places--
		}
	}
	return places < 0
}

// unsafeRemoval holds what a removal and the deletion of a group may not do.
func unsafeRemoval(d Desired, o Observed, tr Traits, now time.Time, s Step, there map[string]Instance) string {
	if s.Kind != Remove && s.Kind != Replace && s.Kind != DeleteGroup {
		return ""
	}
	list := s.Targets
	if s.Kind == DeleteGroup {
		list = nil
		for _, i := range alive(o) {
			list = append(list, InstanceRef{ID: i.ID})
		}
	}
	for _, target := range list {
		node := there[target.ID].Node
		switch {
		case d.NoDrain != nil:
		case o.NodesUnknown:
			return "it is unknown what runs on " + target.ID
		case node == nil:
		case node.DrainStarted.IsZero():
			return target.ID + " is not drained"
		case node.Detaching > 0:
			return target.ID + " has volumes attached"
		case node.Remaining > 0 && (d.DrainTimeout == 0 || now.Sub(node.DrainStarted) < d.DrainTimeout):
			return target.ID + " is not drained, and its time is not up"
		}
	}
	switch {
	case s.Kind == DeleteGroup && !d.Deleting && (o.Group.Failed == nil || d.CreateBlocked != nil ||
		slices.ContainsFunc(o.Instances, func(i Instance) bool { return i.Node != nil })):
		return "the pool stays"
	case s.Kind == DeleteGroup && now.Sub(o.Group.DeleteFailedAt) < 5*time.Minute:
		return "it failed a moment ago"
	case s.Kind == DeleteGroup:
		return ""
	case s.Kind == Replace && !tr.ReplaceKeepsSize:
		return "the cloud has no such call"
	case len(s.Targets) > tr.RemoveBatch:
		return "it is more than the cloud takes"
	case len(s.Targets) == 0:
		return "it removes nothing"
	}
	if s.Kind == Remove && losesPlace(d, o, tr, s, there) {
		return "it lowers a size that an external autoscaler owns"
	}
	if n, _, _ := wanted(d, o, tr); s.Kind == Remove && tr.ReplaceKeepsSize && o.Group.Size-len(s.Targets) < n {
		return "the group would be smaller than wanted"
	}
	return ""
}

// unsafeSize holds what a resize and an update may not do.
func unsafeSize(d Desired, o Observed, tr Traits, now time.Time, s Step) string {
	if o.Group == nil {
		return ""
	}
	n, surge, _ := wanted(d, o, tr)
	counted, assumed := 0, 0
	for _, i := range alive(o) {
		if !i.Standby {
			counted++
		}
	}
	for _, i := range o.Instances {
		if i.RemovalAssumed {
			assumed++
		}
	}
	switch {
	case s.Kind == UpdateGroup && slices.Contains(s.Fields, d.MaxField) && d.MaxReplicas() < o.Group.Size:
		return "the cloud would choose machines by itself"
	case s.Kind != Resize:
		return ""
	case d.ReplicasManagedExternally && (tr.SupportsStandby || !tr.RecordsSurge || s.Size <= o.Group.Size || s.Size > n+surge ||
		s.Surge != s.Size-n || s.Surge > o.Group.Surge && o.Group.SurgePlanned != PlannedSurge{s.Surge, s.Size}):
		return "another client sizes the group"
	case s.Size > o.Group.Size && now.Sub(o.Group.ScaleUpFailedAt) < 5*time.Minute:
		return "the cloud could not bring them a moment ago"
	case s.Size < counted && s.Size < d.MaxReplicas():
		return "the cloud would choose machines by itself"
	case s.Size < o.Group.Size && s.Size < counted+assumed:
		return "the cloud would choose machines by itself if a removal was lost"
	case s.Size < n || s.Size > o.Group.Size && s.Size > max(d.MaxReplicas(), o.Group.Max)+surge && !d.ReplicasManagedExternally ||
		s.Size == o.Group.Size:
		return fmt.Sprintf("a size of %d is not on the way from %d to %d", s.Size, o.Group.Size, n)
	}
	return ""
}

// unsafePrune holds what must be kept, and counts the history in a way of its own: of versions that differ in content, as many
// as are asked for, the newest first.
func unsafePrune(d Desired, o Observed, s Step) string {
	if s.Kind != PruneTemplates {
		return ""
	}
	kept := map[string]string{o.Group.Template: "the group launches from it", o.Latest().Ref: "it is the newest"}
	if o.ProviderRollout != nil && !o.ProviderRollout.ended() {
		kept[o.ProviderRollout.Template.Ref] = "a roll launches from it"
	}
	for _, i := range o.Instances {
		kept[i.Template.Ref] = "a machine was launched from it"
	}
	exists, left := map[string]bool{}, map[string]bool{}
	var contents []string
	for _, v := range o.Versions {
		exists[v.Ref] = true
		if v.Undeletable || v.UserManaged {
			kept[v.Ref] = "it is not ours to delete"
		}
		if !slices.Contains(s.Refs, v.Ref) {
			left[v.identity()] = true
		}
		if !v.Deleting && !slices.Contains(contents, v.identity()) {
			contents = append(contents, v.identity())
		}
	}
	for _, ref := range s.Refs {
		if why := kept[ref]; why != "" || !exists[ref] {
			return ref + " stays: " + cmp.Or(why, "it does not exist")
		}
	}
	history := 3
	if d.TemplateHistoryLimit > 0 {
		history = max(2, d.TemplateHistoryLimit)
	}
	for _, content := range contents[:min(history, len(contents))] {
		if !left[content] {
			return content + " is history"
		}
	}
	return ""
}

// The choice is the one that is made one by one: each time the best of those that are left.
func TestVictimsAreChosenOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		n := rapid.IntRange(0, len(alive(o))).Draw(t, "n")
		v := emptySelection(newBudget(newRollout(classifyInstances(newInputs(d, o, traits, now)))))
		list, zones := slices.Clone(v.fleet.members), map[string]int{}
		for _, m := range list {
			zones[m.Zone]++
		}
		older := map[DeletePolicy]func(a, b *member) int{
			Oldest: func(a, b *member) int { return born(a.Instance).Compare(born(b.Instance)) },
			Newest: func(a, b *member) int { return born(b.Instance).Compare(born(a.Instance)) },
			Random: func(a, b *member) int {
				return cmp.Compare(order.Shuffle(d.Seed+"/"+a.ID), order.Shuffle(d.Seed+"/"+b.ID))
			},
		}[cmp.Or(d.DeletePolicy, Oldest)]
		var want []string
		for len(list) > 0 && len(want) < n {
			best := slices.MinFunc(list, func(a, b *member) int {
				return cmp.Or(cmp.Compare(v.rank(a), v.rank(b)), cmp.Compare(zones[b.Zone], zones[a.Zone]), older(a, b),
					cmp.Compare(a.ID, b.ID))
			})
			if !best.Standby {
				want = append(want, best.ID)
			}
			zones[best.Zone]--
			list = slices.DeleteFunc(list, func(m *member) bool { return m == best })
		}
		if got := victims(d, o, n); !slices.Equal(got, want) {
			t.Fatalf("want %v, got %v", want, got)
		}
	})
}
