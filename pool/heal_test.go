package pool

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// healing asks for the replacement of machines whose nodes have been unready for ten minutes.
func healing(d *Desired) {
	d.Remediation = &Remediation{After: 10 * time.Minute, MaxUnhealthy: percent(40)}
}

func bears(limit IntOrPercent) func(*Desired) {
	return func(d *Desired) { d.Remediation = &Remediation{After: 10 * time.Minute, MaxUnhealthy: limit} }
}

func spared(i *Instance) { i.Node.SkipRemediation = true }

// preservedOne has a user keep the machine for diagnosis.
func preservedOne(i *Instance) { i.Node.Preserved = true }

// with is a fleet of n that serve, and others.
func with(n int, others ...Instance) []Instance { return append(serving(n), others...) }

// healCases are the cases of TestHeal.
var healCases = []row{
	{name: "off", why: "the user did not ask for it", d: wants(5), o: fleet(with(4, machine("x-1", 1, down(60)))),
		want: "waiting NodesNotReady, settled"},
	{name: "unready", why: "its node has been unready for longer than was said", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(11)))), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "not yet", why: "until then it may come back", d: wants(5, healing), o: fleet(with(4, machine("x-1", 1, down(9)))),
		want: "waiting NodesNotReady, settled"},
	{name: "to the second", why: "as long as was said is not longer", d: wants(5, healing), o: fleet(with(4, machine("x-1", 1, down(10)))),
		want: "waiting NodesNotReady, settled"},
	{name: "drained", why: "it goes drained, and the group launches another", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(11), drainedNode))), want: "Replace x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "recovered", why: "one that is well again is given back", d: wants(5, healing), o: fleet(with(4, machine("x-1", 1, drainedNode))),
		want: "Undrain x-1 (StillWanted)"},
	{name: "never joined", why: "a machine that does not join within the join deadline is unwell", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 0, notJoined, born5(16)))), want: "Replace x-1 (NodeUnhealthy), waiting NodesJoining"},
	{name: "joins late", why: "before that it may join", d: wants(5, healing), o: fleet(with(4, machine("x-1", 0, notJoined, born5(14)))),
		want: "waiting NodesJoining, settled"},
	{name: "never ready", why: "joined and never Ready is as bad", d: wants(5, healing), o: fleet(with(4, machine("x-1", 1, neverReady))),
		want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "one of two", why: "the next one waits until another serves in the first one's place", d: wants(6, healing),
		o: fleet(with(4, machine("x-1", 2, down(60)), machine("x-2", 1, down(20)))), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "one drains", why: "so does the second while the first is drained", d: wants(6, healing),
		o:    fleet(with(4, machine("x-1", 1, down(60)), machine("x-2", 2, down(20), drainingNode))),
		want: "Drain x-2 (NodeUnhealthy), waiting Draining, waiting NodesNotReady"},
	{name: "one goes", why: "and while it is on its way out", d: wants(6, healing),
		o:    fleet(with(4, machine("x-1", 1, down(60)), machine("x-2", 2, down(20), leaving))),
		want: "waiting InstancesLaunching, waiting NodesNotReady"},
	{name: "another comes", why: "and until another has come", d: wants(6, healing),
		o:    fleet(with(4, machine("x-1", 1, down(60)), machine("n-1", 0, beingBorn, born5(1)))),
		want: "waiting InstancesLaunching, waiting NodesNotReady"},
	{name: "another joins", why: "and has joined", d: wants(6, healing),
		o:    fleet(with(4, machine("x-1", 1, down(60)), machine("n-1", 0, notJoined, born5(1)))),
		want: "waiting NodesJoining, waiting NodesNotReady, settled"},
	{name: "group is short", why: "while machines are missing none goes", d: wants(6, healing),
		o: fleet(with(4, machine("x-1", 1, down(60))), sized(6)), want: "waiting InstancesLaunching, waiting NodesNotReady"},
	{name: "too many", why: "three of seven are more than 40 %: what ails them is not theirs alone", d: wants(7, healing),
		o:    fleet(with(4, machine("x-1", 1, down(20)), machine("x-2", 2, down(60)), machine("x-3", 3, down(90)))),
		want: "waiting TooManyUnhealthy, waiting NodesNotReady, settled"},
	{name: "as many as may be", why: "two of five are just 40 %", d: wants(5, healing),
		o: fleet(with(3, machine("x-1", 1, down(20)), machine("x-2", 2, down(60)))), want: "Drain x-2 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "unready for a minute", why: "those that are about to be too long unready count too", d: wants(5, healing),
		o:    fleet(with(2, machine("x-1", 1, down(1)), machine("x-2", 2, down(60)), machine("x-3", 2, down(30)))),
		want: "waiting TooManyUnhealthy, waiting NodesNotReady, settled"},
	{name: "together", why: "many that turned unready together look like a partition", d: wants(6, bears(percent(100))),
		o:    fleet(with(3, machine("x-1", 1, down(11)), machine("x-2", 2, down(12)), machine("x-3", 3, down(13)))),
		want: "waiting PartitionSuspected, waiting NodesNotReady, settled"},
	{name: "together, for long", why: "after half an hour it is taken for what it seems", d: wants(6, bears(percent(100))),
		o:    fleet(with(3, machine("x-1", 1, down(41)), machine("x-2", 2, down(42)), machine("x-3", 3, down(43)))),
		want: "Drain x-3 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "two turned together", why: "as many as a third are no partition", d: wants(6, healing),
		o: fleet(with(4, machine("x-1", 1, down(11)), machine("x-2", 2, down(12)))), want: "Drain x-2 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "a number", why: "the bound may be a number", d: wants(6, bears(IntOrPercent{Value: 1})),
		o:    fleet(with(4, machine("x-1", 1, down(11)), machine("x-2", 2, down(60)))),
		want: "waiting TooManyUnhealthy, waiting NodesNotReady, settled"},
	{name: "none", why: "a bound of none is none", d: wants(6, bears(IntOrPercent{})), o: fleet(with(5, machine("x-1", 1, down(11)))),
		want: "waiting TooManyUnhealthy, waiting NodesNotReady, settled"},
	{name: "pool of one", why: "a share of a small pool is one at least", d: wants(1, healing), o: fleet(list(machine("x-1", 1, down(11)))),
		want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "out of reach", why: "the state of its node is unknown", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(60))), nodesUnknown), want: "waiting ConnectionDown, settled"},
	{name: "spared", why: "the user excluded it (skip-remediation)", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(60), spared))), want: "waiting NodesNotReady, settled"},
	{name: "preserved", why: "a user wants to look at it", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(60), preservedOne))), want: "waiting NodesNotReady, settled"},
	{name: "preserved, for a day", why: "a day is long enough", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(24*60), preservedOne))), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "preserved, two", why: "one is kept at a time", d: wants(6, healing),
		o:    fleet(with(4, machine("x-1", 1, down(60), preservedOne), machine("x-2", 2, down(30), preservedOne))),
		want: "Drain x-2 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "preserved, too many machines", why: "what serves stays", d: wants(4, healing),
		o: fleet(with(4, machine("x-1", 1, down(60), preservedOne))), want: "Drain x-1 (ScaleIn), waiting NodesNotReady"},
	{name: "preserved, stale", why: "a rollout goes on beside it", d: wants(2, healing, rolls(0, 1)),
		o:    fleet(list(machine("x-1", 2, down(60), preservedOne), machine("x-2", 1, current)), newTemplate),
		want: "waiting Held, waiting NodesNotReady, settled"},
	{name: "preserved, deleted", why: "the user has seen enough", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(60), preservedOne, condemnedOne))), want: "Drain x-1 (MachineDeleted), waiting NodesNotReady"},
	{name: "spared counts", why: "it is unwell all the same", d: wants(4, bears(IntOrPercent{Value: 1})),
		o:    fleet(with(2, machine("x-1", 1, down(60), spared), machine("x-2", 1, down(30)))),
		want: "waiting TooManyUnhealthy, waiting NodesNotReady, settled"},
	{name: "doomed", why: "the cloud takes it anyway", d: wants(5, healing), o: fleet(with(4, machine("x-1", 1, down(60), doomedOne))),
		want: "Drain x-1 (SpotInterruption), waiting NodesNotReady"},
	{name: "too many machines", why: "what is too many goes for that", d: wants(4, healing), o: fleet(with(4, machine("x-1", 1, down(60)))),
		want: "Drain x-1 (ScaleIn), waiting NodesNotReady"},
	{name: "stale", why: "a rollout replaces it, with rules of its own", d: wants(5, healing, rolls(1, 0)),
		o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate, sized(5)), want: "Resize to 6 (Surge), waiting NodesNotReady"},
	{name: "paused", why: "a paused rollout also pauses remediation", d: wants(5, healing, paused),
		o: fleet(with(4, machine("x-1", 1, down(60)))), want: "waiting NodesNotReady, settled"},
	{name: "stale, paused", why: "a pause holds both reasons to replace it", d: wants(5, healing, rolls(1, 0), paused),
		o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate), want: "waiting RolloutPaused, waiting NodesNotReady, settled"},
	{name: "stale, disabled", why: "the object disables replacing what is stale, not remediation",
		d: wants(5, healing, rolls(1, 0), disabled), o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate),
		want: "Drain x-1 (NodeUnhealthy), waiting RolloutPaused, waiting NodesNotReady"},
	{name: "stale, never replaced", why: "where nothing rolls, its health is what counts", d: wants(5, healing),
		o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "stale, spared by the gate", why: "there it is not stale", d: wants(5, healing, skip),
		o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	{name: "new machine halts a rollout", why: "making room for the next would continue with what does not work",
		d: wants(3, healing, rolls(1, 0)), o: fleet(with(3, machine("n-1", 0, current, notJoined, born5(21))), newTemplate, sized(4)),
		want: "waiting RolloutHalted, waiting NodesJoining, settled"},
	{name: "no rollout is left", why: "then it is one like the others", d: wants(3, healing, rolls(1, 0)),
		o:    fleet(append(numbered("n", 2, current), machine("x-1", 0, current, notJoined, born5(21))), newTemplate),
		want: "Replace x-1 (NodeUnhealthy), waiting NodesJoining"},
}

