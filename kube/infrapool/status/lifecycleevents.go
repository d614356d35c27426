package status

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
	// templateCreated and versionCreated are the events' reasons when a template was created with its first version, and when a later
	// version was. The event is emitted when the version is observed, with its name and what it changes, not when it is requested.
	templateCreated, versionCreated = "TemplateCreated", report.VersionCreated
	// groupActive, groupSettled and groupGone are the events' reasons when the cloud has finished an operation on a group.
	groupActive, groupSettled, groupGone = "GroupActive", "GroupUpdateEnded", "GroupGone"
	// groupLeft is the event's reason when an object is deleted and its group is left, because that is not the pool's.
	groupLeft = "GroupLeft"
	// maxVersionEvents bounds the events for versions in one pass: more than a few come at once only after a long absence.
	maxVersionEvents = 5
)

// The reasons of GroupReady during an operation of the cloud on the group, as drivers set them.
const (
	groupCreating = "Creating"
	groupUpdating = "Updating"
)

// groupExists are the reasons of Deleting while the group still exists.
var groupExists = []string{groupDeleting, string(pool.DeleteGroup)}

// transient are the kinds of errors that end by themselves.
var transient = []string{string(cloud.Throttled), string(cloud.Conflict), string(cloud.Unavailable)}

// LifecycleEvents returns the events of what was observed now, compared with the status before. A new status, as that of an object which
// was moved or restored, causes none: what it would report is long past.
func LifecycleEvents(before *common.Status, out engine.Outcome, t pool.Traits) []report.Event {
	if !out.Seen || len(before.Conditions) == 0 {
		return nil
	}
	return slices.Concat(created(before, out.Observed, t), finished(before, out.Observed, t), lost(before, out, t))
}

const (
	// groupLost and instancesLost are the events' reasons when another client or the cloud deleted the group or terminated instances.
	groupLost, instancesLost = "GroupLost", "InstancesLost"
	// groupDeleting is the reason of GroupReady while a group is deleted that will be created again.
	groupDeleting = "GroupDeleting"
	// maxLostNames bounds how many instances one event names.
	maxLostNames = 10
)

// lost returns the warnings of what is gone or terminating without a step of Muster: the cloud reclaimed it, or another client deleted it.
// Instances that a step of Muster removes are Terminating in the status from then on (see MarkRemoved), and those that a provider rollout
// or a lowered size removes have a cause that is reported elsewhere.
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
	case slices.ContainsFunc(before.Conditions, func(c metav1.Condition) bool {
		return c.Type == report.UpToDate && strings.HasPrefix(strings.TrimPrefix(c.Reason, "Provider"), "Roll")
	}):
		return nil
	}
	return warnLost(lostInstances(before, o), t)
}

// lostGroup returns the warning of a group that another client deleted, when that is first observed. A group that Muster deletes to
// recreate it has failed, and its instances are removed by a step of Muster.
func lostGroup(before *common.Status, ready metav1.Condition, t pool.Traits) []report.Event {
	stays := func(i common.InstanceStatus) bool { return i.State != string(pool.Terminating) }
	if ready.Status != metav1.ConditionTrue && !slices.ContainsFunc(before.Instances, stays) || ready.Reason == groupDeleting {
		return nil
	}
	return []report.Event{{Warning: true, Reason: groupLost,
		Message: fmt.Sprintf("Lost the %s with its instances: it was deleted, and not by Muster", t.Group)}}
}

