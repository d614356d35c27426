package pool

import (
	"testing"
	"time"
)

// The changes of a group, named as a person would say them.
func busyGroup(o *Observed) { o.Group.Busy = &Cause{"Updating", "the cloud is at work"} }
func brokenGroup(o *Observed) {
	o.Group.Failed, o.Group.Created = &Cause{"CreateFailed", "no subnets"}, now.Add(-time.Hour)
}
func stuckGroup(minutes int) func(*Observed) {
	return func(o *Observed) {
		o.Group.Failed, o.Group.DeleteFailedAt = &Cause{"DeleteFailed", "in use"}, now.Add(-time.Duration(minutes)*time.Minute)
	}
}

func restartOf(before time.Duration) func(*Desired) {
	return func(d *Desired) {
		d.Restart = &Restart{Before: now.Add(-before), Cause: Cause{"Restart", "asked"}}
	}
}

// While the cloud is at work on the group nothing else is begun on it.
func TestBusy(t *testing.T) {
	drift := func(o *Observed) { o.Group.Drift = []string{"tags"} }
	contents := func(o *Observed) { o.Wanted.Content = "v1:b" }
	old := func(o *Observed) { o.Versions = append(o.Versions, version(0, "a", "old")) }
	checkAll(t, []row{
		{"at rest", "the work is said, and the pool is not at rest", wants(2), fleet(serving(2), busyGroup), "waiting Updating"},
		{"fields", "an update would be refused", wants(2), fleet(serving(2), busyGroup, drift), "waiting Updating"},
		{"larger", "so would another size", wants(5), fleet(serving(2), busyGroup), "waiting Updating"},
		{"smaller", "no drain begins that a removal would have to follow", wants(1), fleet(serving(2), busyGroup), "waiting Updating"},
		{"smaller, drains", "a drain that has begun goes on", wants(1),
			fleet(list(machine("i-9", 9, drainingNode), machine("i-1", 1)), busyGroup), "Drain i-9 (ScaleIn), waiting Updating, waiting Draining"},
		{"smaller, drained", "a removal waits, and nothing is given back", wants(1),
			fleet(list(machine("i-9", 9, drainedNode), machine("i-1", 1)), busyGroup), "waiting Updating"},
		{"wanted again", "a node is given back all the same, for that changes nothing of the group", wants(2),
			fleet(list(machine("i-9", 9, drainedNode), machine("i-1", 1)), busyGroup), "Undrain i-9 (StillWanted), waiting Updating"},
		{"condemned", "an instance whose deletion is requested waits with the others", wants(2),
			fleet(list(machine("i-9", 9, condemnedOne), machine("i-1", 1), machine("i-2", 1)), busyGroup), "waiting Updating"},
		{"doomed", "who is taken anyway is drained at once", wants(2), fleet(list(machine("i-9", 9, doomedOne), machine("i-1", 1)), busyGroup),
			"Drain i-9 (SpotInterruption), waiting Updating"},
		{"rollout", "no machine is replaced", wants(2, rolls(0, 1)), fleet(serving(2), newTemplate, busyGroup), "waiting Updating"},
		{"rollout, drains", "what has begun goes on", wants(2, rolls(0, 1)),
			fleet(list(machine("i-9", 9, drainingNode), machine("i-1", 1)), newTemplate, busyGroup),
			"Drain i-9 (TemplateChanged), waiting Updating, waiting Draining"},
		{"template", "a version is nothing of the group's", wants(2), fleet(serving(2), busyGroup, contents),
			"PutTemplate after lt:1 (TemplateChanged), waiting Updating"},
		{"old versions", "none is deleted before it is certain that nothing needs it", wants(2), fleet(serving(2), busyGroup, old),
			"waiting Updating"},
		{"old versions, at rest", "then it is", wants(2), fleet(serving(2), old), "PruneTemplates refs lt:0 (TemplateUnused)"},
		{"another owner's size", "the same", wants(2, external), fleet(serving(2), busyGroup, drift), "waiting Updating"},
		{"pool deleted", "no drain begins, and the group is not deleted", wants(2, deleting), fleet(serving(2), busyGroup), "waiting Updating"},
		{"pool deleted, drains", "what has begun goes on", wants(1, deleting), fleet(serving(1, drainingNode), busyGroup),
			"Drain i-1 (PoolDeleted), waiting Updating, waiting Draining"},
		{"pool deleted, drained", "the deletion waits", wants(1, deleting), fleet(serving(1, drainedNode), busyGroup), "waiting Updating"},
		{"pool deleted, a roll ends", "what the cloud is doing is said even so", wants(0, deleting),
			fleet(nil, busyGroup, rollOf(ProviderRolloutCancelling, "b")), "waiting Updating"},
		{"pool and group deleted", "the work is the deletion", wants(1, deleting),
			fleet(serving(1, leaving), busyGroup, func(o *Observed) { o.Group.Deleting = true }), "waiting GroupDeleting"},
	})
}

