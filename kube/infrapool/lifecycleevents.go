package infrapool

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

const (
	// templateCreated and versionCreated are the events' reasons when a template was made, with its first version, and when a later
	// version was. It is told when the version is seen, by its name and with what it changes, and not when it is asked for.
	templateCreated, versionCreated = "TemplateCreated", report.VersionCreated
	// groupActive, groupSettled and groupGone are the events' reasons when the cloud has ended its work on a group.
	groupActive, groupSettled, groupGone = "GroupActive", "GroupUpdateEnded", "GroupGone"
	// groupLeft is the event's reason when an object goes and leaves a group that is not the pool's.
	groupLeft = "GroupLeft"
	// versionsTold bounds how many versions one pass tells of: more than a few come at once only after a long absence.
	versionsTold = 5
)

// The reasons of GroupReady while the cloud is at work on the group, as drivers have them.
const (
	groupCreating = "Creating"
	groupUpdating = "Updating"
)

// going are the reasons of Deleting while the group is still there.
var going = []string{groupDeleting, string(pool.DeleteGroup)}

// passing are the kinds of refusals that come and go by themselves.
var passing = []string{string(cloud.Throttled), string(cloud.Conflict), string(cloud.Unavailable)}

// lifecycleEvents are the events that what was observed now gives rise to, held against what the status said before. A status
// that is new, as that of an object which was moved or restored, tells of nothing: what it would tell is long past.
func lifecycleEvents(before *common.Status, out engine.Outcome, t pool.Traits) []report.Event {
	if !out.Seen || len(before.Conditions) == 0 {
		return nil
	}
	return slices.Concat(made(before, out.Observed, t), worked(before, out.Observed, t), lost(before, out, t))
}

const (
	// groupLost and instancesLost are the events' reasons when others than Muster deleted the group, or took instances of it.
	groupLost, instancesLost = "GroupLost", "InstancesLost"
	// groupDeleting is the reason of GroupReady while a group goes that will be made again.
	groupDeleting = "GroupDeleting"
	// lostTold bounds how many instances one event names.
	lostTold = 10
)

// lost are the warnings of what is gone, or on its way out, without a step of Muster: the cloud has taken it back, or another client deleted it.
// Instances that a step of Muster takes are told as Terminating in the status from then on (see takenBy), and those that a roll of the
// cloud takes, or a size that was lowered, have a cause that is told elsewhere.
func lost(before *common.Status, out engine.Outcome, t pool.Traits) []report.Event {
	o := out.Observed
	ready := meta.FindStatusCondition(before.Conditions, report.GroupReady)
	switch {
	case ready == nil || o.OwnershipConflict != nil || meta.FindStatusCondition(before.Conditions, report.Deleting) != nil:
		return nil
	case o.Group == nil || o.Group.Deleting:
		return lostGroup(before, *ready, t)
	case o.ProviderRolloutUnknown != nil || o.ProviderRollout.Runs() || o.Group.Size-o.Group.Surge < int(ptr.Deref(before.DesiredReplicas, 0)):
		return nil
	case slices.ContainsFunc(before.Conditions, func(c metav1.Condition) bool { return c.Type == report.UpToDate && strings.HasPrefix(c.Reason, "Roll") }):
		return nil
	}
	return warnLost(lostInstances(before, o), t)
}

// lostGroup is the warning of a group that others deleted, when that is first seen. A group that Muster deletes to make it again has
// failed, and its instances go by a step of Muster's.
func lostGroup(before *common.Status, ready metav1.Condition, t pool.Traits) []report.Event {
	stays := func(i common.InstanceStatus) bool { return i.State != string(pool.Terminating) }
	if ready.Status != metav1.ConditionTrue && !slices.ContainsFunc(before.Instances, stays) || ready.Reason == groupDeleting {
		return nil
	}
	return []report.Event{{Warning: true, Reason: groupLost,
		Message: fmt.Sprintf("Lost the %s with its instances: it was deleted, and not by Muster", t.Group)}}
}

// lostInstances names the instances that ran when the status was written, and are gone or go.
func lostInstances(before *common.Status, o pool.Observed) []string {
	stays := map[string]bool{}
	for _, i := range o.Instances {
		stays[i.ProviderID] = i.State != pool.Terminating
	}
	for _, id := range o.ExternalStandby {
		stays[id] = true
	}
	var names []string
	for _, i := range before.Instances {
		if i.State != string(pool.Running) || stays[i.ProviderID] {
			continue
		}
		name := i.InstanceID
		if i.Node != "" {
			name += " (" + i.Node + ")"
		}
		names = append(names, name)
	}
	return names
}

// warnLost is the warning of lost instances.
func warnLost(names []string, t pool.Traits) []report.Event {
	if len(names) == 0 {
		return nil
	}
	text := strings.Join(names[:min(len(names), lostTold)], ", ")
	if more := len(names) - lostTold; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []report.Event{{Warning: true, Reason: instancesLost, Message: fmt.Sprintf("Lost %s: terminated, and not by Muster; the %s launches others in their place", text, t.Group)}}
}

