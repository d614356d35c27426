package infrapool

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// notable are the reasons that are news when a condition takes them, by condition: true for those that want somebody's
// attention. A step that was begun, and a cloud's refusal, are told of anyway.
var notable = map[string]map[string]bool{
	report.UpToDate: {
		"RolloutHalted": true, "ProviderRolloutFailed": true, "ProviderRolloutReverting": true, "StrategyInvalid": true, reasonInvalidAnnotation: true,
		"ProviderRolloutRunning": false, "ProviderRolloutBaking": false, "ProviderRolloutCancelling": false, reasonPaused: false, pool.NoEffect: true,
	},
	report.TemplateReady:      {"Invalid": true, "Denied": true, pool.NoEffect: true},
	report.PrerequisitesReady: {pool.NoEffect: true},
	report.InstancesReady:     {"Capacity": true, "Denied": true, "Invalid": true, "LaunchFailed": true},
	report.GroupReady:         {"OwnershipConflict": true, "ForeignTemplate": true, "ReplicasOutOfBounds": true, pool.NoEffect: true},
	report.Draining:           {"DrainBlocked": true},
	SettingsValid:             {reasonInvalidAnnotation: true},
	MachinesOwned:             {reasonMachineNameTaken: true},
}

// replacing are the reasons of UpToDate while instances are being replaced, or shall be: what ends with one of them has been a
// rollout.
var replacing = []string{
	"TemplateChanged", reasonRestart, "NeverJoined", "NeverReady", "Unready", "Failed", "ProviderRolloutRunning", "ProviderRolloutBaking", "ProviderRolloutCancelling", "ProviderRolloutReverting", "ProviderRolloutFailed", "RolloutHalted",
}

const (
	// rolloutStarted is the event's reason when instances begin to be replaced, or go on to be after a pause.
	rolloutStarted = "RolloutStarted"
	// rolloutCompleted is the event's reason when every instance is what it should be, after a rollout.
	rolloutCompleted = "RolloutCompleted"
)

// starting are the reasons of UpToDate with which the replacement of instances begins, waiting those that it may have had before.
var (
	starting = []string{"TemplateChanged", reasonRestart}
	waiting  = []string{"AllUpToDate", "TemplateOutOfDate", reasonPaused}
)

// conditionEvents are the events of a status that is about to be written: what a condition has begun to say.
func conditionEvents(before, after []metav1.Condition) []report.Event {
	var list []report.Event
	for _, c := range after {
		old := meta.FindStatusCondition(before, c.Type)
		if old != nil && old.Reason == c.Reason {
			continue
		}
		if warning, ok := notable[c.Type][c.Reason]; ok {
			list = append(list, report.Event{Warning: warning, Reason: c.Reason, Message: c.Message})
		}
		if c.Type == report.UpToDate && old != nil {
			list = append(list, rolloutEvents(old.Reason, c)...)
		}
	}
	return list
}

// holdRollout keeps the reason of a rollout while fewer machines exist than are wanted: all that exist are up to date then, and the last
// ones that it replaces have still to come. A rollout is complete when they have.
func holdRollout(before []metav1.Condition, rep *report.Report) {
	old := meta.FindStatusCondition(before, report.UpToDate)
	if !rep.Seen || old == nil || !slices.Contains(replacing, old.Reason) || *rep.Counts.Current >= rep.Counts.Desired {
		return
	}
	for k := range rep.Conditions {
		if c := &rep.Conditions[k]; c.Type == report.UpToDate && c.Status == report.True {
			c.Status, c.Reason = report.False, old.Reason
			c.Message = fmt.Sprintf("%s; %d of %d machines exist", c.Message, *rep.Counts.Current, rep.Counts.Desired)
		}
	}
}

// rolloutEvents are the beginning and the end of a rollout, told by the reason that UpToDate had before and what it says now.
func rolloutEvents(old string, c metav1.Condition) []report.Event {
	var list []report.Event
	if slices.Contains(starting, c.Reason) && slices.Contains(waiting, old) {
		list = append(list, report.Event{Reason: rolloutStarted, Message: c.Message})
	}
	if c.Status == metav1.ConditionTrue && slices.Contains(replacing, old) {
		list = append(list, report.Event{Reason: rolloutCompleted, Message: c.Message})
	}
	return list
}
