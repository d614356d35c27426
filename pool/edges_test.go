package pool

import (
	"testing"
	"time"
)

// third has had the specification changed twice: the group launches from the last one.
func third(o *Observed) {
	newTemplate(o)
	o.Versions = append([]Template{version(3, "c", "d")}, o.Versions...)
	o.Wanted.Content, o.Group.Template = "v1:c", "lt:3"
}

func pausedRollout(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }

// Rules 1 to 3 where several things come together: what serves is never taken below what must, and no machine too many is
// asked for, whatever other clients do to the pool at the same time.
func TestBudgetsWhereThingsMeet(t *testing.T) {
	booting := func(id string) Instance { return machine(id, 0, current, notJoined, born5(1)) }
	checkAll(t, []row{
		{name: "rule 1: none wanted", why: "where none has to serve, all go at once and none is made", d: wants(0, rolls(1, 0)),
			o: fleet(serving(2), newTemplate), want: "Drain i-1 i-2 (TemplateChanged)"},
		{name: "rule 1: one wanted, a share may be missing", why: "half of one is none, and no surge makes it one",
			d: wants(1, by(percent(0), percent(50))), o: fleet(serving(1), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "rule 1: one wanted, a surge", why: "the only one serves until the other does", d: wants(1, rolls(1, 0)),
			o: fleet(serving(1), newTemplate), want: "Resize to 2 (Surge)"},
		{name: "rule 1: the cloud is about to take one",
			why: "a user lowered the size: whom the cloud takes is not known, so that the fourth can't be counted on",
			d:   wants(0, external, rolls(0, 1)), o: fleet(serving(4), newTemplate, sized(3)), want: "Drain i-1 (TemplateChanged)"},
		{name: "rule 1: the one that we drained is about to go", why: "that is no other's doing", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(3, current), machine("i-9", 9, drainedNode)), newTemplate, sized(3)), want: "Replace i-9 (TemplateChanged)"},
		{name: "rule 2: third template while one boots", why: "the one that boots is of no use any more, and no surge is asked for beside it",
			d: wants(3, rolls(1, 0)), o: fleet(append(serving(3), booting("n-1")), third), want: "waiting NodesJoining"},
		{name: "rule 2: taken back while one boots", why: "likewise", d: wants(3, rolls(1, 0)), o: fleet(append(serving(3), booting("n-1"))),
			want: "waiting NodesJoining"},
		{name: "rule 2: taken back, the new one serves", why: "it is what is stale now, and the size comes down with it",
			d: wants(3, rolls(1, 0)), o: fleet(append(serving(3), machine("n-1", 0, current))), want: "Drain n-1 (TemplateChanged)"},
		{name: "rule 2: strategy lowered in the middle", why: "what is too many by the new one goes, stale ones first", d: wants(10, rolls(1, 0)),
			o: fleet(append(serving(10), numbered("n", 3, current)...), newTemplate), want: "Drain i-1 i-2 i-3 (TemplateChanged)"},
		{name: "rule 2: strategy raised in the middle", why: "the rest of the surge is asked for", d: wants(4, rolls(3, 0)),
			o: fleet(append(serving(4), booting("n-1")), newTemplate), want: "Resize to 7 (Surge), waiting NodesJoining"},
		{name: "rule 3: a template that is not wanted",
			why: "where the wanted one can't be made now, the group is not pointed at another that came in between", d: wants(3, held),
			o: fleet(serving(3), func(o *Observed) {
				o.Versions = append([]Template{version(2, "b", "d")}, o.Versions...)
			}), want: "settled"},
		{name: "rule 5: halted, and asked to go by name", why: "the surge is used up by what does not come: a serving machine waits",
			d: wants(3, rolls(1, 0)), o: fleet(append(append(serving(2), machine("i-9", 1, condemnedOne)),
				machine("n-1", 0, current, notJoined, born5(30))), newTemplate),
			want: "waiting RolloutHalted, waiting BudgetSpent, waiting NodesJoining"},
		{name: "rule 5: the late one is asked to go by name", why: "which is how a person lets the rollout go on", d: wants(3, rolls(1, 0)),
			o:    fleet(append(serving(3), machine("n-1", 0, current, notJoined, born5(30), condemnedOne)), newTemplate),
			want: "Replace n-1 (MachineDeleted), waiting NodesJoining"},
		{name: "rule 6: marked, and another is stale", why: "a mark is no reason to be replaced", d: wants(3, rolls(0, 1)),
			o:    fleet(list(machine("i-1", 3), machine("i-2", 2, marked, current), machine("i-3", 1)), newTemplate),
			want: "Drain i-1 (TemplateChanged)"},
		{name: "rule 6: marked, one too many, others stale",
			why: "then exactly the marked one goes with the size, and stale ones as far as may be missing", d: wants(2, rolls(0, 1)),
			o: fleet(list(machine("i-1", 3), machine("i-2", 2, marked, current), machine("i-3", 1)), newTemplate), want: "Drain i-2 i-1 (ScaleIn)"},
		{name: "rule 6: two asked to go by name, one too many", why: "one goes with the size, the other is replaced after", d: wants(2),
			o: fleet(list(machine("i-1", 3), machine("i-2", 2, condemnedOne), machine("i-3", 1, condemnedOne))), want: "Drain i-2 (MachineDeleted)"},
		{name: "paused, and asked to go by name", why: "a pause holds the rollout, not him who deletes a machine",
			d: wants(3, pausedRollout, rolls(1, 0)), o: fleet(append(serving(2), machine("i-9", 1, condemnedOne)), newTemplate),
			want: "Resize to 4 (Surge), waiting RolloutPaused"},
		{name: "impossible number, and asked to go by name", why: "no machine is made against the limits, so that it waits, and it is said",
			d: wants(20), o: fleet(append(serving(2), machine("i-9", 1, condemnedOne))),
			want: "refused ReplicasOutOfBounds, waiting BudgetSpent, settled"},
	})
	checkOn(t, setsAside, []row{
		{name: "rule 1: taken back, set aside serves", why: "what was set aside goes once its successor serves, whatever that was made from",
			d: wants(3, rolls(1, 0)), o: fleet(append(serving(2), machine("i-9", 9, asideOne), machine("n-1", 0, current)), sized(3)),
			want: "Drain i-9 (Standby)"},
		{name: "rule 1: third template while a successor boots", why: "the one that was set aside serves on", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(2), machine("i-9", 9, asideOne), booting("n-1")), third, sized(3)), want: "waiting NodesJoining"},
		{name: "rule 1: scale-in while successors boot", why: "those that were set aside go first: fewer have to serve now",
			d: wants(2, rolls(2, 0)), o: fleet(append(append(serving(2), numbered("a", 2, asideOne)...), booting("n-1"), booting("n-2")),
				newTemplate, sized(4)), want: "Drain ai-1 ai-2 (TemplateChanged), waiting NodesJoining"},
		{name: "rule 2: scale-out while successors boot", why: "the size is what is wanted, and no more are set aside", d: wants(6, rolls(2, 0)),
			o:    fleet(append(append(serving(2), numbered("a", 2, asideOne)...), booting("n-1"), booting("n-2")), newTemplate, sized(4)),
			want: "Resize to 6 (ScaleOut), waiting NodesJoining"},
		{name: "rule 2: strategy lowered in the middle", why: "no more are set aside until fewer are", d: wants(4, rolls(1, 0)),
			o: fleet(append(append(serving(1), numbered("a", 3, asideOne)...), numbered("n", 3, current, notJoined, born5(1))...), newTemplate,
				sized(4)), want: "waiting NodesJoining"},
		{name: "rule 2: strategy taken away", why: "those that were set aside go as they would have", d: wants(3),
			o:    fleet(append(serving(2), machine("i-9", 9, asideOne), machine("n-1", 0, current)), newTemplate, sized(3)),
			want: "Drain i-9 (TemplateChanged)"},
		{name: "rule 2: a drain has just started", why: "it may be in standby already, and the list that says otherwise older",
			d: wants(3, rolls(1, 1)), o: fleet(append(serving(2), machine("i-9", 9, drainedNode, drainAge(3*time.Second))), newTemplate, sized(3)),
			want: "Replace i-9 (TemplateChanged)"},
		{name: "rule 2: set aside a moment ago, for a restart", why: "the list that says otherwise is older, whatever it was launched from",
			d: wants(3, rolls(2, 0), restartOf(time.Minute)), o: fleet(list(machine("i-1", 2), machine("i-2", 1), machine("i-9", 9, enteringOne)),
				sized(3)),
			want: "EnterStandby i-1 (Surge)"},
		{name: "rule 2: set aside a moment ago, its deletion requested", why: "its successor is on its way all the same",
			d: wants(3, rolls(2, 0), restartOf(time.Minute)),
			o: fleet(list(machine("i-1", 2), machine("i-2", 1), machine("i-9", 9, enteringOne, condemnedOne)),
				sized(3)), want: "EnterStandby i-1 (Surge)"},
		{name: "rule 2: set aside a moment ago, and to stay", why: "the cloud may have ignored it: nothing is removed without a cause",
			d: wants(3, rolls(2, 0)), o: fleet(append(serving(2), machine("i-9", 9, enteringOne)), sized(3)), want: ""},
		{name: "rule 2: a drain runs", why: "it is one that may be unavailable, and another is launched beside", d: wants(3, rolls(1, 1)),
			o: fleet(append(serving(2), machine("i-9", 9, drainedNode)), newTemplate, sized(3)), want: "EnterStandby i-1 (Surge)"},
		{name: "sized down by another client, none left", why: "what was set aside goes then too", d: wants(0, external, rolls(1, 0)),
			o: fleet(list(machine("i-9", 9, asideOne)), newTemplate, sized(0)), want: "Drain i-9 (TemplateChanged)"},
		{name: "rule 5: halted, set aside", why: "it serves on, for its successor does not", d: wants(3, rolls(1, 0)),
			o:    fleet(append(serving(2), machine("i-9", 9, asideOne), machine("n-1", 0, current, notJoined, born5(30))), newTemplate, sized(3)),
			want: "waiting RolloutHalted, waiting NodesJoining, settled"},
	})
	checkOn(t, func(t *Traits) { t.ReplaceKeepsSize = false }, []row{
		{name: "rule 6: marked, one too many, others stale, each removal lowers the size",
			why: "a stale one that is ready sooner would leave none too many", d: wants(2, rolls(0, 1)),
			o: fleet(list(machine("i-1", 3), machine("i-2", 2, marked, current), machine("i-3", 1)), newTemplate), want: "Drain i-2 (ScaleIn)"},
		{name: "rule 6: marked as the others, one too many", why: "likewise", d: wants(1, rolls(0, 1)),
			o:    fleet(list(machine("i-1", 3), machine("i-2", 2, marked, drainingNode)), newTemplate),
			want: "Drain i-2 (TemplateChanged), waiting Draining"},
	})
}

