package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Rule 6, and machines that are asked to go by name.
func TestCondemned(t *testing.T) {
	checkAll(t, []row{
		{name: "replaced", why: "replicas are the same: another comes before it goes", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, condemnedOne))), want: "Resize to 4 (Surge)"},
		{name: "its successor serves", why: "then exactly this one goes", d: wants(3),
			o: fleet(append(serving(3), machine("i-9", 1, condemnedOne))), want: "Drain i-9 (MachineDeleted)"},
		{name: "drained", why: "and its place with it", d: wants(3), o: fleet(append(serving(3), machine("i-9", 1, condemnedOne, drainedNode))),
			want: "Remove i-9 (MachineDeleted)"},
		{name: "drained by its Machine's controller", why: "a cordoned one is not serving: it is not waited for", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, condemnedOne, cordonedNode))), want: "Drain i-9 (MachineDeleted)"},
		{name: "replicas lowered", why: "then it is the one that goes", d: wants(2),
			o: fleet(append(serving(2), machine("i-9", 1, condemnedOne))), want: "Drain i-9 (MachineDeleted)"},
		{name: "replicas lowered, another marked", why: "a deleted Machine is more than a mark", d: wants(2),
			o: fleet(list(machine("i-1", 3), machine("i-2", 2, marked), machine("i-9", 1, condemnedOne))), want: "Drain i-9 (MachineDeleted)"},
		{name: "unready", why: "a health check removes what is not serving, whatever else is wrong", d: wants(3),
			o:    fleet(list(machine("i-1", 3), machine("i-2", 2, down(1)), machine("i-9", 1, condemnedOne, down(9)))),
			want: "Drain i-9 (MachineDeleted), waiting NodesNotReady"},
		{name: "unready, drained", why: "the group launches another", d: wants(3),
			o:    fleet(append(serving(2), machine("i-9", 1, condemnedOne, drainedNode, unready))),
			want: "Replace i-9 (MachineDeleted), waiting NodesNotReady"},
		{name: "nodes unknown", why: "it is unknown what runs on it", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, condemnedOne)), nodesUnknown), want: "waiting ConnectionDown"},
		{name: "sized elsewhere", why: "the size that another client sets is kept, with what is added beside it", d: wants(0, external),
			o:    fleet(append(serving(3), machine("i-9", 1, condemnedOne)), func(o *Observed) { o.Group.Surge = 1 }),
			want: "Drain i-9 (MachineDeleted)"},
		{name: "a mark alone", why: "is no reason to go", d: wants(2), o: fleet(list(machine("i-1", 2, marked), machine("i-2", 1))),
			want: "settled"},
	})
}

