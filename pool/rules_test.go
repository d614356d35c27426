package pool

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// list is a fleet in one line.
func list(i ...Instance) []Instance { return i }

// numbered are n machines whose names begin with a letter, the first one the oldest.
func numbered(letter string, n int, change ...func(*Instance)) []Instance {
	out := serving(n, change...)
	for k := range out {
		out[k].ID, out[k].Node = letter+out[k].ID, named1(out[k].Node, letter)
	}
	return out
}

func named1(n *Node, letter string) *Node {
	if n == nil {
		return nil
	}
	node := *n
	node.Name = letter + node.Name
	return &node
}

func born5(minutes int) func(*Instance) {
	return func(i *Instance) { i.Created = now.Add(-time.Duration(minutes) * time.Minute) }
}

// renewed is an instance that the cloud gave a new disk so many minutes ago.
func renewed(minutes int) func(*Instance) {
	return func(i *Instance) { i.Renewed = now.Add(-time.Duration(minutes) * time.Minute) }
}

// down is a node that was Ready and turned unready so many minutes ago.
func down(minutes int) func(*Instance) {
	return func(i *Instance) {
		i.Node.Ready, i.Node.ReadySince = false, now.Add(-time.Duration(minutes)*time.Minute)
	}
}

// neverReady has joined and was never Ready.
func neverReady(i *Instance) { i.Node.Ready, i.Node.ReadySince = false, i.Node.Joined }

func condemnedOne(i *Instance) {
	i.DeletionRequested = &Cause{"MachineDeleted", "its Machine was deleted"}
}
func asideOne(i *Instance)     { i.Standby = true }
func enteringOne(i *Instance)  { i.EnteringStandby = true }
func doomedOne(i *Instance)    { i.TerminationNotice = &Cause{"SpotInterruption", "the cloud takes it"} }
func cordonedNode(i *Instance) { i.Node.Cordoned = true }

// behindFor is that reads may be behind for a while.
func behindFor(d time.Duration) func(*Observed) {
	return func(o *Observed) { o.Cache.StaleUntil = now.Add(d) }
}

func sized(n int) func(*Observed) { return func(o *Observed) { o.Group.Size = n } }

func nodesUnknown(o *Observed) {
	o.NodesUnknown = true
	for k := range o.Instances {
		o.Instances[k].Node = nil
	}
}

// checkOn checks rows for a cloud of other traits.
func checkOn(t *testing.T, change func(*Traits), rows []row) {
	t.Helper()
	tr := traits
	change(&tr)
	for _, r := range rows {
		r.on(t, tr)
	}
}

func rollsByItself(t *Traits) { t.ProviderRollout = true }
func setsAside(t *Traits)     { t.SupportsStandby = true }
func keepsFailed(t *Traits)   { t.KeepsFailedInstances = true }
func noReplace(t *Traits)     { t.ReplaceKeepsSize = false }

// scaleSet is a cloud whose groups hold their template, know no replacement and leave what failed to us.
func scaleSet(t *Traits) {
	t.Group, t.Template = "scale set", "model"
	t.ReplaceKeepsSize, t.KeepsFailedInstances, t.InlineTemplate, t.CanDeleteBusyGroup, t.RecordsSurge = false, true, true, true, true
}

func checkAll(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		r.check(t)
	}
}