// A group that the cloud could not make, or not delete.
func TestFailedGroup(t *testing.T) {
	stiff := func(o *Observed) { o.Group.Unchangeable = []string{"spec.subnetIDs"} }
	none := func(o *Observed) { o.Group.Size = 2 }
	checkAll(t, []row{
		{"failed", "it is said first, and stays what it is", wants(2), fleet(nil, none, brokenGroup),
			"waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, drift", "it can still be changed", wants(2),
			fleet(nil, none, brokenGroup, func(o *Observed) { o.Group.Drift = []string{"tags"} }),
			"UpdateGroup fields tags (GroupChanged), waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, restart", "who asks for a restart gets another", wants(2, restartOf(time.Minute)), fleet(nil, none, brokenGroup),
			"DeleteGroup (Restart), waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, machines without a node", "they are named, so that their nodes are asked for once more", wants(2, restartOf(time.Minute)),
			fleet(serving(2, notJoined), brokenGroup), "DeleteGroup i-1 i-2 (Restart), waiting CreateFailed, waiting NodesJoining"},
		{"failed, restart before it", "that was meant for another", wants(2, restartOf(2*time.Hour)), fleet(nil, none, brokenGroup),
			"waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, restart, age unknown", "it is unknown whether it was meant for this one", wants(2, restartOf(time.Minute)),
			fleet(nil, none, brokenGroup, func(o *Observed) { o.Group.Created = time.Time{} }), "waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, specification corrected", "what can't be changed is made again", wants(2), fleet(nil, none, brokenGroup, stiff),
			"DeleteGroup (GroupChanged), waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, held", "nothing could be made in its place", wants(2, held), fleet(nil, none, brokenGroup, stiff),
			"waiting CreateFailed, waiting InstancesLaunching"},
		{"failed, busy", "the cloud is at work on it still", wants(2), fleet(nil, none, brokenGroup, stiff, busyGroup),
			"waiting CreateFailed, waiting Updating, waiting InstancesLaunching"},
		{"failed with a node", "a group that serves is never deleted", wants(2), fleet(serving(2), brokenGroup, stiff),
			"waiting CreateFailed, settled"},
		{"failed, nodes unknown", "nor is one whose nodes are unknown", wants(2), fleet(serving(2), brokenGroup, stiff, nodesUnknown),
			"waiting CreateFailed, waiting ConnectionDown, settled"},
		{"well, and differs", "a group that did not fail is never made again", wants(2), fleet(serving(2), stiff), "settled"},
		{"not deleted", "what made the cloud give up is tried again, but not at once", wants(2, restartOf(time.Minute)),
			fleet(nil, none, brokenGroup, stuckGroup(4)), "waiting DeleteFailed, waiting InstancesLaunching"},
		{"not deleted, after a rest", "then it is", wants(2, restartOf(time.Minute)), fleet(nil, none, brokenGroup, stuckGroup(5)),
			"DeleteGroup (Restart), waiting DeleteFailed, waiting InstancesLaunching"},
		{"deleted by others, in vain", "it serves no more: the deletion is finished, and the group made again", wants(2),
			fleet(nil, none, stuckGroup(5)), "DeleteGroup (DeletionUnfinished), waiting DeleteFailed, waiting InstancesLaunching"},
		{"deleted by others, in vain, with a node", "what serves is left", wants(2), fleet(serving(2), stuckGroup(5)),
			"waiting DeleteFailed, settled"},
		{"pool deleted", "a group that was never made goes at once", wants(2, deleting), fleet(nil, none, brokenGroup),
			"DeleteGroup (PoolDeleted), waiting CreateFailed"},
		{"pool deleted, not deleted", "its deletion is tried again after a rest, and said", wants(2, deleting), fleet(nil, none, stuckGroup(4)),
			"waiting DeleteFailed"},
		{"pool deleted, drains", "nodes are drained meanwhile", wants(1, deleting), fleet(serving(1), stuckGroup(4)),
			"Drain i-1 (PoolDeleted), waiting DeleteFailed"},
		{"pool deleted, not deleted, after a rest", "never forgotten", wants(2, deleting), fleet(nil, none, stuckGroup(5)),
			"DeleteGroup (PoolDeleted), waiting DeleteFailed"},
	})
	if p := Decide(wants(2, deleting), fleet(nil, none, stuckGroup(4)), traits, now); !p.Next.Equal(now.Add(time.Minute)) || p.Quiescent {
		t.Errorf("want to look again when the rest is over, got %s at %s", say(p), p.Next)
	}
}