// What the cloud takes, and what our hook holds (rule 9).
func TestDoomedAndHeld(t *testing.T) {
	held := func(since, until time.Duration) func(*Instance) {
		return func(i *Instance) {
			i.State, i.LifecycleHook = Terminating, &LifecycleHook{Since: now.Add(-since), Until: now.Add(until), Heartbeat: time.Hour}
		}
	}
	timeout := func(d *Desired) { d.DrainTimeout = 10 * time.Minute }
	whole := func(d *Desired) { d.NoDrain = &Cause{"ClusterDeleted", "x"} }
	gone := func(o *Observed) { o.Group.Deleting = true }
	checkAll(t, []row{
		{name: "doomed", why: "a spot machine has minutes: it is drained at once, whatever the budgets say", d: wants(2),
			o: fleet(append(serving(1), machine("i-9", 1, doomedOne))), want: "Drain i-9 (SpotInterruption)"},
		{name: "doomed and drained", why: "the cloud takes it itself", d: wants(2),
			o: fleet(append(serving(1), machine("i-9", 1, doomedOne, drainedNode))), want: "settled"},
		{name: "doomed and one too many", why: "who goes anyway is the one that goes", d: wants(1),
			o: fleet(append(serving(1), machine("i-9", 0, doomedOne))), want: "Drain i-9 (ScaleIn)"},
		{name: "doomed no more", why: "it is given back", d: wants(2), o: fleet(append(serving(1), machine("i-9", 1, drainedNode))),
			want: "Undrain i-9 (StillWanted)"},
		{name: "doomed in a rollout", why: "it serves no more: no other machine is removed before its replacement is there",
			d: wants(3, rolls(0, 1)), o: fleet(append(serving(2), machine("i-9", 1, doomedOne, drainedNode)), newTemplate),
			want: "Replace i-9 (TemplateChanged)"},
		{name: "held", why: "what the cloud takes is drained while the hook holds it", d: wants(1),
			o: fleet(append(serving(1), machine("i-9", 1, held(time.Minute, time.Hour))), sized(1)), want: "Drain i-9 (Terminating)"},
		{name: "held and drained", why: "then it may go", d: wants(1),
			o: fleet(append(serving(1), machine("i-9", 1, drainedNode, held(time.Minute, time.Hour))), sized(1)), want: "Release i-9 (Drained)"},
		{name: "held, refused", why: "a release that comes before a removal and after it is reported once", d: wants(1, refused(Release, Remove)),
			o:    fleet(append(serving(1), machine("i-8", 8, drainedNode), machine("i-9", 9, drainedNode, held(time.Minute, time.Hour))), sized(2)),
			want: "waiting Denied, waiting Denied"},
		{name: "held, never joined", why: "nothing runs on it", d: wants(1),
			o: fleet(append(serving(1), machine("i-9", 1, notJoined, held(time.Minute, time.Hour))), sized(1)), want: "Release i-9 (Drained)"},
		{name: "held, half of the time up", why: "a long drain asks for more time", d: wants(1),
			o:    fleet(append(serving(1), machine("i-9", 1, drainingNode, held(time.Hour, 29*time.Minute))), sized(1)),
			want: "Renew i-9 (Draining), waiting Draining"},
		{name: "held, not half of the time up", why: "but not at every look", d: wants(1),
			o:    fleet(append(serving(1), machine("i-9", 1, drainingNode, held(time.Hour, 31*time.Minute))), sized(1)),
			want: "Drain i-9 (Terminating), waiting Draining"},
		{name: "held, nodes unknown", why: "it is unknown what runs on it, so it is held", d: wants(1),
			o:    fleet(append(serving(1), machine("i-9", 1, held(time.Hour, time.Minute))), sized(1), nodesUnknown),
			want: "Renew i-9 (Draining), waiting ConnectionDown"},
		{name: "held, nodes unknown, timed out", why: "the drain timeout bounds that as well", d: wants(1, timeout),
			o:    fleet(append(serving(1), machine("i-9", 1, held(10*time.Minute, time.Minute))), sized(1), nodesUnknown),
			want: "Release i-9 (DrainTimedOut), waiting ConnectionDown"},
		{name: "held, timed out", why: "and a drain that never ends", d: wants(1, func(d *Desired) { d.DrainTimeout = time.Minute }),
			o:    fleet(append(serving(1), machine("i-9", 1, drainingNode, held(10*time.Minute, time.Minute))), sized(1)),
			want: "Release i-9 (DrainTimedOut), waiting Draining"},
		{name: "held for long and not noticed", why: "the timeout of a drain that never began is not up", d: wants(1, timeout),
			o: fleet(append(serving(1), machine("i-9", 1, held(10*time.Minute, time.Hour))), sized(1)), want: "Drain i-9 (Terminating)"},
		{name: "held, timed out, volumes attached", why: "volumes have a timeout of their own", d: wants(1, timeout),
			o:    fleet(append(serving(1), machine("i-9", 1, drainedNode, detachingNode, held(10*time.Minute, time.Hour))), sized(1)),
			want: "Drain i-9 (Terminating), waiting Draining"},
		{name: "held, cluster going", why: "nothing is drained then", d: wants(1, whole),
			o: fleet(append(serving(1), machine("i-9", 1, held(time.Minute, time.Hour))), sized(1)), want: "Release i-9 (Drained)"},
		{name: "held by others", why: "their hooks are theirs", d: wants(1), o: fleet(append(serving(1), machine("i-9", 1, leaving)), sized(1)),
			want: ""},
		{name: "held, drained, another drains", why: "a machine that costs money does not wait for a drain that may take days", d: wants(1),
			o:    fleet(append(serving(1), machine("i-8", 1, drainingNode), machine("i-9", 1, drainedNode, held(time.Minute, time.Hour))), sized(2)),
			want: "Release i-9 (Drained), waiting Draining"},
		{name: "held and others drain", why: "one round of evictions serves all", d: wants(1),
			o: fleet(append(serving(2), machine("i-9", 1, held(time.Minute, time.Hour))), sized(2)), want: "Drain i-9 i-1 (Terminating)"},
		{name: "pool deleted", why: "what is held is drained with the rest", d: wants(1, deleting),
			o: fleet(append(serving(1), machine("i-9", 1, held(time.Minute, time.Hour)))), want: "Drain i-9 i-1 (Terminating)"},
		{name: "held and drained, another to remove", why: "a scale-in does not pile up instances in termination", d: wants(1),
			o:    fleet(append(serving(1), machine("i-8", 1, drainedNode), machine("i-9", 1, drainedNode, held(time.Minute, time.Hour))), sized(2)),
			want: "Release i-9 (Drained)"},
		{name: "held and drained, another to replace", why: "a rollout waits for what is launched in return", d: wants(2, rolls(0, 1)),
			o: fleet(append(serving(1, current), machine("i-8", 1, drainedNode), machine("i-9", 1, drainedNode, held(time.Minute, time.Hour))),
				newTemplate, sized(2)), want: "Replace i-8 (TemplateChanged)"},
		{name: "many held and drained, another to replace", why: "but does not pile them up without bound either", d: wants(2, rolls(0, 1)),
			o: fleet(append(append(serving(1, current), machine("i-8", 1, drainedNode)),
				numbered("h", 20, drainedNode, held(time.Minute, time.Hour))...), newTemplate, sized(2)), want: "Release hi-1 hi-2 hi-3 (Drained)"},
		{name: "many held, the release waits for a rate limit", why: "a removal would add to them, at the cost of the same limit",
			d: wants(1, avoids(Release, ClientRateLimited)),
			o: fleet(append(append(serving(1), machine("i-8", 8, drainedNode)), numbered("h", 20, drainedNode, held(time.Minute, time.Hour))...),
				sized(2)), want: "waiting ClientRateLimited"},
		{name: "many held, the cloud throttles the release", why: "the same", d: wants(1, avoids(Release, Throttled)),
			o: fleet(append(append(serving(1), machine("i-8", 8, drainedNode)), numbered("h", 20, drainedNode, held(time.Minute, time.Hour))...),
				sized(2)), want: "waiting Throttled"},
		{name: "some held, the release waits for a rate limit", why: "there is room for others", d: wants(1, avoids(Release, ClientRateLimited)),
			o: fleet(append(append(serving(1), machine("i-8", 8, drainedNode)), numbered("h", 19, drainedNode, held(time.Minute, time.Hour))...),
				sized(2)), want: "Remove i-8 (ScaleIn), waiting ClientRateLimited"},
		{name: "many held, the release is denied", why: "the hooks end by themselves, and nothing else may wait for that",
			d: wants(1, refused(Release)), o: fleet(append(append(serving(1), machine("i-8", 8, drainedNode)),
				numbered("h", 20, drainedNode, held(time.Minute, time.Hour))...), sized(2)), want: "Remove i-8 (ScaleIn), waiting Denied"},
		{name: "group being deleted", why: "its deletion waits for our hook, and so we look after it", d: wants(1, deleting),
			o:    fleet(list(machine("i-9", 1, drainedNode, held(time.Minute, time.Hour))), gone),
			want: "Release i-9 (Drained), waiting GroupDeleting"},
		{name: "group deleted by hand", why: "the same", d: wants(1), o: fleet(list(machine("i-9", 1, held(time.Minute, time.Hour))), gone),
			want: "Drain i-9 (Terminating), waiting GroupDeleting"},
	})
}

