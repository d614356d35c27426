package pool

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func behindIn(fields ...string) func(*Instance) { return func(i *Instance) { i.InPlaceDrift = fields } }
func exposed(i *Instance)                       { i.ScaleInUnprotected = true }

// Groups that hold their template.
func TestInline(t *testing.T) {
	content := func(o *Observed) { o.Wanted.Content = "v1:b" }
	data := func(o *Observed) { o.Wanted.Data = "e" }
	none := Observed{Wanted: Template{Content: "v1:a", Data: "d"}}
	checkOn(t, scaleSet, []row{
		{name: "nothing there", why: "the group brings its template", d: wants(2), o: none, want: "CreateGroup to 2 (GroupMissing)"},
		{name: "template changed", why: "it is changed on the group, and nothing else of it", d: wants(2, rolls(1, 0)),
			o: fleet(serving(2), content), want: "PutTemplate after lt:1 (TemplateChanged), waiting TemplateOutOfDate"},
		{name: "template changed, busy", why: "a group that the cloud is at work on takes no change of what it holds", d: wants(2, rolls(1, 0)),
			o: fleet(serving(2), content, busyGroup), want: "waiting Updating, waiting TemplateOutOfDate"},
		{name: "template changed, then rolled", why: "what was launched from what it held before is stale", d: wants(2, rolls(1, 0)),
			o: fleet(serving(2), newTemplate, func(o *Observed) { o.Versions = o.Versions[:1] }), want: "Resize to 3 (Surge)"},
		{name: "bootstrap data alone", why: "a group that is written to for each rotation would run out of models", d: wants(2),
			o: fleet(serving(2), data), want: "settled"},
		{name: "bootstrap data lost", why: "what it launches would never join", d: wants(2, dataLost("d")), o: fleet(serving(2), data),
			want: "PutTemplate after lt:1 (BootstrapDataChanged)"},
		{name: "held", why: "nothing is known to write", d: wants(2, held), o: fleet(serving(2), func(o *Observed) { o.Wanted = Template{} }),
			want: "waiting ClusterNotReady, settled"},
		{name: "pool deleted", why: "the template goes with the group", d: wants(2, deleting), o: fleet(nil), want: "DeleteGroup (PoolDeleted)"},
		{name: "pool deleted, busy", why: "an operation of the cloud on a group does not block its deletion", d: wants(1, deleting),
			o: fleet(serving(1, drainedNode), busyGroup), want: "DeleteGroup i-1 (PoolDeleted), waiting Updating"},
		{name: "pool deleted, busy, not drained", why: "drains come before, here as ever", d: wants(1, deleting), o: fleet(serving(1), busyGroup),
			want: "Drain i-1 (PoolDeleted), waiting Updating"},
		{name: "pool and group deleted", why: "nothing is left over", d: wants(1, deleting), o: none, want: "settled, gone"},
	})
}