// Rules 1 and 2: what serves, and how many may be missing or too many.
func TestBudgets(t *testing.T) {
	ready := func(ago time.Duration) func(*Instance) {
		return func(i *Instance) { i.Node.ReadySince = now.Add(-ago) }
	}
	minReady := func(d *Desired) { d.MinReady = time.Minute }
	checkAll(t, []row{
		{name: "surge first", why: "without leave to be short, another machine comes before one goes", d: wants(3, rolls(1, 0)),
			o: fleet(serving(3), newTemplate), want: "Resize to 4 (Surge)"},
		{name: "all at its maximum", why: "a surge may exceed the group's own maximum, which is lowered again later", d: wants(10, rolls(1, 0)),
			o: fleet(serving(10), newTemplate), want: "Resize to 11 (Surge)"},
		{name: "surge comes", why: "until it serves, no machine is removed", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(3), machine("n-1", 0, current, notJoined, born5(1))), newTemplate), want: "waiting NodesJoining"},
		{name: "surge serves", why: "then as many go as came", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(3), machine("n-1", 0, current)), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "drained", why: "it is replaced, and the group stays large", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(3, func(i *Instance) {
				if i.ID == "i-1" {
					drainedNode(i)
				}
			}), machine("n-1", 0, current)), newTemplate), want: "Replace i-1 (TemplateChanged)"},
		{name: "the last one", why: "it takes the surge with it", d: wants(3, rolls(1, 0)),
			o: fleet(append(numbered("n", 3, current), machine("i-9", 9, drainedNode)), newTemplate), want: "Remove i-9 (TemplateChanged)"},
		{name: "as many left as surge", why: "the surge shrinks with what is left to replace, or machines would be made for nothing",
			d: wants(4, rolls(3, 0)), o: fleet(append(numbered("n", 5, current), machine("i-8", 8, drainedNode), machine("i-9", 9, drainedNode)),
				newTemplate), want: "Remove i-8 i-9 (TemplateChanged)"},
		{name: "surge of the rest", why: "no more come than are left to replace", d: wants(4, rolls(3, 0)),
			o: fleet(append(numbered("n", 3, current), machine("i-9", 9)), newTemplate), want: "Resize to 5 (Surge)"},
		{name: "short instead", why: "where one may be missing, it goes at once", d: wants(3, rolls(0, 1)), o: fleet(serving(3), newTemplate),
			want: "Drain i-1 (TemplateChanged)"},
		{name: "short, drained", why: "the group launches another by itself", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("i-9", 9, drainedNode)), newTemplate), want: "Replace i-9 (TemplateChanged)"},
		{name: "short already", why: "a machine that does not serve is one that is missing", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("n-1", 0, current, notJoined, born5(1))), newTemplate), want: "waiting NodesJoining"},
		{name: "short by a node", why: "so is one whose node is unready", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("n-1", 1, current, down(1))), newTemplate), want: "waiting NodesNotReady"},
		{name: "not ready for long enough", why: "a node counts once it was Ready for minReadySeconds", d: wants(3, rolls(0, 1), minReady),
			o: fleet(append(serving(2), machine("n-1", 1, current, ready(59*time.Second))), newTemplate), want: "waiting BudgetSpent"},
		{name: "ready for long enough", why: "a second later it does", d: wants(3, rolls(0, 1), minReady),
			o: fleet(append(serving(2), machine("n-1", 1, current, ready(time.Minute))), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "cordoned by a user", why: "what another client cordoned still serves what runs there", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("n-1", 1, current, cordonedNode)), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "more unavailable than wanted", why: "it counts at most as the wanted number", d: wants(3, rolls(0, 5)),
			o: fleet(serving(3), newTemplate), want: "Drain i-1 i-2 i-3 (TemplateChanged)"},
		{name: "percent up", why: "a surge rounds up", d: wants(3, by(percent(1), percent(0))), o: fleet(serving(3), newTemplate),
			want: "Resize to 4 (Surge)"},
		{name: "percent down", why: "unavailability rounds down", d: wants(3, by(percent(0), percent(67))), o: fleet(serving(3), newTemplate),
			want: "Drain i-1 i-2 (TemplateChanged)"},
		{name: "percent down to none", why: "without a surge, a share that rounds down to none counts as one, as in Deployments",
			d: wants(3, by(percent(0), percent(10))), o: fleet(serving(3), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "both zero", why: "what could never roll is refused", d: wants(3, rolls(0, 0)), o: fleet(serving(3), newTemplate),
			want: "refused StrategyInvalid, settled"},
		{name: "both zero percent", why: "as percentages too", d: wants(3, by(percent(0), percent(0))), o: fleet(serving(3), newTemplate),
			want: "refused StrategyInvalid, settled"},
		{name: "newest first", why: "the policy orders a rollout as well", d: wants(3, rolls(0, 1), func(d *Desired) { d.DeletePolicy = Newest }),
			o: fleet(serving(3), newTemplate), want: "Drain i-3 (TemplateChanged)"},
		{name: "fullest zone first", why: "within the policy the zone that holds the most gives", d: wants(3, rolls(0, 1)),
			o: fleet(list(machine("i-1", 9, in("b")), machine("i-2", 1), machine("i-3", 2)), newTemplate), want: "Drain i-3 (TemplateChanged)"},
		{name: "scale-in in a rollout", why: "stale machines go first, and none is made to be removed", d: wants(2, rolls(1, 0)),
			o: fleet(append(serving(3), machine("n-1", 0, current)), newTemplate), want: "Drain i-1 i-2 (TemplateChanged)"},
		{name: "scale-in in a rollout, drained", why: "the size comes down by what is too many", d: wants(2, rolls(1, 0)),
			o:    fleet(append(serving(1), machine("i-8", 8, drainedNode), machine("i-9", 9, drainedNode), machine("n-1", 0, current)), newTemplate),
			want: "Replace i-8 (TemplateChanged)"},
		{name: "scale-out in a rollout", why: "one call brings both", d: wants(5, rolls(2, 0)), o: fleet(serving(3), newTemplate),
			want: "Resize to 7 (ScaleOut)"},
		{name: "surplus that serves", why: "scale-in keeps what is wanted serving: the healthy one stays until the others are well", d: wants(2),
			o:    fleet(list(machine("i-1", 3, marked), machine("i-2", 2), machine("i-3", 1, down(1)))),
			want: "waiting BudgetSpent, waiting NodesNotReady, settled"},
		{name: "scale-in, reads behind", why: "another client may have let one go already", d: wants(2),
			o: fleet(serving(3), behindFor(time.Second)), want: "waiting ReadsBehind, settled"},
		{name: "scale-in, reads behind until now", why: "then they are not", d: wants(2), o: fleet(serving(3), behindFor(0)),
			want: "Drain i-1 (ScaleIn)"},
		{name: "scale-in, reads behind, begun", why: "what was drained is not taken back for that", d: wants(2),
			o: fleet(append(serving(2), machine("i-9", 9, drainedNode)), behindFor(time.Second)), want: "waiting ReadsBehind, settled"},
		{name: "scale-in, reads behind, one asked for by name", why: "it goes whatever the size is", d: wants(2),
			o: fleet(append(serving(2), machine("i-9", 0, condemnedOne)), behindFor(time.Second)), want: "Drain i-9 (MachineDeleted)"},
		{name: "scale-in in a rollout, reads behind", why: "an old one goes whatever the size is", d: wants(2, rolls(1, 0)),
			o: fleet(append(serving(1), numbered("n", 2, current)...), newTemplate, behindFor(time.Second)), want: "Drain i-1 (TemplateChanged)"},
		{name: "group not pointed yet", why: "a replacement must be of the wanted template", d: wants(3, rolls(0, 1), refused(UpdateGroup)),
			o: fleet(serving(3), newTemplate, func(o *Observed) { o.Group.Template = "lt:1" }), want: "waiting TemplateOutOfDate, waiting Denied"},
		{name: "listed smaller before the machine is listed as leaving", why: "the surge is not asked for again", d: wants(3, rolls(1, 0)),
			o:    fleet(append(numbered("n", 3, current), machine("i-9", 9, drainedNode)), newTemplate, sized(3)),
			want: "Replace i-9 (TemplateChanged)"},
		{name: "no strategy", why: "where nothing rolls, the new template waits for new machines, and it is said", d: wants(3),
			o: fleet(serving(3), newTemplate), want: "settled"},
	})
}