func deleting(d *Desired) { d.Deleting = true }

func dataLost(hash string) func(*Desired) {
	return func(d *Desired) { d.LostBootstrapData = []string{hash} }
}

func rollOf(state ProviderRolloutState, content string, change ...func(*ProviderRollout)) func(*Observed) {
	return func(o *Observed) {
		o.ProviderRollout = &ProviderRollout{ID: "roll-1", State: state, Template: Template{Ref: "lt:2", Content: "v1:" + content}, Percent: 40,
			Started: now.Add(-time.Hour)}
		if o.ProviderRollout.ended() {
			o.ProviderRollout.Ended = now.Add(-4 * time.Minute)
		}
		for _, c := range change {
			c(o.ProviderRollout)
		}
	}
}

// beside puts machines beside the others.
func beside(list ...Instance) func(*Observed) {
	return func(o *Observed) { o.Beside = list }
}

// The cloud's own roll.
func TestNativeRoll(t *testing.T) {
	checkOn(t, rollsByItself, []row{
		{name: "stale", why: "what is stale is left to the cloud", d: wants(3), o: fleet(serving(3), newTemplate),
			want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "some stale", why: "a lost rollout is started again, whatever ended it, and names those that it is for", d: wants(3),
			o: fleet(append(serving(1), numbered("n", 2, current)...), newTemplate), want: "StartProviderRollout of lt:2 i-1 (TemplateChanged)"},
		{name: "none stale", why: "nothing is rolled for its own sake", d: wants(3), o: fleet(serving(3, current), newTemplate), want: "settled"},
		{name: "bootstrap data only", why: "a rotated token rolls nothing (rule 8)", d: wants(3), o: fleet(serving(3), func(o *Observed) {
			o.Versions = append([]Template{version(2, "a", "e")}, o.Versions...)
			o.Wanted.Data, o.Group.Template = "e", "lt:2"
		}), want: "settled"},
		{name: "strategy", why: "who gives a strategy wants our hand", d: wants(3, rolls(1, 0)), o: fleet(serving(3), newTemplate),
			want: "Resize to 4 (Surge)"},
		{name: "model skipped", why: "staleness is no cause (rule 7)", d: wants(3, func(d *Desired) { d.SkipModel = true }),
			o: fleet(serving(3), newTemplate), want: "settled"},
		{name: "runs", why: "its progress is what is waited for", d: wants(3),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "b")), want: "waiting ProviderRolloutRunning"},
		{name: "token rotated while it runs", why: "the group launches what the roll makes until it has ended, and a cloud refuses to have " +
			"it changed", d: wants(3), o: fleet(serving(3), tokenRotated, rollOf(ProviderRolloutRunning, "b")),
			want: "waiting ProviderRolloutRunning"},
		{name: "token rotated while it runs, drift", why: "other fields are repaired meanwhile", d: wants(3),
			o: fleet(serving(3), func(o *Observed) {
				o.Wanted = Template{Content: "v1:b", Data: "e"}
				o.Versions = append([]Template{version(3, "b", "e"), version(2, "b", "d")}, o.Versions...)
				o.Group.Template, o.Group.Drift = "lt:2", []string{"tags"}
			}, rollOf(ProviderRolloutRunning, "b")), want: "UpdateGroup fields tags (GroupChanged), waiting ProviderRolloutRunning"},
		{name: "token lost while it runs", why: "what it launches would never join", d: wants(3, dataLost("d")),
			o:    fleet(serving(3), tokenRotated, rollOf(ProviderRolloutRunning, "b", func(r *ProviderRollout) { r.Template.Data = "d" })),
			want: "CancelProviderRollout refs roll-1 (BootstrapTokenLost), waiting ProviderRolloutRunning"},
		{name: "every token lost", why: "another roll would do no better", d: wants(3, dataLost("d")),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "b", func(r *ProviderRollout) { r.Template.Data = "d" })),
			want: "waiting ProviderRolloutRunning"},
		{name: "rollback, token lost", why: "what the group launches meanwhile has to join", d: wants(3, rollsBack, dataLost("d")),
			o: fleet(serving(3), func(o *Observed) {
				o.Wanted = Template{Content: "v1:b", Data: "e"}
				o.Versions = append([]Template{version(2, "b", "e")}, o.Versions...)
			}), want: "UpdateGroup of lt:2 (TemplateOutOfDate)"},
		{name: "runs to something else", why: "it would replace machines for nothing", d: wants(3),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "c")),
			want: "CancelProviderRollout refs roll-1 (TemplateChanged), waiting ProviderRolloutRunning"},
		{name: "taken back before it replaced any", why: "likewise", d: wants(3), o: fleet(serving(3), rollOf(ProviderRolloutRunning, "b")),
			want: "CancelProviderRollout refs roll-1 (TemplateChanged), waiting ProviderRolloutRunning"},
		{name: "started by a user", why: "a roll whose target we do not know is not ours to end", d: wants(3),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "", unknownTarget)), want: "waiting ProviderRolloutRunning"},
		{name: "cancelling", why: "one roll at a time", d: wants(3), o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutCancelling, "c")),
			want: "waiting ProviderRolloutCancelling"},
		{name: "reverting", why: "the cloud finishes what it began", d: wants(3),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutReverting, "c")), want: "waiting ProviderRolloutReverting"},
		{name: "new machines do not join", why: "the cloud does not know of nodes and would go on to the last machine (rule 5)", d: wants(3),
			o:    fleet(append(serving(2), machine("i-9", 1, current, notJoined)), newTemplate, rollOf(ProviderRolloutRunning, "b")),
			want: "CancelProviderRollout refs roll-1 (RolloutHalted), waiting ProviderRolloutRunning, waiting NodesJoining"},
		{name: "new machines did not join", why: "none is begun before a user changes something", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, current, notJoined)), newTemplate,
				rollOf(ProviderRolloutCancelled, "b", failedTimes(0, 30))), want: "waiting RolloutHalted, waiting NodesJoining, settled"},
		{name: "new machines beside the others did not join", why: "what is paused is not resumed for more of them", d: wants(3),
			o: fleet(serving(3), newTemplate, beside(machine("i-9", 0, current, notJoined, born5(30))),
				rollOf(ProviderRolloutCancelled, "b", failedTimes(0, 30))), want: "waiting RolloutHalted, settled"},
		{name: "machines beside the others are late", why: "they may still come", d: wants(3),
			o: fleet(serving(3), newTemplate, beside(machine("i-9", 0, current, notJoined, born5(19))),
				rollOf(ProviderRolloutCancelled, "b", failedTimes(0, 30))), want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "machines beside the others from before the rollout", why: "a rollout that is taken back leads back to these, come what may",
			d: wants(3), o: fleet(serving(3), newTemplate, beside(machine("i-9", 2, current, notJoined)),
				rollOf(ProviderRolloutCancelled, "b", failedTimes(0, 30))), want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "machines beside the others of another template", why: "it is not for them that the rollout is halted", d: wants(3),
			o: fleet(serving(3), newTemplate, beside(machine("i-9", 0, notJoined, born5(30))),
				rollOf(ProviderRolloutCancelled, "b", failedTimes(0, 30))), want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "new machines did not join, another template", why: "that lets it go on, and takes the bad ones too", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, current, notJoined)), func(o *Observed) {
				newTemplate(o)
				o.Versions = append([]Template{version(3, "c", "d")}, o.Versions...)
				o.Wanted.Content, o.Group.Template = "v1:c", "lt:3"
			}, rollOf(ProviderRolloutCancelled, "b")), want: "StartProviderRollout of lt:3 i-1 i-2 i-9 (TemplateChanged), waiting NodesJoining"},
	})
}

