package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

func TestState(t *testing.T) {
	for _, r := range []row{
		{"deleting", "nothing matters more", and(deleting, failing(denied)), "Deleting"},
		{"observation failed", "an error is shown before what was known", failing(denied), "Error"},
		{"refused by us", "a user has to change something", replicas(99), "Error"},
		{"foreign", "the same", foreign, "Error"},
		{"refused by the cloud", "the same, most of the time", and(replicas(5), refused(pool.Resize, denied)), "Error"},
		{"default without effect", "no machine is launched from it", refused(pool.DefaultTemplate, ineffective), "Running"},
		{"without effect", "what is asked for is never so", and(drift("spec.defaultInstanceWarmup"), refused(pool.UpdateGroup, ineffective)),
			"Error"},
		{"held back", "what the cloud only wants later goes on by itself",
			and(replicas(5), refused(pool.Resize, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited})), "Scaling"},
		{"specification can't be met", "an image that there is not is not waited for", and(wanted("", ""), issue), "Error"},
		{"not asked", "nothing is known", unseen, "Waiting"},
		{"held", "something else has to come first", and(noGroup, held), "Waiting"},
		{"held, but there", "a pool that exists goes on", held, "Running"},
		{"no group", "it is being made", noGroup, "Creating"},
		{"the cloud's roll has failed", "machines are still to be replaced, after a pause",
			and(native, first(stale), cloudRolls(pool.ProviderRolloutFailed, 40, "too few healthy")), "Updating"},
		{"growing", "the number is not yet right", replicas(5), "Scaling"},
		{"growing, size set", "until the machines are there", and(replicas(5), size(5)), "Scaling"},
		{"shrinking", "the number is not yet right", replicas(1), "Scaling"},
		{"pending", "machines come", first(pending), "Scaling"},
		{"not joined", "they come until they have joined", first(notJoined), "Scaling"},
		{"never ready", "and were Ready once", first(neverReady), "Scaling"},
		{"leaving", "machines go", first(leaving), "Scaling"},
		{"failed", "a machine will be replaced", first(broken), "Scaling"},
		{"template changed", "the template is being made", wanted("v1:b", "d"), "Updating"},
		{"bootstrap data changed", "a rotated token changes nothing that runs", wanted("v1:a", "e"), "Running"},
		{"bootstrap data behind", "nor does the version that it is in", and(wanted("v1:a", "e"), newest(rotated)), "Running"},
		{"drift", "the group is being changed", drift("tags"), "Updating"},
		{"template behind", "likewise", and(wanted("v1:b", "d"), newest(pool.Template{Ref: "lt-1:2", Content: "v1:b", Data: "d"})), "Updating"},
		{"need missing", "likewise", lacking, "Updating"},
		{"busy", "the cloud is at work on it", busy, "Updating"},
		{"group failed", "a user has to look", and(noMachines, failedGroup), "Error"},
		{"group can't be changed", "a user has to decide", stiff, "Error"},
		{"bootstrap data, rolls of changes alone", "nothing is made for it", and(changes, wanted("v1:a", "e")), "Running"},
		{"a roll of changes", "machines are being replaced", and(changes, busy, first(stale), cloudRolls(pool.ProviderRolloutRunning, 40, "")),
			"Updating"},
		{"rolling", "machines are being replaced", and(rolling, first(stale), size(4)), "Updating"},
		{"rolling and growing", "their number is not yet right", and(rolling, first(stale), replicas(8)), "Scaling"},
		{"halted", "a user has to change something", and(rolling, first(stale), second(late)), "Error"},
		{"paused", "that is as a user wants it", and(rolling, paused, first(stale)), "Running"},
		{"the cloud rolls", "machines are being replaced", and(native, cloudRolls(pool.ProviderRolloutRunning, 1, "")), "Updating"},
		{"not ready", "all machines are there and one is not well", first(unready), "Unhealthy"},
		{"workload cluster away", "unobserved nodes are not reported as unhealthy", away, "Running"},
		{"sized elsewhere", "whatever the size, it is right", and(external, replicas(9)), "Running"},
		{"as wanted", "the plain case", and(), "Running"},
	} {
		t.Run(r.name, func(t *testing.T) {
			if got := aScene(r.change).report().State; string(got) != r.want {
				t.Errorf("%s: want %s, got %s", r.why, r.want, got)
			}
		})
	}
}