// TestBudgetsOfMarks holds which of a surplus goes in a rollout when a user marked a machine.
func TestBudgetsOfMarks(t *testing.T) {
	checkAll(t, []row{
		{name: "marked first", why: "a mark is a preference among those that go", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("i-9", 1, marked)), newTemplate), want: "Drain i-9 (TemplateChanged)"},
		{name: "marked beside a surge", why: "what is above the wanted number goes as the mark says, also one that is up to date: a surge " +
			"looks like a size that was lowered for it", d: wants(3, rolls(1, 0)),
			o:    fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked), machine("i-9", 9)), newTemplate),
			want: "Drain n-9 (Marked)"},
		{name: "marked beside a surge, draining", why: "it goes on, and no stale one with it", d: wants(3, rolls(1, 0)),
			o:    fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked, drainingNode), machine("i-9", 9)), newTemplate),
			want: "Drain n-9 (Marked), waiting Draining"},
		{name: "marked beside a surge, drained", why: "the group launches another, which the stale one waits for", d: wants(3, rolls(1, 0)),
			o:    fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked, drainedNode), machine("i-9", 9)), newTemplate),
			want: "Replace n-9 (Marked)"},
		{name: "marked while a stale one drains", why: "a drain that has started continues, and leaves none too many", d: wants(3, rolls(1, 0)),
			o:    fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked), machine("i-9", 9, drainedNode)), newTemplate),
			want: "Remove i-9 (TemplateChanged)"},
		{name: "marked, both drain", why: "the size was raised while both were to go: the marked one still goes first", d: wants(3, rolls(1, 0)),
			o: fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked, drainingNode), machine("i-9", 9, drainedNode)),
				newTemplate), want: "Undrain i-9 (StillWanted), waiting Draining"},
		{name: "marked, both drain, both too many", why: "then both go", d: wants(2, rolls(1, 0)),
			o: fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked, drainedNode), machine("i-9", 9, drainedNode)),
				newTemplate), want: "Remove i-9 n-9 (TemplateChanged)"},
		{name: "marked, both drain, room for both", why: "the marked one goes first, also where one may be missing beside it",
			d: wants(2, rolls(1, 1)), o: fleet(append(numbered("n", 1, current), machine("n-9", 1, current, marked, drainingNode),
				machine("i-9", 9, drainingNode)), newTemplate), want: "Undrain i-9 (StillWanted), waiting Draining"},
		{name: "marked drains, room for another", why: "and the stale one waits for it", d: wants(2, rolls(1, 1)),
			o:    fleet(append(numbered("n", 1, current), machine("n-9", 1, current, marked, drainingNode), machine("i-9", 9)), newTemplate),
			want: "Drain n-9 (Marked), waiting Draining"},
		{name: "marked while the surge comes", why: "a mark costs no availability", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(1), machine("n-9", 1, current, marked), machine("n-2", 1, current),
				machine("n-1", 0, current, notJoined, born5(1))), newTemplate), want: "waiting NodesJoining"},
		{name: "marked without a surge", why: "where none is too many, a mark removes nothing", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("n-9", 1, current, marked)), newTemplate), want: "Drain i-1 (TemplateChanged)"},
		{name: "marked and draining", why: "another one that is marked does not end a drain that has started", d: wants(2, rolls(1, 0)),
			o: fleet(list(machine("n-9", 9, current, marked), machine("n-8", 8, current, marked, drainingNode), machine("n-1", 1, current)),
				newTemplate), want: "Drain n-8 (ScaleIn), waiting Draining"},
		{name: "marked and drained, none wanted", why: "no surge is kept for machines that are not replaced", d: wants(0, rolls(1, 0)),
			o:    fleet(list(machine("i-9", 9, marked, drainingNode), machine("n-8", 8, current, marked, drainedNode)), newTemplate),
			want: "Remove n-8 (ScaleIn), waiting Draining"},
		{name: "marked, paused", why: "a surge that nothing uses is kept for its rollout", d: wants(3, rolls(1, 0), pausedRollout),
			o:    fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked), machine("i-9", 9)), newTemplate),
			want: "waiting RolloutPaused, settled"},
	})
}