// TestNativeRollEnds holds what follows when the cloud's rollout has ended, and what begins another.
func TestNativeRollEnds(t *testing.T) {
	paused := func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }
	behind := func(o *Observed) { o.Group.Template = "lt:1" }
	restart := func(d *Desired) {
		d.Restart = &Restart{Before: now.Add(-time.Minute), Cause: Cause{"Restart", "asked"}}
	}
	checkOn(t, rollsByItself, []row{
		{name: "cancelled for another", why: "the wanted one need not wait", d: wants(3),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutCancelled, "c")),
			want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "failed", why: "it is tried again after a pause, and said meanwhile", d: wants(3),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutFailed, "b", failedTimes(1, 4))),
			want: "waiting ProviderRolloutFailed, settled"},
		{name: "failed, pause over", why: "never forgotten", d: wants(3),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutFailed, "b", failedTimes(1, 5))),
			want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "failed often", why: "the pause grows", d: wants(3),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutFailed, "b", failedTimes(4, 39))),
			want: "waiting ProviderRolloutFailed, settled"},
		{name: "failed very often", why: "up to four hours", d: wants(3),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutFailed, "b", failedTimes(90, 240))),
			want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "succeeded and left some", why: "that is tried again as well, not at once", d: wants(3),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutSucceeded, "b")), want: "waiting ProviderRolloutFailed, settled"},
		{name: "paused", why: "none is begun", d: wants(3, paused), o: fleet(serving(3), newTemplate), want: "waiting RolloutPaused, settled"},
		{name: "paused while it runs", why: "and one that runs is ended where it stands; what it has replaced stays", d: wants(3, paused),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "b")),
			want: "CancelProviderRollout refs roll-1 (RolloutPaused), waiting ProviderRolloutRunning"},
		{name: "strategy given while it runs", why: "two who replace machines are one too many", d: wants(3, rolls(1, 0)),
			o:    fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "b")),
			want: "CancelProviderRollout refs roll-1 (StrategyChanged), waiting ProviderRolloutInProgress"},
		{name: "strategy, a user's roll", why: "it is waited for", d: wants(3, rolls(0, 1)),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "", unknownTarget)), want: "waiting ProviderRolloutInProgress"},
		{name: "nodes unknown", why: "none is begun in the dark", d: wants(3), o: fleet(serving(3), newTemplate, nodesUnknown),
			want: "waiting ConnectionDown, settled"},
		{name: "rollback", why: "the group keeps its template, so that the cloud knows what to go back to", d: wants(3, rollsBack),
			o: fleet(serving(3), newTemplate, behind), want: "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
		{name: "rolled back", why: "it is not pointed at the bad one behind the cloud's back", d: wants(3, rollsBack),
			o:    fleet(serving(3), newTemplate, behind, rollOf(ProviderRolloutReverted, "b", failedTimes(1, 1))),
			want: "waiting ProviderRolloutFailed, settled"},
		{name: "rollback, drift", why: "other fields are repaired with the template left alone", d: wants(3, rollsBack),
			o:    fleet(serving(3), newTemplate, behind, func(o *Observed) { o.Group.Drift = []string{"tags"} }),
			want: "UpdateGroup fields tags (GroupChanged)"},
		{name: "rollback, no machines", why: "a roll has nothing to do then", d: wants(0, rollsBack), o: fleet(nil, newTemplate, behind),
			want: "UpdateGroup of lt:2 (TemplateOutOfDate)"},
		{name: "restart", why: "machines of the wanted template are replaced too", d: wants(3, restart), o: fleet(serving(3)),
			want: "StartProviderRollout of lt:1 every i-1 i-2 i-3 (Restart)"},
		{name: "restarted", why: "once", d: wants(3, restart), o: fleet(serving(3, born5(0))), want: "settled"},
		{name: "restart after a roll", why: "one that has just ended is no reason to wait", d: wants(3, restart),
			o: fleet(serving(3), func(o *Observed) {
				rollOf(ProviderRolloutSucceeded, "a")(o)
			}), want: "StartProviderRollout of lt:1 every i-1 i-2 i-3 (Restart)"},
		{name: "pool deleted", why: "a roll would launch machines to replace those that are drained", d: wants(3, deleting),
			o: fleet(serving(3), rollOf(ProviderRolloutRunning, "a")), want: "CancelProviderRollout refs roll-1 (PoolDeleted)"},
		{name: "condemned", why: "one by name is our matter, not the roll's", d: wants(3),
			o: fleet(append(serving(3, current), machine("i-9", 1, current, condemnedOne)), newTemplate), want: "Drain i-9 (MachineDeleted)"},
	})
	p := Decide(wants(3), fleet(append(serving(2), machine("i-9", 1, current)), newTemplate,
		rollOf(ProviderRolloutRunning, "b", func(r *ProviderRollout) { r.Reason = "waiting for checkpoint" })), rolled(), now)
	if want := (Rollout{State: RolloutInProgress, Cause: Cause{"ProviderRolloutRunning",
		"the rollout of the Auto Scaling group to lt:2 is Running at 40 %: waiting for checkpoint"}, Left: 2, Total: 3}); p.Rollout != want {
		t.Errorf("want %+v, got %+v", want, p.Rollout)
	}
}