// prunes has all but the newest of these versions, which nothing launches from, deleted.
func prunes(refs ...string) func(*scene) {
	return func(s *scene) {
		s.started, s.d.TemplateHistoryLimit = true, 2
		for _, ref := range refs {
			s.o.Versions = append(s.o.Versions, pool.Template{Ref: ref, Content: ref})
		}
	}
}

// eventsCases are the cases of TestEvents.
var eventsCases = []row{
	{"at rest", "an event reports a change, and there was none", began, ""},
	{"not begun", "a step that was only thought of is no event", replicas(5), ""},
	{"template made", "the cause is in it", and(noGroup, noTemplate, began),
		"TemplateCreated: Created a version of the launch template: there is no launch template yet"},
	{"group made", "how many machines", and(noGroup, began),
		"GroupCreated: Created the Auto Scaling group: there is no Auto Scaling group yet: creating it with 3 machines"},
	{"group changed", "which fields", and(drift("tags", "spec.subnets"), began),
		"GroupUpdated: Updated the Auto Scaling group: the Auto Scaling group differs in tags, spec.subnets"},
	{"grown", "to what size", and(replicas(5), began),
		"Scaled: Resized the Auto Scaling group to 5: the Auto Scaling group has a size of 3, the pool wants 5"},
	{"drain begun", "whose, with its node", and(replicas(2), began),
		"DrainStarted: Started draining i-1 (node-i-1): the Auto Scaling group has a size of 3, the pool wants 2"},
	{"drain goes on", "further rounds are no news", and(replicas(2), first(draining), began), ""},
	{"one more drain", "only the new one is news", and(replicas(1), first(draining), began),
		"DrainStarted: Started draining i-2 (node-i-2): the Auto Scaling group has a size of 3, the pool wants 1"},
	{"one of two drains fails", "the other has begun all the same",
		and(replicas(1), news, func(s *scene) { s.failed = map[string]bool{"i-1": true} }),
		"DrainStarted: Started draining i-2 (node-i-2): the Auto Scaling group has a size of 3, the pool wants 1\nWarning DrainFailed: " +
			"autoscaling:X: AccessDenied: not authorized"},
	{"one of two drains fails again", "the other has begun all the same",
		and(replicas(1), func(s *scene) { s.failed = map[string]bool{"i-1": true} }),
		"DrainStarted: Started draining i-2 (node-i-2): the Auto Scaling group has a size of 3, the pool wants 1"},
	{"both drains fail", "none has begun", and(replicas(1), news, func(s *scene) { s.failed = map[string]bool{"i-1": true, "i-2": true} }),
		"Warning DrainFailed: autoscaling:X: AccessDenied: not authorized"},
	{"a drain's time is up", "whose, and what kept it: pods and budgets", and(replicas(2), first(draining), timeout(30*time.Second), began),
		"InstancesRemoved: Removed i-1 (node-i-1): the Auto Scaling group has a size of 3, the pool wants 2\nWarning DrainTimedOut: Stopped " +
			"draining i-1 (node-i-1) when its drain timeout of 30s had ended: 2 pods were left, kept by default/web (budget web)"},
	{"a drain's time is up, nothing blocked", "pods that had not ended yet are counted",
		and(replicas(2), first(draining), first(func(i *pool.Instance) { i.Node.Blocked, i.Node.Remaining = nil, 1 }), timeout(30*time.Second),
			began), "InstancesRemoved: Removed i-1 (node-i-1): the Auto Scaling group has a size of 3, the pool wants 2\nWarning DrainTimedOut: " +
			"Stopped draining i-1 (node-i-1) when its drain timeout of 30s had ended: 1 pod was left"},
	{"a drain's time is up, pool deleted", "the group goes with what still runs",
		and(deleting, first(draining), timeout(30*time.Second), began, func(s *scene) { s.o.Instances = s.o.Instances[:1] }),
		"GroupDeleted: Started deletion of the Auto Scaling group: the pool is being deleted\nWarning DrainTimedOut: Stopped draining i-1 " +
			"(node-i-1) when its drain timeout of 30s had ended: 2 pods were left, kept by default/web (budget web)"},
	{"a drain's time is up, not begun", "what was not removed is still being drained",
		and(replicas(2), first(draining), timeout(30*time.Second)), ""},
	{"quarantined", "whose, what keeps it, and that the rollout goes on", and(stuckFor, first(stale), first(draining), began),
		"Warning NodeQuarantined: Quarantined i-1 (node-i-1): the drain has been blocked for more than 30s by default/web (budget web). The " +
			"rollout goes on with other machines"},
	{"quarantined before", "it is no news", and(stuckFor, first(stale), first(draining), first(quarantined), began), ""},
	{"left quarantine", "its pods are gone, and it goes", and(stuckFor, first(stale), first(draining), first(quarantined), first(emptied),
		began), "InstancesReplaced: Replaced i-1 (node-i-1): launched from lt-1:0, which differs from what the specification asks for in " +
		"spec.ami\nNodeReleased: Released i-1 (node-i-1) from quarantine: the drain has ended"},
	{"given back from quarantine", "why", and(stuckFor, first(draining), first(quarantined), began),
		"DrainEnded: Cancelled the drain of i-1 (node-i-1): the pool wants the instance again\n" +
			"NodeReleased: Released i-1 (node-i-1) from quarantine: the pool wants the instance again"},
	{"forced", "the rollout's time, and what kept it", and(stuckFor, forced, first(stale), first(draining), began),
		"InstancesReplaced: Replaced i-1 (node-i-1): launched from lt-1:0, which differs from what the specification asks for in spec.ami\n" +
			"Warning DrainTimedOut: Stopped draining i-1 (node-i-1) when the 30s that its rollout waits for had ended: 2 pods were left, kept " +
			"by default/web (budget web)"},
	{"removed after a drain", "a drain that has ended is no warning",
		and(replicas(2), first(draining), first(func(i *pool.Instance) { i.Node.Blocked, i.Node.Remaining = nil, 0 }), timeout(30*time.Second),
			began), "InstancesRemoved: Removed i-1 (node-i-1): the Auto Scaling group has a size of 3, the pool wants 2"},
	{"removed", "whose", and(replicas(2), first(notJoined), began),
		"InstancesRemoved: Removed i-1: the Auto Scaling group has a size of 3, the pool wants 2"},
	{"removed, marked", "the step's own cause", and(replicas(2), first(func(i *pool.Instance) { i.Marked = true; i.Node = nil }), began),
		"InstancesRemoved: Removed i-1: the Auto Scaling group has a size of 3, the pool wants 2"},
	{"many drained", "a message has a bound", and(many, began),
		"DrainStarted: Started draining i-1 (node-i-1), i-2 (node-i-2), i-3 (node-i-3), j-0 (node-i-1), j-1 (node-i-1), j-2 (node-i-1), j-3 " +
			"(node-i-1), j-4 (node-i-1), j-5 (node-i-1), j-6 (node-i-1) and 2 more: the Auto Scaling group has a size of 12, the pool wants 0"},
	{"given back", "whose", and(first(draining), began),
		"DrainEnded: Cancelled the drain of i-1 (node-i-1): the pool wants the instance again"},
	{"bootstrap data changed", "a rotation is no news: a version with another token", and(wanted("v1:a", "e"), began), ""},
	{"group pointed at new bootstrap data", "nor is its way into the group", and(wanted("v1:a", "e"), newest(rotated), began), ""},
	{"default moved to new bootstrap data", "nor the default", and(wanted("v1:a", "e"), newest(rotated), began, func(s *scene) {
		s.o.Group.Template, s.o.Versions[1].Undeletable = "lt-1:2", true
	}), ""},
	{"older bootstrap data pruned", "nor the end of the token before",
		and(wanted("v1:a", "e"), newest(rotated), began, noMachines, func(s *scene) {
			s.o.Group.Template, s.o.Group.Size, s.d.Replicas = "lt-1:2", 0, 0
		}), ""},
	{"pruned beside older bootstrap data", "what is lost from the history is named",
		and(wanted("v1:a", "e"), newest(rotated), noMachines, prunes("lt-0:2", "lt-0:1"), func(s *scene) {
			s.o.Group.Template, s.o.Group.Size, s.d.Replicas = "lt-1:2", 0, 0
		}), "TemplatesPruned: Deleted version 1 of launch template lt-1, version 1 of launch template lt-0: nothing launches from 2 versions " +
			"of the launch template any more"},
	{"group pointed at another template", "that is a change",
		and(wanted("v1:b", "d"), newest(pool.Template{Ref: "lt-1:2", Content: "v1:b", Data: "d"}), began),
		"GroupUpdated: Updated the Auto Scaling group: the Auto Scaling group launches from lt-1:1, the newest is lt-1:2"},
	{"group changed with new bootstrap data", "what else changes is told", and(wanted("v1:a", "e"), newest(rotated), drift("tags"), began),
		"GroupUpdated: Updated the Auto Scaling group: the Auto Scaling group differs in tags"},
	{"pruned", "which", prunes("lt-0:3", "lt-0:2", "lt-0:1"),
		"TemplatesPruned: Deleted versions 1, 2 of launch template lt-0: nothing launches from 2 versions of the launch template any more"},
	{"one pruned", "which", prunes("lt-0:2", "lt-0:1"),
		"TemplatesPruned: Deleted version 1 of launch template lt-0: nothing launches from 1 version of the launch template any more"},
	{"pruned without numbers", "a cloud may have a template for each version", prunes("b", "c"),
		"TemplatesPruned: Deleted launch template c: nothing launches from 1 version of the launch template any more"},
	{"group deleted", "why", func(s *scene) { s.d.Deleting, s.started, s.o.Instances = true, true, nil },
		"GroupDeleted: Started deletion of the Auto Scaling group: the pool is being deleted"},
	{"template deleted", "why", and(deleting, noGroup, began),
		"TemplateDeleted: Deleted the launch template: the pool is being deleted, and its launch template is not used any more"},
	{"replaced", "whose, and why", and(rolling, first(stale), first(notJoined),
		func(s *scene) { s.o.Instances[0].Created = epoch.Add(-time.Hour) }, began),
		"InstancesReplaced: Replaced i-1: it has not joined the cluster in time, and it was launched from lt-1:0, which differs from what the " +
			"specification asks for in spec.ami"},
	{"set aside", "whose, and what comes", and(rolling, asides, first(stale), began),
		"InstancesMovedToStandby: Moved to standby: i-1 (node-i-1): 1 machine launched beside the 3 that the pool wants, before others " +
			"are replaced"},
	{"default moved", "to what, and why", func(s *scene) {
		s.started, s.step = true, &pool.Step{Kind: pool.DefaultTemplate, Template: "lt-1:1",
			Cause: pool.Cause{Reason: "DefaultVersionOutOfDate", Message: "the default is lt-1:0"}}
	}, "TemplateDefaulted: Changed the default version of the launch template to lt-1:1: the default is lt-1:0"},
	{"provided", "what", and(lacking, began),
		"PrerequisitesCreated: Created role nodes-1, policy P: a prerequisite of the Auto Scaling group is missing or out of date"},
	{"cleaned up", "what", and(deleting, noGroup, noTemplate, began, func(s *scene) { s.o.Leftovers = []string{"role nodes-1"} }),
		"LeftoversDeleted: Deleted role nodes-1: the pool is being deleted, and its Auto Scaling group is gone"},
	{"version with words", "what is new in it", and(wanted("v1:b", "d"), began,
		func(s *scene) { s.o.Wanted.Description = "instanceType m5.large -> m5.xlarge" }),
		"TemplateVersionCreated: Created a version of the launch template: the specification of the launch template has changed: instanceType " +
			"m5.large -> m5.xlarge"},
	{"failed group made again", "why", and(noGroup, began, func(s *scene) {
		s.o.Group = &pool.Group{ID: "arn:g", Size: 3, Max: 10, Template: "lt-1:1"}
		failedGroup(s)
		stiff(s)
	}), "GroupDeleted: Started deletion of the Auto Scaling group: the Auto Scaling group failed and differs in spec.subnetIDs, which " +
		"can't be changed: recreating it"},
	{"roll begun", "to what, and why", and(native, first(stale), began),
		"ProviderRolloutStarted: Started rollout of the Auto Scaling group to lt-1:1: 1 of 3 machines to replace: launched from lt-1:0, which " +
			"differs from what the specification asks for in spec.ami"},
	{"roll cancelled", "why", and(native, paused, cloudRolls(pool.ProviderRolloutRunning, 1, ""), began),
		"ProviderRolloutCancelled: Cancelled rollout of the Auto Scaling group: paused by muster.dev/rollout"},
	{"released", "whose", and(first(heldDrained), began), "InstancesReleased: Released i-1 (node-i-1): no pods are left to evict"},
	{"held longer", "a heartbeat is no news",
		and(first(heldDrained), first(func(i *pool.Instance) { i.Node.Remaining, i.LifecycleHook.Until = 1, epoch.Add(time.Minute) }),
			began), ""},
	{"drained for several reasons", "each machine stands with its own", and(first(func(i *pool.Instance) {
		i.TerminationNotice = &pool.Cause{Reason: "SpotInterruption", Message: "the cloud takes it"}
	}), second(func(i *pool.Instance) {
		i.DeletionRequested = &pool.Cause{Reason: "MachineDeleted", Message: "its Machine was deleted"}
		i.Node.Cordoned = true
	}), size(4), replicas(3), func(s *scene) {
		i := s.o.Instances[2]
		i.ID = "i-4"
		s.o.Instances = append(s.o.Instances, i)
	}, began), "DrainStarted: Started draining i-1 (node-i-1): the cloud takes it\nDrainStarted: Started draining i-2 (node-i-2): its " +
		"Machine was deleted"},
	{"refused for the first time", "a warning with the cloud's words", and(replicas(5), news),
		"Warning ResizeFailed: autoscaling:X: AccessDenied: not authorized"},
	{"begun again without effect", "one event for the change", and(drift("x"), began, func(s *scene) { s.repeated = true }), ""},
	{"refused again", "the same words are no news", refused(pool.Resize, denied), ""},
	{"can't be observed", "a warning", and(failing(denied), news), "Warning ObserveFailed: autoscaling:X: AccessDenied: not authorized"},
	{"still can't be observed", "no news", failing(denied), ""},
}