// TestBudgetsWithoutReplacing holds the budgets where the cloud can't terminate a machine and launch another in one call.
func TestBudgetsWithoutReplacing(t *testing.T) {
	checkOn(t, noReplace, []row{
		{name: "no replacing call", why: "the size is lowered with the machine and raised in the next step", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(2), machine("i-9", 9, drainedNode)), newTemplate), want: "Remove i-9 (TemplateChanged)"},
		{name: "no replacing call, next", why: "this is that step", d: wants(3, rolls(0, 1)), o: fleet(serving(2), newTemplate),
			want: "Resize to 3 (ScaleOut)"},
		{name: "no replacing call, sized elsewhere", why: "no machine is replaced where that would change a size that another client sets",
			d: wants(3, rolls(0, 1), external), o: fleet(serving(3), newTemplate), want: "settled"},
		{name: "marked beside a surge, no replacing call", why: "it takes the surge with it, and the stale one waits for another",
			d: wants(3, rolls(1, 0)), o: fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked, drainedNode), machine("i-9", 9)),
				newTemplate), want: "Remove n-9 (Marked)"},
		{name: "marked beside a surge, sized elsewhere", why: "who marks it lowers the size, and the surge is not his",
			d: wants(3, rolls(1, 0), external), o: fleet(append(numbered("n", 2, current), machine("n-9", 1, current, marked), machine("i-9", 9)),
				newTemplate, surged(1)), want: "Drain i-9 (TemplateChanged)"},
		{name: "sized elsewhere, with a surge", why: "what stands beside keeps his size", d: wants(3, rolls(1, 0), external),
			o: fleet(serving(3), newTemplate, plannedSurge(1, 4)), want: "Resize to 4 (Surge)"},
		{name: "sized elsewhere, surge there", why: "then one goes", d: wants(3, rolls(1, 0), external),
			o:    fleet(append(serving(2), machine("i-9", 9, drainedNode), machine("n-1", 0, current)), newTemplate, surged(1)),
			want: "Remove i-9 (TemplateChanged)"},
		{name: "sized elsewhere, drained too soon", why: "none goes of whose place there is no other", d: wants(3, rolls(1, 1), external),
			o: fleet(append(serving(1), machine("i-8", 8, drainedNode), machine("i-9", 9, drainedNode), machine("n-1", 0, current)), newTemplate,
				surged(1)), want: "Remove i-9 (TemplateChanged)"},
		{name: "sized elsewhere, surge used up", why: "and then the next has its place made first", d: wants(3, rolls(1, 1), external),
			o:    fleet(append(serving(1), machine("i-9", 9, drainedNode), machine("n-1", 0, current)), newTemplate, plannedSurge(1, 4)),
			want: "Resize to 4 (Surge)"},
	})
}