// failedTimes lets a rollout have failed n times in a row, the last time ago minutes ago.
func failedTimes(n, ago int) func(*ProviderRollout) {
	return func(r *ProviderRollout) {
		r.Failures, r.Ended, r.Reason = n, now.Add(-time.Duration(ago)*time.Minute), "too few healthy instances"
	}
}

// unknownTarget lets a rollout lead to a template that nothing says more of.
func unknownTarget(r *ProviderRollout) { r.Template = Template{Ref: "lt:$Latest"} }

// tokenRotated lets only the bootstrap data of the wanted template differ from the group's.
func tokenRotated(o *Observed) {
	o.Wanted = Template{Content: "v1:b", Data: "e"}
	o.Versions = append([]Template{version(3, "b", "e"), version(2, "b", "d")}, o.Versions...)
	o.Group.Template = "lt:2"
}

func rollsBack(d *Desired) { d.Rollback = true }

func rolled() Traits {
	tr := traits
	tr.ProviderRollout = true
	return tr
}

// What makes an instance stale, and what does not (rules 7 and 8), with the words that people read.
func TestStale(t *testing.T) {
	differs := func(i *Instance) {
		i.TemplateDiff = []string{"spec.awsLaunchTemplate.ami", "spec.awsLaunchTemplate.rootVolume"}
	}
	restart := func(d *Desired) {
		d.Restart = &Restart{Before: now.Add(-90 * time.Minute), Cause: Cause{"Restart", "kernel update"}}
	}
	for _, c := range []struct {
		name, why string
		d         Desired
		i         Instance
		want      string
	}{
		{"current", "nothing to say", wants(1), machine("i-1", 1, current), ""},
		{"content", "the sentence names where it comes from", wants(1), machine("i-1", 1),
			"TemplateChanged: launched from lt:1, which differs from what the specification asks for"},
		{"fields", "and what differs, where that is known", wants(1), machine("i-1", 1, differs),
			"TemplateChanged: launched from lt:1, which differs from what the specification asks for in spec.awsLaunchTemplate.ami, " +
				"spec.awsLaunchTemplate.rootVolume"},
		{"data only", "a rotated token is no reason (rule 8)", wants(1),
			machine("i-1", 1, from(Template{Ref: "lt:2", Content: "v1:b", Data: "old"})), ""},
		{"content unknown, the group's own", "the list of versions lags behind", wants(1), machine("i-1", 1, from(Template{Ref: "lt:2"})), ""},
		{"content unknown, known version", "its content can't be read now, and may be right", wants(1),
			machine("i-1", 1, from(Template{Ref: "lt:1"})), ""},
		{"version gone", "it can't have been launched from what is wanted", wants(1), machine("i-1", 1, from(Template{Ref: "lt:0"})),
			"TemplateChanged: launched from lt:0, which differs from what the specification asks for"},
		{"nothing known", "attached by hand: left alone", wants(1), machine("i-1", 1, from(Template{})), ""},
		{"model skipped", "no cause (rule 7)", wants(1, func(d *Desired) { d.SkipModel = true }), machine("i-1", 1), ""},
		{"restart", "all that were made before", wants(1, restart), machine("i-1", 2, current), "Restart: kernel update"},
		{"restart, made after", "its turn has passed", wants(1, restart), machine("i-1", 1, current), ""},
		{"restart, model skipped", "who asks for it gets it", wants(1, restart, func(d *Desired) { d.SkipModel = true }), machine("i-1", 2),
			"Restart: kernel update"},
		{"restart, birth unknown", "the node's age tells", wants(1, restart),
			machine("i-1", 2, current, func(i *Instance) { i.Created = time.Time{} }), "Restart: kernel update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, v := range Decide(c.d, fleet(list(c.i), newTemplate), traits, now).Instances {
				got += v.Cause.Reason + ": " + v.Cause.Message
			}
			if got != c.want {
				t.Errorf("%s: want %q, got %q", c.why, c.want, got)
			}
		})
	}
}