var paused = func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }

var disabled = func(d *Desired) { d.RolloutDisabled = &Cause{"RolloutPaused", "x"} }

var skip = func(d *Desired) { d.SkipModel = true }

func TestHeal(t *testing.T) {
	t.Parallel()
	checkAll(t, healCases)
	checkOn(t, keepsFailed, []row{
		{name: "failed ones count", why: "what failed is unwell too", d: wants(5, bears(IntOrPercent{Value: 1})),
			o:    fleet(with(3, machine("x-1", 1, down(60)), machine("x-2", 0, failed, notJoined, born5(0)))),
			want: "waiting TooManyUnhealthy, waiting InstancesFailed, waiting NodesNotReady"},
	})
	checkOn(t, rollsByItself, []row{
		{name: "the cloud's roll", why: "it replaces what is stale, well or not", d: wants(5, healing),
			o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate, func(o *Observed) {
				o.ProviderRollout = &ProviderRollout{ID: "r", State: ProviderRolloutRunning, Template: o.Versions[0], Started: now}
			}), want: "waiting ProviderRolloutRunning, waiting NodesNotReady"},
		{name: "no strategy, nothing stale", why: "the health of machines is no matter of rolls", d: wants(5, healing),
			o: fleet(with(4, machine("x-1", 1, down(60)))), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	})
	checkOn(t, setsAside, []row{
		{name: "not set aside", why: "what is not serving needs no replacement first", d: wants(5, healing, rolls(1, 0)),
			o: fleet(with(4, machine("x-1", 1, down(60)))), want: "Drain x-1 (NodeUnhealthy), waiting NodesNotReady"},
	})
	checkOn(t, noReplace, []row{
		{name: "no replacing call", why: "the size is lowered with it and raised again", d: wants(5, healing),
			o: fleet(with(4, machine("x-1", 1, down(60), drainedNode))), want: "Remove x-1 (NodeUnhealthy), waiting NodesNotReady"},
		{name: "sized elsewhere", why: "another comes first, or his size would be lowered", d: wants(5, healing, rolls(1, 0), external),
			o: fleet(with(4, machine("x-1", 1, down(60))), plannedSurge(1, 6)), want: "Resize to 6 (Surge), waiting NodesNotReady"},
		{name: "sized elsewhere, another there", why: "then it goes", d: wants(5, healing, rolls(1, 0), external),
			o:    fleet(with(4, machine("x-1", 1, down(60), drainedNode), machine("n-1", 0)), surged(1)),
			want: "Remove x-1 (NodeUnhealthy), waiting NodesNotReady"},
		{name: "sized elsewhere, no surge", why: "nothing brings another, and the size would follow", d: wants(5, healing, rolls(0, 1), external),
			o: fleet(with(4, machine("x-1", 1, down(60)))), want: "waiting ReplicasManagedExternally, waiting NodesNotReady, settled"},
		{name: "sized elsewhere, no strategy", why: "without one a surge is allowed", d: wants(5, healing, external),
			o: fleet(with(4, machine("x-1", 1, down(60)))), want: "UpdateGroup of lt:1 (SurgePlanned), waiting NodesNotReady"},
		{name: "sized elsewhere, no surge, drained", why: "it is given back", d: wants(5, healing, rolls(0, 1), external),
			o:    fleet(with(4, machine("x-1", 1, down(60), drainedNode))),
			want: "Undrain x-1 (StillWanted), waiting ReplicasManagedExternally, waiting NodesNotReady"},
		{name: "sized elsewhere, no surge, never joined", why: "so it is with one that never served", d: wants(5, healing, rolls(0, 1), external),
			o: fleet(with(4, machine("x-1", 1, notJoined))), want: "waiting ReplicasManagedExternally, waiting NodesJoining, settled"},
		{name: "sized elsewhere, no surge, disabled", why: "and where the object disables replacing what is stale",
			d: wants(5, healing, rolls(0, 1), external, disabled), o: fleet(with(4, machine("x-1", 1, down(60))), newTemplate),
			want: "waiting ReplicasManagedExternally, waiting RolloutPaused, waiting NodesNotReady, settled"},
		{name: "sized elsewhere, no surge, too many", why: "the limit says nothing about what no one replaces",
			d: wants(5, bears(IntOrPercent{}), rolls(0, 1), external), o: fleet(with(4, machine("x-1", 1, down(60)))),
			want: "waiting ReplicasManagedExternally, waiting NodesNotReady, settled"},
		{name: "sized elsewhere, no surge, marked", why: "a mark is a preference: the size stays the autoscaler's",
			d: wants(5, healing, rolls(0, 1), external), o: fleet(with(4, machine("x-1", 1, marked))), want: "settled"},
		{name: "sized elsewhere, no surge, marked and unready", why: "also of one that is unwell", d: wants(5, healing, rolls(0, 1), external),
			o: fleet(with(4, machine("x-1", 1, marked, down(60)))), want: "waiting ReplicasManagedExternally, waiting NodesNotReady, settled"},
		{name: "sized elsewhere, no surge, Machine deleted", why: "the user asked for exactly this one to go",
			d:    wants(5, healing, rolls(0, 1), external),
			o:    fleet(with(4, machine("x-1", 1, down(60), func(i *Instance) { i.DeletionRequested = &Cause{"MachineDeleted", "x"} }))),
			want: "Drain x-1 (MachineDeleted), waiting NodesNotReady"},
		{name: "sized elsewhere, no surge, doomed", why: "the cloud takes it anyway", d: wants(5, healing, rolls(0, 1), external),
			o: fleet(with(4, machine("x-1", 1, down(60), doomedOne))), want: "Drain x-1 (SpotInterruption), waiting NodesNotReady"},
		{name: "sized elsewhere, too many", why: "no place is made for those that stay",
			d: wants(3, bears(IntOrPercent{}), rolls(1, 0), external), o: fleet(with(2, machine("x-1", 1, down(60)))),
			want: "waiting TooManyUnhealthy, waiting NodesNotReady, settled"},
	})
}