// The surge where machines can be set aside.
func TestSetAside(t *testing.T) {
	checkOn(t, setsAside, []row{
		{name: "surge", why: "the oldest serve on while the group launches others; neither size nor maximum is written", d: wants(3, rolls(2, 0)),
			o: fleet(serving(3), newTemplate), want: "EnterStandby i-1 i-2 (Surge)"},
		{name: "sized elsewhere", why: "the autoscaler that sizes the group sees its own number all the time", d: wants(0, rolls(1, 0), external),
			o: fleet(serving(3), newTemplate), want: "EnterStandby i-1 (Surge)"},
		{name: "both at once", why: "first those that come, then those that may be missing: the first one is both, and a look that comes late " +
			"chooses it again", d: wants(3, rolls(1, 1)), o: fleet(serving(3), newTemplate), want: "EnterStandby i-1 (Surge)"},
		{name: "set aside", why: "those that may be missing go meanwhile", d: wants(3, rolls(1, 1)),
			o: fleet(append(serving(2), machine("i-9", 9, asideOne)), newTemplate, sized(2)), want: "Resize to 3 (ScaleOut)"},
		{name: "not there yet", why: "it serves until its successor does", d: wants(3, rolls(1, 0)),
			o:    fleet(append(serving(2), machine("i-9", 9, asideOne), machine("n-1", 0, current, notJoined, born5(1))), newTemplate, sized(3)),
			want: "waiting NodesJoining"},
		{name: "successor serves", why: "then it goes, before any other", d: wants(3, rolls(1, 0)),
			o:    fleet(append(serving(2), machine("i-9", 1, asideOne), machine("n-1", 0, current)), newTemplate, sized(3)),
			want: "Drain i-9 (TemplateChanged)"},
		{name: "drained", why: "the group does not count it, and keeps its size", d: wants(3, rolls(1, 0)),
			o:    fleet(append(serving(2), machine("i-9", 1, asideOne, drainedNode), machine("n-1", 0, current)), newTemplate, sized(3)),
			want: "Replace i-9 (TemplateChanged)"},
		{name: "template taken back", why: "its successor is there already: taking it back would write a size", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(3), machine("i-9", 9, asideOne)), sized(3)), want: "Drain i-9 (Standby)"},
		{name: "paused", why: "those that were set aside stay as well",
			d: wants(3, rolls(1, 0), func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }),
			o: fleet(append(serving(3), machine("i-9", 9, asideOne)), newTemplate, sized(3)), want: "waiting RolloutPaused, settled"},
		{name: "paused, failed", why: "one that failed is not serving in a pause either",
			d:    wants(3, rolls(1, 0), func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }),
			o:    fleet(append(serving(3), machine("i-9", 9, asideOne, failed, notJoined)), newTemplate, sized(3)),
			want: "Replace i-9 (TemplateChanged), waiting RolloutPaused, waiting InstancesFailed"},
		{name: "scale-in pending", why: "what is too many is the surge, until it is gone", d: wants(2, rolls(1, 0)),
			o: fleet(append(serving(2), machine("i-9", 9, drainingNode)), newTemplate), want: "Drain i-9 (TemplateChanged), waiting Draining"},
		{name: "nodes unknown", why: "it is unknown what runs there", d: wants(3, rolls(1, 0)), o: fleet(serving(3), newTemplate, nodesUnknown),
			want: "waiting ConnectionDown, settled"},
		{name: "condemned", why: "one that was asked to go by name is replaced first, even without a strategy", d: wants(2),
			o: fleet(append(serving(1), machine("i-9", 1, condemnedOne))), want: "EnterStandby i-9 (Surge)"},
	})
}