// A template that its group holds has no name of its own.
func TestInlineIsNamed(t *testing.T) {
	for ref, want := range map[string]string{
		"679b926e-1d10c674352b": "launched from model 679b926e-1d10c674352b, which differs from what the specification asks for",
		"":                      "launched from an unknown model, which differs from what the specification asks for",
	} {
		if got := changedCause(Instance{Template: Template{Ref: ref}}, onQuick(scaleSet)).Message; got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// updating is an instance that the cloud is changing.
func updating(i *Instance) { i.Updating = true }

// What is changed on machines that stay.
func TestApply(t *testing.T) {
	tags := behindIn("spec.additionalTags")
	checkOn(t, scaleSet, []row{
		{name: "behind", why: "what the cloud can change replaces no machine", d: wants(2, rolls(1, 0)),
			o: fleet(list(machine("i-1", 2, tags), machine("i-2", 1))), want: "Apply i-1 (ChangedInPlace)"},
		{name: "a few at a time", why: "what it does to a machine is not always harmless", d: wants(5), o: fleet(serving(5, tags)),
			want: "Apply i-1 i-2 i-3 (ChangedInPlace)"},
		{name: "one is being changed", why: "the cloud takes one change of a machine at a time", d: wants(2),
			o: fleet(list(machine("i-1", 2, tags, updating), machine("i-2", 1, tags))), want: "Apply i-2 (ChangedInPlace), waiting Updating"},
		{name: "all are being changed", why: "nothing is asked that the cloud would refuse", d: wants(2), o: fleet(serving(2, tags, updating)),
			want: "waiting Updating"},
		{name: "being changed, and lacks nothing", why: "what another client does is not waited for", d: wants(1), o: fleet(serving(1, updating)),
			want: "settled"},
		{name: "one has failed with it", why: "no other machine gets what has just broken one", d: wants(5),
			o: fleet(append(serving(4, tags), machine("i-9", 9, failed))), want: "waiting FailedServing, settled"},
		{name: "one has failed, and the group was changed again", why: "then it gets the better one with the others", d: wants(3),
			o: fleet(append(serving(2, tags), machine("i-9", 9, failed, tags))), want: "Apply i-1 i-2 i-9 (ChangedInPlace), waiting FailedServing"},
		{name: "group behind", why: "the group comes first: it is what machines are given", d: wants(2),
			o:    fleet(serving(2, tags), func(o *Observed) { o.Group.Drift = []string{"spec.additionalTags"} }),
			want: "UpdateGroup fields spec.additionalTags (GroupChanged)"},
		{name: "group behind, and refused", why: "what it lacks can't be given on", d: wants(2, refused(UpdateGroup)),
			o: fleet(serving(2, tags), func(o *Observed) { o.Group.Drift = []string{"spec.additionalTags"} }), want: "waiting Denied"},
		{name: "stale", why: "who is replaced anyway is left alone", d: wants(2, rolls(1, 0)), o: fleet(serving(2, tags), newTemplate),
			want: "Resize to 3 (Surge)"},
		{name: "stale and kept", why: "it would be given the other template with it", d: wants(2, func(d *Desired) { d.SkipModel = true }),
			o: fleet(serving(2, tags), newTemplate), want: "settled"},
		{name: "to restart, and held", why: "a machine that nothing replaces until the user acts gets it meanwhile",
			d: wants(2, rolls(1, 0), restartOf(0), pausedRollout), o: fleet(serving(2, tags)),
			want: "Apply i-1 i-2 (ChangedInPlace), waiting RolloutPaused"},
		{name: "to restart, and nothing may surge", why: "the same", d: wants(2, rolls(0, 1), restartOf(0), external),
			o: fleet(serving(2, tags)), want: "Apply i-1 i-2 (ChangedInPlace)"},
		{name: "to restart", why: "who is replaced anyway is left alone", d: wants(2, rolls(1, 0), restartOf(0)), o: fleet(serving(2, tags)),
			want: "Resize to 3 (Surge)"},
		{name: "stale, and held", why: "it would be given the other template with it", d: wants(2, rolls(1, 0), pausedRollout),
			o: fleet(serving(2, tags), newTemplate), want: "waiting RolloutPaused, settled"},
		{name: "of unknown make", why: "it is unknown what else would change", d: wants(2), o: fleet(serving(2, tags, from(Template{}))),
			want: "settled"},
		{name: "template not on the group yet", why: "what the group has now is not what is wanted", d: wants(2, refused(PutTemplate)),
			o: fleet(serving(2, tags), func(o *Observed) { o.Wanted.Content = "v1:b" }), want: "waiting Denied"},
		{name: "busy", why: "the cloud is at work", d: wants(2), o: fleet(serving(2, tags), busyGroup), want: "waiting Updating"},
		{name: "being launched", why: "it has what the group has when it is there", d: wants(1), o: fleet(serving(1, beingBorn, tags)),
			want: "waiting InstancesLaunching"},
		{name: "about to go", why: "the change would have no use", d: wants(1),
			o: fleet(list(machine("i-1", 2, tags, drainingNode), machine("i-2", 1))), want: "Drain i-1 (ScaleIn), waiting Draining"},
	})
	tr := onQuick(scaleSet)
	p := Decide(wants(5), fleet(append(serving(4, tags), machine("i-9", 9, failed))), tr, now)
	if want := (Cause{"ChangeFailed", "no more machines get spec.additionalTags in place, because machine i-9 failed with all that the " +
		"scale set has: change the specification, or replace that machine"}); len(p.InPlace) != 4 || p.InPlace[0].Selected ||
		p.InPlace[0].Cause != want {
		t.Errorf("want four that wait for %+v, got %+v", want, p.InPlace)
	}
	p = Decide(wants(5), fleet(serving(5, tags)), tr, now)
	if len(p.InPlace) != 5 || !p.InPlace[2].Selected || p.InPlace[3].Selected || !p.Step.More || len(p.Instances) > 0 {
		t.Errorf("want five to be changed in place, three of them now, and none replaced, got %+v and %+v", p.InPlace, p.Instances)
	}
	if want := "it lacks spec.additionalTags as the specification has it, which is changed in place"; p.InPlace[0].Cause.Message != want {
		t.Errorf("want %q, got %q", want, p.InPlace[0].Cause.Message)
	}
}

// Who must not be chosen by the cloud.
func TestProtect(t *testing.T) {
	checkOn(t, scaleSet, []row{
		{name: "exposed", why: "a size that a user lowers by hand takes no machine undrained", d: wants(2),
			o: fleet(list(machine("i-1", 2, exposed), machine("i-2", 1))), want: "Protect i-1 (ScaleInUnprotected)"},
		{name: "five at a time", why: "each is a call of its own", d: wants(6), o: fleet(serving(6, exposed)),
			want: "Protect i-1 i-2 i-3 i-4 i-5 (ScaleInUnprotected)"},
		{name: "more to do", why: "whatever matters more comes first", d: wants(3), o: fleet(serving(2, exposed)),
			want: "Resize to 3 (ScaleOut)"},
		{name: "about to go", why: "it goes by our hand", d: wants(1), o: fleet(serving(2, exposed)), want: "Drain i-1 (ScaleIn)"},
		{name: "stale and waiting for its turn", why: "it serves for now, and its turn is near", d: wants(2, rolls(1, 0)),
			o: fleet(append(serving(2, exposed), machine("n-1", 0, current, notJoined, born5(1))), newTemplate), want: "waiting NodesJoining"},
		{name: "being launched", why: "it is not there yet", d: wants(1), o: fleet(serving(1, beingBorn, exposed)),
			want: "waiting InstancesLaunching"},
		{name: "busy", why: "the cloud is at work", d: wants(1), o: fleet(serving(1, exposed), busyGroup), want: "waiting Updating"},
		{name: "sized elsewhere", why: "who sizes the group has to be able to make it smaller", d: wants(1, external),
			o: fleet(serving(1, exposed)), want: "settled"},
	})
}

// A cloud that has no room.
func TestGrowFailed(t *testing.T) {
	ago := func(minutes int) func(*Observed) {
		return func(o *Observed) {
			o.Group.ScaleUpFailedAt = now.Add(-time.Duration(minutes) * time.Minute)
			o.Issues = []Cause{{"AllocationFailed", "no room in zone 1"}}
		}
	}
	unreached := func(o *Observed) { o.Group.UnfulfilledCapacity = 1 }
	checkOn(t, scaleSet, []row{
		{name: "a moment ago", why: "the cloud is not asked at once for what it has just refused, and that is said with its words", d: wants(3),
			o: fleet(serving(2), ago(4)), want: "waiting AllocationFailed, waiting ScaleUpFailed"},
		{name: "rested", why: "never forgotten", d: wants(3), o: fleet(serving(2), ago(5)),
			want: "Resize to 3 (ScaleOut), waiting AllocationFailed"},
		{name: "fewer wanted", why: "then nothing is missing", d: wants(2), o: fleet(serving(2), ago(4)),
			want: "waiting AllocationFailed, settled"},
		{name: "even fewer wanted", why: "a scale-in does not wait", d: wants(1), o: fleet(serving(2), ago(4)),
			want: "Drain i-1 (ScaleIn), waiting AllocationFailed"},
		{name: "fewer wanted, and more were asked for", why: "the next change of anything would bring them", d: wants(2),
			o: fleet(serving(2), ago(4), unreached), want: "Resize to 2 (ScaleIn), waiting AllocationFailed"},
		{name: "as many wanted as were asked for", why: "they are asked for again after a pause", d: wants(3),
			o: fleet(serving(2), ago(4), unreached), want: "waiting AllocationFailed, waiting ScaleUpFailed"},
		{name: "more wanted, but not as many as were asked for", why: "the next change of anything would bring all of them", d: wants(3),
			o:    fleet(serving(2), ago(4), func(o *Observed) { o.Group.UnfulfilledCapacity = 4 }),
			want: "Resize to 2 (ScaleIn), waiting AllocationFailed, waiting ScaleUpFailed"},
		{name: "another client has asked for them", why: "that size is read and never written", d: wants(0, external),
			o: fleet(serving(2), ago(4), unreached), want: "waiting AllocationFailed, settled"},
		{name: "another template", why: "it may be what there is room for", d: wants(3, rolls(1, 0)),
			o:    fleet(serving(2), ago(4), func(o *Observed) { o.Wanted.Content = "v1:b" }),
			want: "PutTemplate after lt:1 (TemplateChanged), waiting TemplateOutOfDate, waiting AllocationFailed, waiting ScaleUpFailed"},
		{name: "a surge", why: "it rests as well", d: wants(2, rolls(1, 0)), o: fleet(serving(2), newTemplate, ago(4)),
			want: "waiting AllocationFailed, waiting ScaleUpFailed"},
	})
	p := Decide(wants(3), fleet(serving(2), ago(4)), onQuick(scaleSet), now)
	if p.Quiescent || !p.Next.Equal(now.Add(time.Minute)) {
		t.Errorf("want to look again when the rest is over, got %s at %s", say(p), p.Next)
	}
}

// A cloud that refuses to remove the last machine is asked for another one first.
func TestReplacedAtTheLeast(t *testing.T) {
	least := func(o *Observed) { o.Group.Least = 1 }
	agentPool := func(t *Traits) { scaleSet(t); t.RecordsSurge = false }
	excess := func(o *Observed) { o.Group.Size, o.Group.KeepsExcess = 2, true }
	broken := machine("i-9", 9, failed, notJoined)
	checkOn(t, agentPool, []row{
		{name: "the only one failed", why: "the cloud refuses to remove the last machine", d: wants(1), o: fleet([]Instance{broken}, least),
			want: "Resize to 2 (Surge), waiting InstancesFailed"},
		{name: "the only one failed, and another one came", why: "now it can go", d: wants(1), o: fleet(append(serving(1), broken), least),
			want: "Remove i-9 (Failed), waiting InstancesFailed"},
		{name: "one of several failed", why: "the minimum is not touched", d: wants(2), o: fleet(append(serving(1), broken), least),
			want: "Remove i-9 (Failed), waiting InstancesFailed"},
		{name: "no minimum", why: "a pool may be empty for a moment", d: wants(1), o: fleet([]Instance{broken}),
			want: "Remove i-9 (Failed), waiting InstancesFailed"},
		{name: "more than the size are kept", why: "which go is Muster's to say", d: wants(2), o: fleet(serving(3), excess),
			want: "Resize to 3 (ExcessKept)"},
		{name: "more than the size are kept, sized by an autoscaler", why: "that size is read and never written", d: wants(2, external),
			o: fleet(serving(3), excess), want: ""},
	})
}

// A surge by the size that can't be told from the size that another client asks for is none.
func TestSurgeThatNobodyKeeps(t *testing.T) {
	forgets := func(t *Traits) { t.RecordsSurge = false }
	checkOn(t, forgets, []row{
		{name: "rollout", why: "a size that grew with each look would never end: one is unavailable instead", d: wants(0, external, rolls(1, 0)),
			o: fleet(serving(3), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "asked to go by name", why: "likewise", d: wants(0, external), o: fleet(append(serving(2), machine("i-9", 1, condemnedOne))),
			want: "Drain i-9 (MachineDeleted)"},
		{name: "our own size", why: "what we asked for ourselves we know", d: wants(3, rolls(1, 0)), o: fleet(serving(3), newTemplate),
			want: "Resize to 4 (Surge)"},
	})
	checkOn(t, func(t *Traits) { forgets(t); t.ReplaceKeepsSize = false }, []row{
		{name: "no replacing call", why: "his size would shrink with each machine", d: wants(0, external, rolls(1, 1)),
			o: fleet(serving(3), newTemplate), want: "settled"},
	})
}

// Where a surge can't be told from the size that another client asks for, the user is not told to allow one.
func TestSurgeThatCannotBeToldIsNotAskedFor(t *testing.T) {
	agentPool := onQuick(func(t *Traits) { scaleSet(t); t.Group, t.RecordsSurge = "agent pool", false })
	p := Decide(wants(0, external, rolls(1, 0)), fleet(append(serving(2), machine("i-9", 60, notJoined)), newTemplate), agentPool, now)
	want := Cause{replicasManagedExternally,
		"replicas are managed externally, and a surge of the agent pool can't be told from them: let the MachinePool own them for as long as " +
			"machines are replaced"}
	if p.Rollout.Cause != want {
		t.Errorf("want %+v, got %+v", want, p.Rollout.Cause)
	}
	autoscaled := func(d *Desired) { d.AutoscalerField = "spec.scaling" }
	want.Message = "the cloud's own autoscaler sizes the agent pool, and no other client adds machines meanwhile: remove spec.scaling for " +
		"as long as machines are replaced"
	if p := Decide(wants(0, external, autoscaled, rolls(1, 0)), fleet(serving(2), newTemplate), agentPool, now); p.Rollout.Cause != want ||
		p.Step != nil {
		t.Errorf("want %+v, got %+v and %+v", want, p.Rollout.Cause, p.Step)
	}
	for _, c := range p.Waiting {
		if c.Reason == replicasManagedExternally && !strings.HasSuffix(c.Message,
			"a surge of the agent pool can't be told from them: delete the machine") {
			t.Errorf("want no word of a surge that can't be set, got %q", c.Message)
		}
	}
	if !slices.ContainsFunc(p.Waiting, func(c Cause) bool { return c.Reason == replicasManagedExternally }) {
		t.Errorf("want the machine named that can't be replaced, got %+v", p.Waiting)
	}
}

// A cloud in which machines fail, or do not come at all, is asked again and again, a dozen times an hour and a few machines at a
// time, and not in a loop; and once it is well the pool is.
func TestFailuresAreNoLoop(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*slow, bool)
	}{
		{"machines fail", func(c *slow, ill bool) { c.failing = ill }},
		{"no room", func(c *slow, ill bool) { c.full = ill }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const hours, n = 4, 6
			d, world := wants(n, rolls(1, 0)), stocked(3, onQuick(scaleSet))
			c.set(world, true)
			for world.now.Sub(now) < hours*time.Hour {
				world.pass(t, d)
			}
			tries := world.refusals + (world.made+n-4)/(n-3)
			if most := 12*hours + 1; tries > most || tries < hours {
				t.Errorf("want at most %d tries in %d hours, and some, got %d: %d refusals, %d made", most, hours, tries, world.refusals, world.made)
			}
			if world.lowest < 3 {
				t.Errorf("want all that served to serve on, got %d", world.lowest)
			}
			c.set(world, false)
			if took, rest := world.run(t, d, time.Hour); rest.Rollout.State != RolloutDone || len(world.o.Instances) != n || took == time.Hour {
				t.Errorf("want the pool well again, got %s with %+v after %s", say(rest), world.o.Instances, took)
			}
		})
	}
}