// lostInstances returns the names of the instances that ran when the status was written, and are gone or terminating.
func lostInstances(before *common.Status, o pool.Observed) []string {
	stays := map[string]bool{}
	for _, i := range o.Instances {
		stays[i.ProviderID] = i.State != pool.Terminating
	}
	for _, id := range o.ExternalStandby {
		stays[id] = true
	}
	for _, i := range o.Beside {
		stays[i.ProviderID] = true
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

// warnLost returns the warning of lost instances.
func warnLost(names []string, t pool.Traits) []report.Event {
	if len(names) == 0 {
		return nil
	}
	text := strings.Join(names[:min(len(names), maxLostNames)], ", ")
	if more := len(names) - maxLostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	next := "launches others in their place"
	if t.LaunchesOnWrite {
		next += " once its size is requested again"
	}
	return []report.Event{{Warning: true, Reason: instancesLost,
		Message: fmt.Sprintf("Lost %s: terminated, and not by Muster; the %s %s", text, t.Group, next)}}
}

// MarkRemoved marks the rows of instances that the pass has started to remove as Terminating, so that the next pass does not report them as
// lost.
func MarkRemoved(out engine.Outcome, rows []common.InstanceStatus) {
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

// removals are the steps that terminate instances.
var removals = []pool.StepKind{pool.Remove, pool.Replace, pool.Release, pool.DeleteGroup}

// StepEvents returns the events of a started step, without those that are emitted when the effect is observed.
func StepEvents(list []report.Event) []report.Event {
	return slices.DeleteFunc(list, func(e report.Event) bool { return e.Reason == templateCreated || e.Reason == versionCreated })
}

// created returns the events of template versions that the status does not have yet. There are none for an inline template, whose change
// was reported when it was requested, and for a version that differs from the previous one in bootstrap data alone.
func created(before *common.Status, o pool.Observed, t pool.Traits) []report.Event {
	if t.InlineTemplate || before.Template == "" && !meta.IsStatusConditionFalse(before.Conditions, report.TemplateReady) {
		return nil
	}
	var list []report.Event
	for k, v := range o.Versions {
		if v.Ref == before.Template || len(list) == maxVersionEvents {
			break
		}
		if rotated := k+1 < len(o.Versions) && v.Same(o.Versions[k+1]); v.UserManaged || rotated {
			continue
		}
		list = append(list, createdVersion(v, t))
	}
	if !slices.ContainsFunc(o.Versions, func(v pool.Template) bool { return v.Ref == before.Template }) && len(list) > 1 {
		// The version in the status is gone, so that only the newest of the others is known to be new.
		list = list[:1]
	}
	slices.Reverse(list)
	return list
}

// createdVersion returns the event of one version: of the template itself if the version is its first.
func createdVersion(v pool.Template, t pool.Traits) report.Event {
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

// finished returns the events of operations on the group that the cloud has finished.
func finished(before *common.Status, o pool.Observed, t pool.Traits) []report.Event {
	if o.Group == nil {
		deleting := meta.FindStatusCondition(before.Conditions, report.Deleting)
		if deleting != nil && slices.Contains(groupExists, deleting.Reason) {
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
		// Otherwise each update is a step of Muster, which has its own event.
		return []report.Event{{Reason: groupSettled, Message: fmt.Sprintf("Finished updating the %s", t.Group)}}
	}
	return nil
}

// LeftEvents returns the event of a deleted object that leaves a group in the cloud, because that is not the pool's.
func LeftEvents(foreign *pool.Cause) []report.Event {
	if foreign == nil {
		return nil
	}
	return []report.Event{{Reason: groupLeft, Message: "Left in the cloud: " + foreign.Message}}
}

// cloudErrors returns the reasons with which the cloud reports an error of the group or its machines, true if they cause a warning.
func cloudErrors(o pool.Observed) map[string]bool {
	emit := map[string]bool{}
	for _, issue := range o.Issues {
		emit[issue.Reason] = !slices.Contains(transient, issue.Reason)
	}
	if o.Group != nil && o.Group.Failed != nil {
		emit[o.Group.Failed.Reason] = true
	}
	return emit
}

// cloudErrorEvents returns the warnings for errors of the cloud that conditions have begun to report, except for reasons that are notable
// by themselves. Several conditions may report one error, some of them later than others: it causes one event.
func cloudErrorEvents(before, after []metav1.Condition, o pool.Observed) []report.Event {
	emit := cloudErrors(o)
	for _, c := range before {
		if hasCloudReason(c) {
			emit[c.Reason] = false
		}
	}
	for _, c := range after {
		if _, known := notable[c.Type][c.Reason]; known && hasCloudReason(c) {
			emit[c.Reason] = false
		}
	}
	var list []report.Event
	for _, c := range after {
		if _, known := notable[c.Type][c.Reason]; known || !hasCloudReason(c) || !emit[c.Reason] {
			continue
		}
		emit[c.Reason] = false
		list = append(list, report.Event{Warning: true, Reason: c.Reason, Message: c.Message})
	}
	return list
}

// hasCloudReason reports whether the reasons of a condition may be the cloud's.
func hasCloudReason(c metav1.Condition) bool {
	return c.Type == report.GroupReady || c.Type == report.InstancesReady
}

// Events returns the events of a pass, by the status before and after it: what conditions have begun to report, and what the cloud has
// finished. What the step of the pass has reported already is not repeated. A status that was lost, as in a move, causes none for a group
// that exists.
func Events(before, after Object, rep report.Report, out engine.Outcome, t pool.Traits) []report.Event {
	if out.Observed.Group != nil && meta.FindStatusCondition(before.GetConditions(), report.Ready) == nil {
		return nil
	}
	list := LifecycleEvents(before.GetCommonStatus(), out, t)
	list = append(list, conditionEvents(before.GetConditions(), after.GetConditions())...)
	list = append(list, waveEvents(before.GetCommonStatus().Rollout, after.GetCommonStatus().Rollout)...)
	list = append(list, cloudErrorEvents(before.GetConditions(), after.GetConditions(), out.Observed)...)
	return slices.DeleteFunc(list, func(e report.Event) bool {
		return slices.ContainsFunc(rep.Events, func(emitted report.Event) bool { return emitted.Message == e.Message })
	})
}