var began = func(s *scene) { s.started = true }

var news = func(s *scene) { s.fresh = denied }

var many = func(s *scene) {
	s.d.Replicas, s.o.Group.Size = 0, 12
	for k := range 9 {
		i := s.o.Instances[0]
		i.ID = fmt.Sprintf("j-%d", k)
		s.o.Instances = append(s.o.Instances, i)
	}
}

func TestEvents(t *testing.T) {
	for _, r := range eventsCases {
		t.Run(r.name, func(t *testing.T) {
			var list []string
			for _, e := range aScene(r.change).report().Events {
				text := e.Reason + ": " + e.Message
				if e.Warning {
					text = "Warning " + text
				}
				list = append(list, text)
			}
			if got := strings.Join(list, "\n"); got != r.want {
				t.Errorf("%s:\nwant %s\n got %s", r.why, r.want, got)
			}
		})
	}
}

// Every step that is reported to users has a reason word and a verb of its own.
func TestEveryStepHasWords(t *testing.T) {
	kinds := map[string]pool.StepKind{}
	for _, kind := range []pool.StepKind{
		pool.PutTemplate, pool.CreateGroup, pool.UpdateGroup, pool.Resize, pool.Drain, pool.Undrain, pool.Remove, pool.Replace, pool.EnterStandby,
		pool.Apply, pool.Protect, pool.Unprotect, pool.Release,
		pool.StartProviderRollout, pool.CancelProviderRollout, pool.DefaultTemplate, pool.PruneTemplates, pool.DeleteGroup, pool.DeleteTemplates,
		pool.EnsurePrerequisites, pool.CleanUp,
	} {
		s := aScene(func(s *scene) { s.started = true })
		s.step = &pool.Step{Kind: kind, Cause: pool.Cause{Reason: "R", Message: "why"}, Fields: []string{"what"}, Template: "lt-1:1",
			Targets: []pool.InstanceRef{{ID: "i-1", Node: "node-i-1", Cause: pool.Cause{Reason: "R", Message: "why"}}}}
		events := s.report().Events
		if len(events) != 1 || events[0].Reason == "" || strings.Contains(events[0].Message, "%!") ||
			!strings.HasSuffix(events[0].Message, ": why") {
			t.Errorf("%s: want one event with words, got %+v", kind, events)
			continue
		}
		if other, twice := kinds[events[0].Reason]; twice {
			t.Errorf("%s and %s: want a reason for each, got %s for both", kind, other, events[0].Reason)
		}
		kinds[events[0].Reason] = kind
	}
}