// Rule 4: stale machines that are not serving.
func TestIdle(t *testing.T) {
	d := wants(4, rolls(1, 0))
	late := []func(*Instance){notJoined, born5(16)}
	checkAll(t, []row{
		{name: "never joined", why: "a bad image can be rolled forward without leave to be short", d: d,
			o: fleet(append(serving(3, current), machine("i-9", 1, late...)), newTemplate), want: "Replace i-9 (NeverJoined), waiting NodesJoining"},
		{name: "not late", why: "a machine that boots may join yet", d: d,
			o:    fleet(append(serving(3, current), machine("i-9", 1, notJoined, born5(15))), newTemplate),
			want: "Resize to 5 (Surge), waiting NodesJoining"},
		{name: "birth unknown", why: "it is unknown whether it is late", d: d,
			o:    fleet(append(serving(4, current), machine("i-9", 1, notJoined, func(i *Instance) { i.Created = time.Time{} })), newTemplate),
			want: "waiting NodesJoining"},
		{name: "never Ready", why: "a node that has joined and was never Ready is not serving", d: d,
			o:    fleet(append(serving(3, current), machine("i-9", 1, neverReady, drainedNode)), newTemplate),
			want: "Replace i-9 (NeverReady), waiting NodesNotReady"},
		{name: "never Ready, not drained", why: "drain comes before every removal, here too", d: d,
			o:    fleet(append(serving(3, current), machine("i-9", 1, neverReady)), newTemplate),
			want: "Drain i-9 (NeverReady), waiting NodesNotReady"},
		{name: "unready for long", why: "its pods have left it by then", d: d,
			o: fleet(append(serving(4, current), machine("i-9", 1, down(6))), newTemplate), want: "Drain i-9 (Unready), waiting NodesNotReady"},
		{name: "unready not for long", why: "nodes come back", d: d,
			o: fleet(append(serving(4, current), machine("i-9", 1, down(5))), newTemplate), want: "waiting NodesNotReady"},
		{name: "not stale", why: "a machine of the wanted template is health checks' matter", d: d,
			o: fleet(append(serving(3), machine("i-9", 1, down(60)))), want: "waiting NodesNotReady, settled"},
		{name: "nodes unknown", why: "a cluster that does not answer says nothing about its nodes", d: d,
			o: fleet(append(serving(3, current), machine("i-9", 1, late...)), newTemplate, nodesUnknown), want: "waiting ConnectionDown, settled"},
		{name: "a batch at a time", why: "whatever the reason, it may be ours", d: wants(6, rolls(1, 0)),
			o:    fleet(append(serving(2, current), numbered("x", 4, late...)...), newTemplate),
			want: "Replace xi-1 xi-2 xi-3 (NeverJoined), waiting NodesJoining"},
		{name: "paused", why: "a pause means that nothing is replaced",
			d:    wants(4, rolls(1, 0), func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }),
			o:    fleet(append(serving(3, current), machine("i-9", 1, late...)), newTemplate),
			want: "waiting RolloutPaused, waiting NodesJoining, settled"},
		{name: "partition", why: "many that turned together are a broken wire, not broken machines", d: wants(6, rolls(1, 0)),
			o:    fleet(append(serving(3), numbered("x", 3, down(7))...), newTemplate, sized(7)),
			want: "waiting InstancesLaunching, waiting NodesNotReady"},
		{name: "a third is no partition", why: "machines break", d: wants(6, rolls(1, 0)),
			o:    fleet(append(serving(4), numbered("x", 2, down(7))...), newTemplate, sized(7)),
			want: "Drain xi-1 xi-2 (Unready), waiting InstancesLaunching, waiting NodesNotReady"},
		{name: "not together", why: "they broke one by one", d: wants(6, rolls(1, 0)),
			o: fleet(append(serving(3), machine("x-1", 1, down(7)), machine("x-2", 1, down(20)), machine("x-3", 1, down(40))), newTemplate,
				sized(7)), want: "Drain x-1 x-2 x-3 (Unready), waiting InstancesLaunching, waiting NodesNotReady"},
		{name: "partition for long", why: "a template whose nodes fail must not keep itself from being replaced", d: wants(3, rolls(1, 0)),
			o: fleet(numbered("x", 3, down(31)), newTemplate), want: "Drain xi-1 xi-2 xi-3 (Unready), waiting NodesNotReady"},
	})
	checkOn(t, keepsFailed, []row{
		{name: "failed", why: "where the cloud leaves it, we replace it", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, failed, notJoined))), want: "Replace i-9 (Failed), waiting InstancesFailed"},
		{name: "failed young, served before", why: "a machine that was powered off is no sign that the next one fails", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, failed, born5(3), func(i *Instance) { i.Node.Joined = i.Created }, down(1),
				drainedNode))),
			want: "Replace i-9 (Failed), waiting InstancesFailed"},
		{name: "failed young", why: "what fails at birth fails again: it is not replaced at once", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, failed, notJoined, born5(0)))), want: "waiting InstancesFailed"},
		{name: "failed young, many", why: "the more fail, the longer each waits", d: wants(3),
			o: fleet(numbered("x", 3, failed, notJoined, born5(3))), want: "waiting InstancesFailed"},
		{name: "failed, many, rested", why: "but not for ever", d: wants(3), o: fleet(numbered("x", 3, failed, notJoined, born5(4))),
			want: "Replace xi-1 xi-2 xi-3 (Failed), waiting InstancesFailed"},
		{name: "failed and too many", why: "it goes with the size", d: wants(2),
			o: fleet(append(serving(2), machine("i-9", 1, failed, notJoined))), want: "Remove i-9 (ScaleIn), waiting InstancesFailed"},
		{name: "failed and serves", why: "a node that is Ready knows better than a cloud that once could not finish something", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, failed))), want: "waiting FailedServing, settled"},
		{name: "failed and serves, stale", why: "it takes its turn with the others", d: wants(3, rolls(1, 0)),
			o: fleet(append(serving(2), machine("i-9", 9, failed)), newTemplate), want: "Resize to 4 (Surge), waiting FailedServing"},
		{name: "failed and unready", why: "it is not serving", d: wants(3), o: fleet(append(serving(2), machine("i-9", 1, failed, unready))),
			want: "Drain i-9 (Failed), waiting InstancesFailed"},
	})
	checkOn(t, scaleSet, []row{
		{name: "failed young", why: "where we alone bring another, what fails at birth is replaced a dozen times an hour at most", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, failed, notJoined, born5(4)))), want: "waiting InstancesFailed"},
		{name: "failed, rested", why: "and its place is asked for again in the next step", d: wants(3),
			o: fleet(append(serving(2), machine("i-9", 1, failed, notJoined, born5(5)))), want: "Remove i-9 (Failed), waiting InstancesFailed"},
		{name: "failed, sized elsewhere", why: "it keeps the place that a user asked for until there is another", d: wants(3, external),
			o:    fleet(append(serving(2), machine("i-9", 1, failed, notJoined)), plannedSurge(1, 4)),
			want: "Resize to 4 (Surge), waiting InstancesFailed"},
	})
}