// takenBy marks the rows of instances that the pass has begun to remove: what the next pass does not see any more is not lost.
func takenBy(out engine.Outcome, rows []common.InstanceStatus) {
	if s := out.Plan.Step; s == nil || !out.Started || !slices.Contains(removals, s.Kind) {
		return
	}
	for _, target := range out.Plan.Step.Targets {
		for k := range rows {
			if rows[k].InstanceID == target.ID {
				rows[k].State = string(pool.Terminating)
			}
		}
	}
}

// removals are the steps that end instances.
var removals = []pool.StepKind{pool.Remove, pool.Replace, pool.Release, pool.DeleteGroup}

// begun are the events of a pass's own step, without those of what is told of when it is seen.
func begun(list []report.Event) []report.Event {
	return slices.DeleteFunc(list, func(e report.Event) bool { return e.Reason == templateCreated || e.Reason == versionCreated })
}

// made are the events of versions of the template that the status did not know yet. Of one that its group holds there are none:
// its change was told when it was asked for.
// A version that differs from the one before in bootstrap data alone is no news either.
func made(before *common.Status, o pool.Observed, t pool.Traits) []report.Event {
	if t.InlineTemplate || before.Template == "" && !meta.IsStatusConditionFalse(before.Conditions, report.TemplateReady) {
		return nil
	}
	var list []report.Event
	for k, v := range o.Versions {
		if v.Ref == before.Template || len(list) == versionsTold {
			break
		}
		if rotated := k+1 < len(o.Versions) && v.Same(o.Versions[k+1]); v.UserManaged || rotated {
			continue
		}
		list = append(list, madeVersion(v, t))
	}
	if !slices.ContainsFunc(o.Versions, func(v pool.Template) bool { return v.Ref == before.Template }) && len(list) > 1 {
		// What the status knew is gone, so that nobody can tell which of the others are new, but for the newest.
		list = list[:1]
	}
	slices.Reverse(list)
	return list
}

// madeVersion is the event of one version: of the template itself, where the version is its first.
func madeVersion(v pool.Template, t pool.Traits) report.Event {
	template, number := report.SplitVersion(v.Ref)
	e := report.Event{Reason: versionCreated, Message: fmt.Sprintf("Created version %s of %s %s", number, t.Template, template)}
	if number == "" || number == "1" {
		e = report.Event{Reason: templateCreated, Message: fmt.Sprintf("Created %s %s", t.Template, template)}
	}
	if v.Description != "" {
		e.Message += ": " + v.Description
	}
	return e
}

// worked are the events of work on the group that the cloud has ended.
func worked(before *common.Status, o pool.Observed, t pool.Traits) []report.Event {
	if o.Group == nil {
		deleting := meta.FindStatusCondition(before.Conditions, report.Deleting)
		if deleting != nil && slices.Contains(going, deleting.Reason) {
			return []report.Event{{Reason: groupGone, Message: fmt.Sprintf("Deleted the %s", t.Group)}}
		}
		return nil
	}
	ready := meta.FindStatusCondition(before.Conditions, report.GroupReady)
	if ready == nil || o.Group.Busy != nil || o.Group.Failed != nil || o.Group.Deleting {
		return nil
	}
	switch {
	case ready.Reason == groupCreating:
		return []report.Event{{Reason: groupActive, Message: fmt.Sprintf("Created the %s: %s", t.Group, o.Group.ID)}}
	case ready.Reason == groupUpdating && t.ProviderRollout:
		// Elsewhere it works as long as each step of ours takes, which was told already.
		return []report.Event{{Reason: groupSettled, Message: fmt.Sprintf("Finished updating the %s", t.Group)}}
	}
	return nil
}

// left returns the event of an object that goes and leaves a group in the cloud, because that is not the pool's.
func left(foreign *pool.Cause) []report.Event {
	if foreign == nil {
		return nil
	}
	return []report.Event{{Reason: groupLeft, Message: "Left in the cloud: " + foreign.Message}}
}

// troubles are the reasons with which the cloud says that something is wrong with the group or its machines.
func troubles(o pool.Observed) map[string]bool {
	said := map[string]bool{}
	for _, issue := range o.Issues {
		said[issue.Reason] = !slices.Contains(passing, issue.Reason)
	}
	if o.Group != nil && o.Group.Failed != nil {
		said[o.Group.Failed.Reason] = true
	}
	return said
}

// troubled are the warnings of what conditions have begun to say in the cloud's words, where it is no news by itself. Several
// conditions may say one thing, some of them later than others: it is told once.
func troubled(before, after []metav1.Condition, o pool.Observed) []report.Event {
	said := troubles(o)
	for _, c := range before {
		if reportsTrouble(c) {
			said[c.Reason] = false
		}
	}
	for _, c := range after {
		if _, told := notable[c.Type][c.Reason]; told && reportsTrouble(c) {
			said[c.Reason] = false
		}
	}
	var list []report.Event
	for _, c := range after {
		if _, told := notable[c.Type][c.Reason]; told || !reportsTrouble(c) || !said[c.Reason] {
			continue
		}
		said[c.Reason] = false
		list = append(list, report.Event{Warning: true, Reason: c.Reason, Message: c.Message})
	}
	return list
}

// reportsTrouble says whether a condition is one of those whose reasons may be the cloud's.
func reportsTrouble(c metav1.Condition) bool {
	return c.Type == report.GroupReady || c.Type == report.InstancesReady
}