// Staleness is no preference either while the model is skipped.
func TestSkipModelIsNoPreference(t *testing.T) {
	o := fleet(list(machine("i-1", 3, current), machine("i-2", 2), machine("i-3", 1)), newTemplate)
	for skip, want := range map[bool]string{false: "i-2", true: "i-1"} {
		got := Decide(wants(2, func(d *Desired) { d.SkipModel = skip }), o, traits, now).Step
		if got == nil || len(got.Targets) != 1 || got.Targets[0].ID != want {
			t.Errorf("skip %v: want %s to go, got %+v", skip, want, got)
		}
	}
}

// Another client sizes the group.
func TestExternalSurge(t *testing.T) {
	surge := func(n int) func(*Observed) { return func(o *Observed) { o.Group.Surge = n } }
	d := wants(0, external, rolls(1, 0))
	checkAll(t, []row{
		{name: "surge", why: "the account comes first: a size without one reads as the autoscaler's", d: d, o: fleet(serving(3), newTemplate),
			want: "UpdateGroup of lt:2 (SurgePlanned)"},
		{name: "another surge planned", why: "the plan is for one size", d: d, o: fleet(serving(3), newTemplate, plannedSurge(1, 5)),
			want: "UpdateGroup of lt:2 (SurgePlanned)"},
		{name: "surge planned", why: "where nothing else is possible the size is written", d: d,
			o: fleet(serving(3), newTemplate, plannedSurge(1, 4)), want: "Resize to 4 (Surge)"},
		{name: "account shows no effect", why: "a cloud that drops the account gets no surge, or the group would grow for ever",
			d: wants(0, external, rolls(1, 0), refused(UpdateGroup)), o: fleet(serving(3), newTemplate), want: "waiting Denied"},
		{name: "surge there", why: "what is wanted is the size without it", d: d,
			o: fleet(append(serving(3), machine("n-1", 0, current)), newTemplate, surge(1)), want: "Drain i-1 (TemplateChanged)"},
		{name: "last one", why: "it takes the surge with it", d: d,
			o:    fleet(append(numbered("n", 3, current), machine("i-9", 9, drainedNode)), newTemplate, surge(1)),
			want: "Remove i-9 (TemplateChanged)"},
		{name: "sized up meanwhile", why: "the new ones are wanted now, and serve before any goes", d: d,
			o: fleet(append(serving(3), machine("n-1", 0, current)), newTemplate, surge(1), sized(6)), want: "waiting InstancesLaunching"},
		{name: "rollout taken back", why: "the surge goes, and not one machine more", d: d,
			o: fleet(append(serving(3), machine("n-1", 0)), surge(1)), want: "Drain i-1 (ScaleIn)"},
		{name: "no surge, too many", why: "its surplus is the matter of whom sizes it", d: wants(1, external), o: fleet(serving(3)),
			want: "settled"},
	})
	step := Decide(d, fleet(serving(3), newTemplate, plannedSurge(1, 4)), traits, now).Step
	if step.Surge != 1 {
		t.Errorf("want the step to say how much of the size is ours, got %+v", step)
	}
	step = Decide(d, fleet(append(numbered("n", 3, current), machine("i-9", 9, drainedNode)), newTemplate, surge(1)), traits, now).Step
	if step.Surge != 0 {
		t.Errorf("want the surge gone with the last one, got %+v", step)
	}
}