// What a group needs beside its template, and what is left of it.
func TestNeeds(t *testing.T) {
	needs := func(o *Observed) { o.MissingPrerequisites = []string{"role nodes-1", "policy P"} }
	made := func(o *Observed) { o.Versions = []Template{version(1, "a", "d")} }
	left := func(o *Observed) { o.Leftovers = []string{"role nodes-1"} }
	noGroup := func(o *Observed) { o.Group = nil }
	checkAll(t, []row{
		{"before the group", "it can't be made without", wants(2), nothing(made, needs),
			"EnsurePrerequisites fields role nodes-1 policy P (PrerequisiteMissing)"},
		{"refused", "the group waits", wants(2, refused(EnsurePrerequisites)), nothing(made, needs), "waiting Denied"},
		{"nothing there", "the template is made first, for nothing keeps it", wants(2), nothing(needs), "PutTemplate (TemplateMissing)"},
		{"template refused", "what does not depend on it goes on", wants(2, refused(PutTemplate)), nothing(needs),
			"EnsurePrerequisites fields role nodes-1 policy P (PrerequisiteMissing), waiting Denied"},
		{"provided", "then the group", wants(2), nothing(made), "CreateGroup to 2 of lt:1 (GroupMissing)"},
		{"held", "nothing is made yet", wants(2, held), nothing(needs), "waiting ClusterNotReady, settled"},
		{"taken away", "it is made again", wants(2), fleet(serving(2), needs),
			"EnsurePrerequisites fields role nodes-1 policy P (PrerequisiteMissing)"},
		{"taken away, held", "not while nothing may be made", wants(2, held), fleet(serving(2), needs), "settled"},
		{"taken away, refused", "the rest goes on", wants(3, refused(EnsurePrerequisites)), fleet(serving(2), needs),
			"Resize to 3 (ScaleOut), waiting Denied"},
		{"foreign", "nothing is made for a group that is not ours", wants(2),
			nothing(needs, func(o *Observed) { o.OwnershipConflict = &Cause{"OwnershipConflict", "x"} }), "refused OwnershipConflict, settled"},
		{"pool deleted", "it is not repaired for a group that goes", wants(1, deleting), fleet(serving(1), needs), "Drain i-1 (PoolDeleted)"},
		{"left, group there", "the group needs it", wants(0, deleting), fleet(nil, left), "DeleteGroup (PoolDeleted)"},
		{"left, template there", "first what was made last", wants(0, deleting), nothing(made, left), "DeleteTemplates (PoolDeleted)"},
		{"left, template refused", "it keeps nothing else", wants(0, deleting, refused(DeleteTemplates)), nothing(made, left),
			"CleanUp fields role nodes-1 (PoolDeleted), waiting Denied"},
		{"left", "then it goes", wants(0, deleting), fleet(nil, noGroup, left, func(o *Observed) { o.Versions = nil }),
			"CleanUp fields role nodes-1 (PoolDeleted)"},
		{"left, refused", "the object stays until it has gone", wants(0, deleting, refused(CleanUp)), nothing(left), "waiting Denied"},
		{"left, pool stays", "nothing of a pool that stays is left over", wants(2), fleet(serving(2), left), "settled"},
	})
}

// Templates that exist without us.
func TestGivenTemplates(t *testing.T) {
	wantsGiven := func(o *Observed) { o.Wanted.UserManaged = true }
	brought := func(n int, content string) func(*Observed) {
		return func(o *Observed) {
			o.Wanted = Template{Content: "v1:" + content, UserManaged: true}
			o.Versions = append([]Template{given(version(n, content, ""))}, o.Versions...)
		}
	}
	ours := func(o *Observed) { o.Wanted = Template{Content: "v1:c", Data: "d"} }
	checkAll(t, []row{
		{"there", "the group is made from it", wants(2), nothing(brought(7, "b")), "CreateGroup to 2 of lt:7 (GroupMissing)"},
		{"not there", "it is not created, and that is reported", wants(2), nothing(wantsGiven), "waiting TemplateNotFound, settled"},
		{"not there, in the cloud's words", "these come first", wants(2),
			nothing(wantsGiven, func(o *Observed) { o.Issues = []Cause{{"NoSuchTemplate", "x"}} }),
			"waiting NoSuchTemplate, waiting TemplateNotFound, settled"},
		{"not there any more", "a group that exists goes on with what it has", wants(3), fleet(serving(2), wantsGiven),
			"Resize to 3 (ScaleOut), waiting TemplateNotFound"},
		{"brought later", "the group is pointed at it, and ours are no reason for another version", wants(2), fleet(serving(2), brought(7, "b")),
			"UpdateGroup of lt:7 (TemplateOutOfDate)"},
		{"an older one than another", "it is the wanted one that counts, wherever it stands", wants(2),
			fleet(serving(2), brought(7, "b"), brought(9, "x"), func(o *Observed) { o.Wanted.Content = "v1:b" }),
			"UpdateGroup of lt:7 (TemplateOutOfDate)"},
		{"given up for Muster's template", "its version comes after the newest of Muster's", wants(2),
			fleet(serving(2), brought(7, "b"), ours, func(o *Observed) { o.Group.Template = "lt:7" }), "PutTemplate after lt:1 (TemplateChanged)"},
		{"given up, no template of Muster's", "then a first version is created", wants(2),
			fleet(serving(2), func(o *Observed) { o.Versions = nil }, brought(7, "b"), ours, func(o *Observed) { o.Group.Template = "lt:7" }),
			"PutTemplate (TemplateMissing)"},
		{"pool deleted", "it stays, and does not block the deletion", wants(0, deleting), nothing(brought(7, "b")), "settled, gone"},
		{"pool deleted, ours beside it", "ours go", wants(0, deleting),
			nothing(func(o *Observed) { o.Versions = []Template{version(1, "a", "d")} }, brought(7, "b")), "DeleteTemplates (PoolDeleted)"},
	})
}