// While the workload cluster does not answer nothing is known about any node: no machine is drained, set aside or removed for
// a rollout, and no surge is asked for, in whatever state the rollout is.
func TestNodesUnknown(t *testing.T) {
	away := func(list []Instance, change ...func(*Observed)) Observed {
		return fleet(list, append(append([]func(*Observed){newTemplate}, change...), nodesUnknown)...)
	}
	rows := []row{
		{name: "begins", why: "rule 4", d: wants(3, rolls(1, 0)), o: away(serving(3)), want: "waiting ConnectionDown, settled"},
		{name: "may be short", why: "rule 4", d: wants(3, rolls(0, 3)), o: away(serving(3)), want: "waiting ConnectionDown, settled"},
		{name: "in the middle", why: "a drained one is not known to be", d: wants(3, rolls(1, 0)),
			o:    away(append(serving(2), machine("i-9", 9, drainedNode), machine("n-1", 0, current)), sized(4)),
			want: "waiting ConnectionDown, settled"},
		{name: "one too many", why: "it is unknown what runs on any", d: wants(2, rolls(1, 0)), o: away(serving(3)),
			want: "waiting ConnectionDown, settled"},
		{name: "asked to go by name", why: "nor on that one", d: wants(3), o: away(append(serving(2), machine("i-9", 1, condemnedOne))),
			want: "waiting ConnectionDown"},
		{name: "about to be taken", why: "it can't be drained", d: wants(3, rolls(1, 0)),
			o: away(append(serving(2), machine("i-9", 1, doomedOne))), want: "waiting ConnectionDown, settled"},
		{name: "failed", why: "the cloud itself reports that nothing runs on it, and a Machine's node is not asked for: it waits all the same, " +
			"for the cloud may be wrong", d: wants(3, rolls(1, 0)), o: away(append(serving(2), machine("i-9", 1, failed))),
			want: "waiting ConnectionDown, waiting InstancesFailed"},
		{name: "late", why: "no rollout is said to be halted for nodes that can't be seen", d: wants(3, rolls(1, 0)),
			o: away(append(serving(3), machine("n-1", 0, current, born5(60))), sized(4)), want: "waiting ConnectionDown, settled"},
		{name: "more wanted", why: "machines that are missing are asked for all the same", d: wants(5, rolls(1, 0)), o: away(serving(3)),
			want: "Resize to 5 (ScaleOut), waiting ConnectionDown"},
		{name: "cluster going as a whole", why: "nothing needs to be known then",
			d: wants(2, func(d *Desired) { d.NoDrain = &Cause{"ClusterDeleted", "x"} }), o: away(serving(3)),
			want: "Remove i-1 (ScaleIn), waiting ConnectionDown"},
	}
	checkAll(t, rows)
	checkOn(t, setsAside, []row{
		{name: "set aside", why: "it serves on, as far as anybody knows", d: wants(3, rolls(1, 0)),
			o: away(append(serving(2), machine("i-9", 9, asideOne), machine("n-1", 0, current)), sized(3)), want: "waiting ConnectionDown, settled"},
	})
	checkOn(t, keepsFailed, []row{
		{name: "failed and kept", why: "as above", d: wants(3), o: away(append(serving(2), machine("i-9", 1, failed))),
			want: "waiting ConnectionDown, waiting InstancesFailed"},
	})
}

// A rollout that halts goes on by itself when the machine that it was halted for has come after all.
func TestHaltedIsNoMemory(t *testing.T) {
	d := wants(3, rolls(1, 0))
	late := machine("n-1", 0, current, notJoined, born5(25))
	if p := Decide(d, fleet(append(serving(3), late), newTemplate), traits, now); p.Rollout.State != RolloutHalted {
		t.Fatalf("want it halted, got %s", say(p))
	}
	late.Node = &Node{Name: "node-n-1", Ready: true, Joined: now, ReadySince: now}
	p := Decide(d, fleet(append(serving(3), late), newTemplate), traits, now.Add(time.Second))
	if p.Rollout.State != RolloutInProgress || p.Step == nil || p.Step.Kind != Drain {
		t.Errorf("want it to go on, got %s", say(p))
	}
}
