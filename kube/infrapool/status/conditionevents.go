package status

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

// notable are the reasons that cause an event when a condition takes them, by condition: true for a warning. Started steps and refusals of
// the cloud cause events of their own.
var notable = map[string]map[string]bool{
	report.UpToDate: {
		"RolloutHalted": true, "ProviderRolloutFailed": true, "ProviderRolloutReverting": true, "StrategyInvalid": true,
		ReasonRolledBack: true, ReasonRollbackImpossible: true,
		settings.ReasonInvalid:   true,
		"ProviderRolloutRunning": false, "ProviderRolloutBaking": false, "ProviderRolloutCancelling": false, settings.ReasonPaused: false,
		pool.NoEffect: true,
	},
	report.TemplateReady:      {"Invalid": true, "Denied": true, pool.NoEffect: true},
	report.PrerequisitesReady: {pool.NoEffect: true},
	report.InstancesReady:     {"Capacity": true, "Denied": true, "Invalid": true, "LaunchFailed": true},
	report.GroupReady:         {"OwnershipConflict": true, "ForeignTemplate": true, "ReplicasOutOfBounds": true, pool.NoEffect: true},
	report.Draining:           {"DrainBlocked": true},
	settings.Valid:            {settings.ReasonInvalid: true},
	MachinesOwned:             {ReasonMachineNameTaken: true},
}

// replacing are the reasons of UpToDate during a rollout.
var replacing = []string{
	"TemplateChanged", settings.ReasonRestart, "NeverJoined", "NeverReady", "Unready", "Failed", "ProviderRolloutRunning",
	"ProviderRolloutBaking", "ProviderRolloutCancelling", "ProviderRolloutReverting", "ProviderRolloutFailed", "RolloutHalted",
}

const (
	// rolloutStarted is the event's reason when a rollout starts, or continues after a pause.
	rolloutStarted = "RolloutStarted"
	// rolloutCompleted is the event's reason when every instance is up to date after a rollout.
	rolloutCompleted = "RolloutCompleted"
)

// starting are the reasons of UpToDate with which a rollout starts, waiting those that it may have had before.
var (
	starting = []string{"TemplateChanged", settings.ReasonRestart}
	waiting  = []string{"AllUpToDate", "TemplateOutOfDate", settings.ReasonPaused, ReasonRolledBack, pool.ControlPlaneUpgradePending}
)

// conditionEvents returns the events of conditions whose reason has changed.
func conditionEvents(before, after []metav1.Condition) []report.Event {
	var list []report.Event
	for _, c := range after {
		old := meta.FindStatusCondition(before, c.Type)
		if old != nil && old.Reason == c.Reason {
			continue
		}
		if warning, ok := notable[c.Type][c.Reason]; ok && c.Message != report.NotObserved {
			list = append(list, report.Event{Warning: warning, Reason: c.Reason, Message: c.Message})
		}
		if c.Type == report.UpToDate && old != nil {
			list = append(list, rolloutEvents(old.Reason, c)...)
		}
	}
	return list
}

// KeepRollout keeps the reason of a rollout in the report while fewer machines exist than are wanted: all existing ones are up to date
// then, and the last replacements are still to come.
func KeepRollout(before []metav1.Condition, rep *report.Report) {
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

// rolloutEvents returns the start and the end of a rollout, by the reason that UpToDate had before and its state now.
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