// An external autoscaler must be able to scale in: protection from before it took over is taken off.
func TestUnprotect(t *testing.T) {
	protected := func(i *Instance) { i.ScaleInProtected = true }
	checkOn(t, scaleSet, []row{
		{name: "sized by the pool", why: "our own removals name machines all the same", d: wants(2), o: fleet(serving(2, protected)),
			want: "settled"},
		{name: "sized elsewhere", why: "the cloud would remove nothing", d: wants(2, external), o: fleet(serving(2, protected)),
			want: "Unprotect i-1 i-2 (ReplicasManagedExternally)"},
		{name: "sized elsewhere, many", why: "each is a call of its own", d: wants(7, external), o: fleet(serving(7, protected)),
			want: "Unprotect i-1 i-2 i-3 i-4 i-5 (ReplicasManagedExternally)"},
		{name: "sized elsewhere, many without effect", why: "they keep no others from it", d: wants(7, external, func(d *Desired) {
			d.Unresponsive = map[StepKind]map[string]bool{Unprotect: {"i-1": true, "i-2": true, "i-3": true}}
		}), o: fleet(serving(7, protected)), want: "Unprotect i-4 i-5 i-6 i-7 i-1 (ReplicasManagedExternally)"},
		{name: "sized elsewhere, unprotected", why: "nothing is left to be done", d: wants(2, external), o: fleet(serving(2)), want: "settled"},
	})
}