// Rule 5: a rollout whose new machines do not become Ready.
func TestHalt(t *testing.T) {
	d := wants(3, rolls(1, 0))
	bad := func(change ...func(*Instance)) Instance {
		return machine("n-1", 0, append([]func(*Instance){current, notJoined}, change...)...)
	}
	issue := func(o *Observed) { o.Issues = []Cause{{"NoCapacity", "no capacity in zone a"}} }
	rows := []row{
		{name: "late", why: "no more of the kind are made", d: d, o: fleet(append(serving(3), bad(born5(21))), newTemplate),
			want: "waiting RolloutHalted, waiting NodesJoining, settled"},
		{name: "not late yet", why: "it may still come", d: d, o: fleet(append(serving(3), bad(born5(20))), newTemplate),
			want: "waiting NodesJoining"},
		{name: "old, and renewed in place", why: "it boots anew, and may still come", d: d,
			o: fleet(append(serving(3), bad(born5(60), renewed(20))), newTemplate), want: "waiting NodesJoining"},
		{name: "renewed in place, late", why: "it does not come with the new template either", d: d,
			o: fleet(append(serving(3), bad(born5(60), renewed(21))), newTemplate), want: "waiting RolloutHalted, waiting NodesJoining, settled"},
		{name: "joined and never Ready", why: "is not there either", d: d,
			o: fleet(append(serving(3), machine("n-1", 0, current, born5(21), func(i *Instance) { i.Node.Joined = i.Created }, neverReady)),
				newTemplate), want: "waiting RolloutHalted, waiting NodesNotReady, settled"},
		{name: "was Ready once", why: "a node that turns unready later says nothing about its template", d: d,
			o: fleet(append(serving(3), machine("n-1", 1, current, down(10))), newTemplate), want: "waiting NodesNotReady"},
		{name: "the cloud's words", why: "people learn both", d: d, o: fleet(append(serving(3), bad(born5(21))), newTemplate, issue),
			want: "waiting RolloutHalted, waiting NoCapacity, waiting NodesJoining, settled"},
		{name: "draining when it halts", why: "what still serves is given back", d: wants(3, rolls(0, 1)),
			o:    fleet(append(serving(1), machine("i-9", 9, drainingNode), bad(born5(21))), newTemplate),
			want: "Undrain i-9 (StillWanted), waiting RolloutHalted, waiting Draining, waiting NodesJoining"},
		{name: "rolled forward", why: "another template lets it go on, the bad one first", d: d,
			o: fleet(append(serving(3), bad(born5(21))), newTemplate, func(o *Observed) {
				o.Versions = append([]Template{version(3, "c", "d")}, o.Versions...)
				o.Wanted.Content, o.Group.Template = "v1:c", "lt:3"
			}), want: "Replace n-1 (NeverJoined), waiting NodesJoining"},
		{name: "rolled back", why: "the size comes down with the bad one, and the others stay", d: d,
			o: fleet(append(serving(3), bad(born5(21)))), want: "Remove n-1 (NeverJoined), waiting NodesJoining"},
		{name: "nodes unknown", why: "it is unknown whether it has joined", d: d,
			o: fleet(append(serving(3), bad(born5(21))), newTemplate, nodesUnknown), want: "waiting ConnectionDown, settled"},
		{name: "of unknown make", why: "it may not be of the new template at all", d: d,
			o:    fleet(append(serving(3), machine("n-1", 0, notJoined, born5(21), from(Template{Ref: "lt:2"}))), newTemplate),
			want: "waiting NodesJoining"},
		{name: "old ones that are not serving", why: "go all the same, or they would keep the way back shut", d: d,
			o:    fleet(append(serving(2), machine("i-9", 9, notJoined), bad(born5(21))), newTemplate),
			want: "Replace i-9 (NeverJoined), waiting RolloutHalted, waiting NodesJoining"},
		{name: "nothing left to replace", why: "a machine that does not join is no rollout's matter then", d: d,
			o: fleet(append(serving(2, current), bad(born5(21))), newTemplate), want: "waiting NodesJoining, settled"},
	}
	for k := range rows {
		rows[k].o.Group.Max = 99
	}
	for k := range rows {
		if len(rows[k].o.Instances) == 4 && !slices.Contains([]string{"rolled back"}, rows[k].name) && rows[k].o.Group.Size != 4 {
			t.Fatalf("the surge of %s is not in its size", rows[k].name)
		}
	}
	checkAll(t, rows)
	p := Decide(d, fleet(append(serving(3), bad(born5(21))), newTemplate, issue), traits, now)
	want := Rollout{State: RolloutHalted, Cause: Cause{"RolloutHalted",
		"the rollout is halted: new instance n-1 has not joined the cluster in time; no capacity in zone a"}, Left: 3, Total: 4}
	if p.Rollout != want {
		t.Errorf("want %+v, got %+v", want, p.Rollout)
	}
}