// Where an external autoscaler owns the size, and the cloud lowers it with every removal, nothing but a surge keeps a place.
func TestStrandedInstances(t *testing.T) {
	lost := machine("i-9", 60, notJoined)
	text := "i-9 can't be replaced (it has not joined the cluster in time, and it was launched from model lt:1, which differs from what the " +
		"specification asks for): " +
		"replicas are managed externally and spec.strategy.rollingUpdate.maxSurge is 0: set it to 1 or more, or delete the machine"
	for name, c := range map[string]struct {
		why  string
		d    Desired
		want bool
	}{
		"no surge":    {"the autoscaler's own removal of it could not be told from ours", wants(0, external, rolls(0, 1)), true},
		"surge":       {"another is launched first", wants(0, external, rolls(1, 0)), false},
		"sized by us": {"its place is ours", wants(3, rolls(0, 1)), false},
		"none but fresh": {"what is not stale is not replaced for it",
			wants(0, external, rolls(0, 1), func(d *Desired) { d.SkipModel = true }), false},
	} {
		p := Decide(c.d, fleet(append(numbered("n", 2, current), lost), newTemplate), onQuick(scaleSet), now)
		if got := slices.Contains(p.Waiting, Cause{replicasManagedExternally, text}); got != c.want || c.want &&
			(p.Step != nil && p.Step.Kind == Remove || p.Waiting[0].Reason != replicasManagedExternally) {
			t.Errorf("%s: %s: want it said %t, and no removal then, got %+v and %+v", name, c.why, c.want, p.Waiting, p.Step)
		}
	}
}

// A failed instance is no exception: its removal alone would shrink the group.
func TestStrandedFailedInstances(t *testing.T) {
	failed := machine("i-9", 60, notJoined, func(i *Instance) { i.State = Failed })
	text := "i-9 can't be replaced (the instance failed): replicas are managed externally and spec.strategy.rollingUpdate.maxSurge is 0: " +
		"set it to 1 or more, or delete the machine"
	for name, c := range map[string]struct {
		why  string
		d    Desired
		want bool
	}{
		"no surge": {"the autoscaler's own removal of it could not be told from ours", wants(0, external, rolls(0, 1)), true},
		"held": {"a held rollout changes nothing about it",
			wants(0, external, rolls(0, 1), func(d *Desired) { d.RolloutPaused = &Cause{"Paused", "held"} }), true},
		"surge":       {"another is launched first", wants(0, external, rolls(1, 0)), false},
		"sized by us": {"its place is ours", wants(3, rolls(0, 1)), false},
	} {
		p := Decide(c.d, fleet(append(numbered("n", 2, current), failed)), onQuick(scaleSet), now)
		if got := slices.Contains(p.Waiting, Cause{replicasManagedExternally, text}); got != c.want || c.want && p.Step != nil &&
			p.Step.Kind == Remove {
			t.Errorf("%s: %s: want it said %t, and no removal then, got %+v and %+v", name, c.why, c.want, p.Waiting, p.Step)
		}
		if replaced := slices.ContainsFunc(p.Waiting, func(c Cause) bool { return c.Reason == "InstancesFailed" }); replaced == c.want {
			t.Errorf("%s: want its replacement said %t, got %+v", name, !c.want, p.Waiting)
		}
	}
}

// A failed instance that nothing replaces is on no way: the pool rests, an older template of it is no rollout in progress, and a removal
// that waits for its place says so.
func TestStrandedFailedInstanceIsAtRest(t *testing.T) {
	failed := machine("i-9", 60, notJoined, func(i *Instance) { i.State = Failed })
	requested := func(i *Instance) { i.DeletionRequested = &Cause{"MachineDeleted", "x"} }
	left := func(o *Observed) { o.Group.LeavesFailed = "spec.repair" }
	for _, c := range []struct {
		name, why string
		o         Observed
		quiescent bool
		state     RolloutState
		says      string
	}{
		{name: "up to date", why: "nothing in the cloud is on its way", o: fleet(append(numbered("n", 2), failed)), quiescent: true,
			state: RolloutDone},
		{name: "of an older template", why: "nothing replaces it", o: fleet(append(numbered("n", 2, current), failed), newTemplate),
			quiescent: true, state: RolloutNone},
		{name: "beside a requested deletion", why: "its place is what the deletion waits for",
			o:     fleet(append(numbered("n", 1), machine("n-2", 9, requested), failed)),
			state: RolloutInProgress, says: "removal of n-2 waits until more than 2 of 3 machines are available, now 2 are; i-9 failed, and " +
				"nothing replaces it; raise spec.strategy.rollingUpdate.maxUnavailable to go on at once"},
		{name: "left by the group", why: "nor does it wait for what the user leaves", o: fleet(append(numbered("n", 2), failed), left),
			quiescent: true, state: RolloutDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Decide(wants(0, external, rolls(0, 1)), c.o, onQuick(scaleSet), now)
			if p.Step != nil || p.Quiescent != c.quiescent || p.Rollout.State != c.state {
				t.Errorf("%s: want no step, rest %t and rollout %s, got %s, %t and %+v", c.why, c.quiescent, c.state, say(p), p.Quiescent, p.Rollout)
			}
			if c.says != "" && !slices.Contains(p.Waiting, Cause{budgetSpent, c.says}) {
				t.Errorf("%s: want %q, got %+v", c.why, c.says, p.Waiting)
			}
		})
	}
}