// TestHealLooksAgain: nothing happens when a node has been unready for long enough, so that the plan has to name the moment.
func TestHealLooksAgain(t *testing.T) {
	t.Parallel()
	p := Decide(wants(5, healing), fleet(with(4, machine("x-1", 1, down(9)))), traits, now)
	if in := p.Next.Sub(now); in <= 59*time.Second || in > time.Minute+time.Second {
		t.Errorf("want the next look in a minute, got %s", in)
	}
}

// TestHealOneByOne: whatever the fleet is, no step begins to replace a second machine for its health.
func TestHealOneByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		tr := someTraits().Draw(t, "traits")
		o = seenBy(tr, o)
		if d.Deleting = false; o.Group == nil {
			return
		}
		p := Decide(d, o, tr, now)
		begun := 0
		for _, verdict := range p.Instances {
			k := slices.IndexFunc(o.Instances, func(i Instance) bool { return i.ID == verdict.ID })
			if n := o.Instances[k].Node; verdict.Cause.Reason == nodeUnhealthy && verdict.Selected && (n == nil || n.DrainStarted.IsZero()) {
				begun++
			}
		}
		if begun > 1 {
			t.Fatalf("want one begun at a time, got %d: %s", begun, say(p))
		}
		if d.Remediation = nil; slices.ContainsFunc(Decide(d, o, tr, now).Instances,
			func(v InstanceDecision) bool { return v.Cause.Reason == nodeUnhealthy }) {
			t.Fatal("want no remediation without the setting")
		}
	})
}