// A few that are not serving at a time, and a tenth of a large pool, whatever a call may name.
func TestFewAtATime(t *testing.T) {
	for n, want := range map[int]int{5: 3, 30: 3, 50: 5} {
		d := wants(n, rolls(1, 0), func(d *Desired) { d.Max = n })
		p := Decide(d, fleet(serving(n, notJoined), newTemplate), quick(), now)
		if p.Step == nil || p.Step.Kind != Replace || len(p.Step.Targets) != want {
			t.Errorf("want %d of %d replaced at a time, got %s", want, n, say(p))
		}
	}
}

// The numbers of a strategy.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name               string
		s                  *Strategy
		of                 int
		surge, unavailable int
	}{
		{"none", nil, 10, 1, 0},
		{"numbers", &Strategy{MaxSurge: IntOrPercent{Value: 2}, MaxUnavailable: IntOrPercent{Value: 3}}, 10, 2, 3},
		{"more unavailable than there are", &Strategy{MaxUnavailable: IntOrPercent{Value: 30}}, 10, 0, 10},
		{"more than all", &Strategy{MaxUnavailable: percent(200)}, 10, 0, 10},
		{"a surge may be more than there are", &Strategy{MaxSurge: percent(200)}, 10, 20, 0},
		{"up and down", &Strategy{MaxSurge: percent(25), MaxUnavailable: percent(25)}, 10, 3, 2},
		{"down to none with a surge", &Strategy{MaxSurge: IntOrPercent{Value: 1}, MaxUnavailable: percent(5)}, 10, 1, 0},
		{"down to none without one", &Strategy{MaxUnavailable: percent(5)}, 10, 0, 1},
		{"of none", &Strategy{MaxSurge: percent(50), MaxUnavailable: percent(50)}, 0, 0, 0},
		{"nonsense", &Strategy{MaxSurge: IntOrPercent{Value: -1}, MaxUnavailable: IntOrPercent{Value: 2}}, 10, 0, 2},
	} {
		if surge, unavailable := c.s.limits(c.of); surge != c.surge || unavailable != c.unavailable {
			t.Errorf("%s: want %d and %d, got %d and %d", c.name, c.surge, c.unavailable, surge, unavailable)
		}
	}
}

// The numbers behind a decision, and the words on how far it is.
func TestNumbers(t *testing.T) {
	o := fleet(append(serving(2), append(numbered("n", 8, current), machine("i-9", 9, drainingNode))...), newTemplate, sized(11))
	p := Decide(wants(10, rolls(1, 1)), o, traits, now)
	if want := (Budget{Desired: 10, Available: 10, MaxSurge: 1, MaxUnavailable: 1, Surge: 1, Left: 3}); p.Budget != want {
		t.Errorf("want %+v, got %+v", want, p.Budget)
	}
	if p.Rollout.State != RolloutInProgress || p.Rollout.Left != 3 || p.Rollout.Total != 11 ||
		p.Rollout.Cause.Message != "3 of 11 machines to replace: launched from lt:1, which differs from what the specification asks for" {
		t.Errorf("want 3 of 11 to be replaced, got %+v", p.Rollout)
	}
	var said []string
	for _, v := range p.Instances {
		said = append(said, fmt.Sprint(v.ID, v.LowersAvailable, v.Selected))
	}
	if want := "[i-1true true i-2true false i-9false true]"; fmt.Sprint(said) != want {
		t.Errorf("want %s, got %v", want, said)
	}
	if len(p.Forecast) != 2 || len(p.Forecast[0].Targets) != 2 || p.Forecast[0].LowestAvailable != 9 || p.Forecast[1].Surge != 1 {
		t.Errorf("want two waves, the first of two machines, got %+v", p.Forecast)
	}
}