// A rollout is not done before the last machine of an older template has gone, whatever it goes for by then: a Machine that was
// deleted for it asks for that itself, and one that fails is replaced as a failed one.
func TestRolloutEndsWithItsLastMachine(t *testing.T) {
	asked := func(i *Instance) { condemnedOne(i); drainingNode(i) }
	for name, last := range map[string]func(*Instance){"its Machine is being deleted": asked,
		"it failed": func(i *Instance) { i.State, i.Node.Ready = Failed, false }} {
		o := fleet(append(numbered("n", 2, current), machine("i-9", 9, last)), newTemplate, sized(3))
		p := Decide(wants(2, rolls(1, 0)), o, onQuick(scaleSet), now)
		want := Rollout{State: RolloutInProgress, Left: 1, Total: 3,
			Cause: Cause{templateChanged, "1 of 3 machines to replace: launched from model lt:1, which differs from what the specification asks " +
				"for"}}
		if p.Rollout != want {
			t.Errorf("%s: want %+v, got %+v", name, want, p.Rollout)
		}
		o.Instances = o.Instances[:2]
		o.Group.Size = 2
		if p = Decide(wants(2, rolls(1, 0)), o, onQuick(scaleSet), now); p.Rollout.State != RolloutDone {
			t.Errorf("%s: want it done with the machine gone, got %+v", name, p.Rollout)
		}
	}
}

func rollUnknown(o *Observed) {
	o.ProviderRolloutUnknown = &Cause{"Denied", "autoscaling:DescribeInstanceRefreshes: AccessDenied: not authorized"}
}

// Whether the cloud rolls by itself is not known while it refuses to say: nothing is begun beside what may run, and the rest goes on.
func TestRollUnknown(t *testing.T) {
	byCloud := traits
	byCloud.ProviderRollout = true
	byHand := wants(3, func(d *Desired) { d.Strategy = &Strategy{MaxSurge: IntOrPercent{Value: 1}} })
	for _, c := range []struct {
		name, why string
		d         Desired
		t         Traits
		o         Observed
		want      string
		state     RolloutState
	}{
		{"stale, left to the cloud", "another roll may run", wants(3), byCloud,
			fleet(serving(3, from(Template{Ref: "lt:0", Content: "z"})), rollUnknown), "waiting Denied, settled", RolloutWaiting},
		{"stale, by our hand", "the two together would take more than the budgets allow", byHand, traits,
			fleet(serving(3, from(Template{Ref: "lt:0", Content: "z"})), rollUnknown), "waiting Denied, settled", RolloutWaiting},
		{"surplus", "a scale-in takes no more than was asked for", wants(2), byCloud, fleet(serving(3), rollUnknown), "Drain i-1 (ScaleIn)",
			RolloutDone},
		{"versions", "none is deleted that a roll may launch from", wants(3), byCloud, fleet(serving(3), rollUnknown, func(o *Observed) {
			for _, ref := range []string{"lt:-1", "lt:-2", "lt:-3", "lt:-4"} {
				o.Versions = append(o.Versions, Template{Ref: ref, Content: ref})
			}
		}), "settled", RolloutDone},
	} {
		p := Decide(c.d, c.o, c.t, now)
		if got := say(p); got != c.want || p.Rollout.State != c.state {
			t.Errorf("%s: %s:\nwant %s, %s\n got %s, %s", c.name, c.why, c.want, c.state, got, p.Rollout.State)
		}
	}
}

// Rule 8: what machines may still be launched from, so that its bootstrap data is kept valid.
func TestLaunchesFrom(t *testing.T) {
	old := func(o *Observed) { o.Group.Template = "lt:1" }
	for _, c := range []struct {
		name, why string
		o         Observed
		want      string
	}{
		{"at rest", "the group's own", fleet(serving(1)), "[lt:1 d]"},
		{"rolling", "a roll pins what it makes machines of, while the group goes back to the old one if it fails",
			fleet(serving(1), newTemplate, old, rollOf(ProviderRolloutRunning, "b")), "[lt:1 d] [lt:2 d]"},
		{"rolled", "a roll that has ended makes none", fleet(serving(1), newTemplate, rollOf(ProviderRolloutSucceeded, "b")), "[lt:2 d]"},
		{"rolls to the group's own", "once is enough", fleet(serving(1), newTemplate, rollOf(ProviderRolloutRunning, "b")), "[lt:2 d]"},
		{"roll unknown", "a roll that can't be seen may launch from any version", fleet(serving(1), newTemplate, old, rollUnknown),
			"[lt:1 d] [lt:2 d]"},
		{"unknown", "it is named even so", fleet(serving(1), func(o *Observed) { o.Group.Template = "lt:9" }), "[lt:9 ]"},
		{"no group", "nothing launches", nothing(), ""},
	} {
		var got []string
		for _, v := range c.o.LaunchesFrom() {
			got = append(got, fmt.Sprintf("[%s %s]", v.Ref, v.Data))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s: want %s, got %v", c.name, c.why, c.want, got)
		}
	}
}