// TestAMachineWithoutANodeIsNamed holds that a machine whose Node was deleted by hand, or that never joins, is named with what can be done
// about it: without a health rule nothing ever replaces it.
func TestAMachineWithoutANodeIsNamed(t *testing.T) {
	t.Parallel()
	const text, hint = "waiting for 1 machine to join the cluster", "set ANNOTATION"
	hinted := func(d *Desired) { d.RemediationHint = hint }
	for name, tc := range map[string]struct {
		why  string
		d    Desired
		o    Observed
		want string
	}{
		"overdue": {"it waits for ever", wants(3, hinted), fleet(with(2, machine("x-1", 0, notJoined, born5(16)))),
			text + "; without a node after the join deadline, and not replaced: x-1; " + hint},
		"on its way": {"it may join yet", wants(3, hinted), fleet(with(2, machine("x-1", 0, notJoined, born5(14)))), text},
		"own rule": {"the user's deadline counts", wants(3, hinted, func(d *Desired) { d.JoinDeadline = time.Hour }),
			fleet(with(2, machine("x-1", 0, notJoined, born5(16)))), text},
		"replaced": {"the rule for unhealthy nodes sees to it", wants(3, hinted, healing),
			fleet(with(2, machine("x-1", 0, notJoined, born5(14)))), text},
		"rolled out": {"the rollout replaces it", wants(3, hinted, rolls(1, 0)),
			fleet(with(2, machine("x-1", 1, notJoined, born5(16))), newTemplate), text},
		"many": {"a message is read by people", wants(7, hinted),
			fleet(with(2, machine("x-1", 0, notJoined, born5(16)), machine("x-2", 0, notJoined, born5(16)), machine("x-3", 0, notJoined, born5(16)),
				machine("x-4", 0, notJoined, born5(16)), machine("x-5", 0, notJoined, born5(16)))),
			"waiting for 5 machines to join the cluster; without a node after the join deadline, and not replaced: x-1, x-2, x-3 and 2 more; " +
				hint},
		"nothing to do": {"no hint, no name", wants(3), fleet(with(2, machine("x-1", 0, notJoined, born5(16)))), text},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, w := range Decide(tc.d, tc.o, traits, now).Waiting {
				if w.Reason == "NodesJoining" {
					got = w.Message
				}
			}
			if got != tc.want {
				t.Errorf("%s:\nwant %s\n got %s", tc.why, tc.want, got)
			}
		})
	}
}
