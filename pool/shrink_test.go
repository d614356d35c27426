package pool

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestShrink(t *testing.T) {
	size := func(n int) func(*Observed) { return func(o *Observed) { o.Group.Size = n } }
	unknown := func(o *Observed) { o.NodesUnknown = true }
	timeout := func(after time.Duration) func(*Desired) { return func(d *Desired) { d.DrainTimeout = after } }
	whole := func(d *Desired) { d.NoDrain = &Cause{"ClusterDeleted", "x"} }
	list := func(i ...Instance) []Instance { return i }
	for _, r := range []row{
		{"one too many", "its node is drained before it goes", wants(2), fleet(serving(3)), "Drain i-1 (ScaleIn)"},
		{"draining", "each pass evicts what budgets allow", wants(2),
			fleet(list(machine("i-1", 3, drainingNode), machine("i-2", 2), machine("i-3", 1))), "Drain i-1 (ScaleIn), waiting Draining"},
		{"kept by budgets", "people learn who keeps it", wants(1),
			fleet(list(machine("i-1", 3, drainingNode, func(i *Instance) { i.Node.Blocked = []string{"default/web"} }), machine("i-2", 2))),
			"Drain i-1 (ScaleIn), waiting DrainBlocked"},
		{"drained", "exactly the drained one goes", wants(2), fleet(list(machine("i-1", 3), machine("i-2", 2, drainedNode), machine("i-3", 1))),
			"Remove i-2 (ScaleIn)"},
		{"one drained, one not", "what is ready to go does not wait for the rest", wants(1),
			fleet(list(machine("i-1", 3, drainingNode), machine("i-2", 2, drainedNode), machine("i-3", 1))),
			"Remove i-2 (ScaleIn), waiting Draining"},
		{"no bound", "without a drain timeout a drain may take days", wants(1),
			fleet(list(machine("i-1", 3, drainingNode, func(i *Instance) { i.Node.DrainStarted = now.Add(-100 * time.Hour) }), machine("i-2", 2))),
			"Drain i-1 (ScaleIn), waiting Draining"},
		{"timed out", "at the pool's drain timeout it goes whatever is left on it", wants(1, timeout(time.Minute)),
			fleet(list(machine("i-1", 3, drainingNode), machine("i-2", 2))), "Remove i-1 (ScaleIn), waiting Draining"},
		{"not timed out", "a moment earlier it does not", wants(1, timeout(time.Minute+1)),
			fleet(list(machine("i-1", 3, drainingNode), machine("i-2", 2))), "Drain i-1 (ScaleIn), waiting Draining"},
		{"timeout without a drain", "the timeout runs from the drain, not from birth", wants(1, timeout(time.Minute)), fleet(serving(2)),
			"Drain i-1 (ScaleIn)"},
		{"cordoned by another client", "a cordon of others is no drain of Muster's", wants(1),
			fleet(list(machine("i-1", 2, func(i *Instance) { i.Node.Cordoned = true }), machine("i-2", 1))), "Drain i-1 (ScaleIn)"},
		{"no drain", "with the whole cluster going nothing is evicted", wants(1, whole), fleet(serving(2)), "Remove i-1 (ScaleIn)"},
		{"workload cluster away", "it is unknown what runs there, so nothing goes", wants(1), fleet(serving(2, notJoined), unknown),
			"waiting ConnectionDown, settled"},
		{"workload cluster away, not launched yet", "what is not there needs no drain", wants(1), fleet(serving(1, notJoined), unknown, size(3)),
			"Resize to 1 (ScaleIn), waiting ConnectionDown, waiting InstancesLaunching"},
		{"not launched yet", "what is not there is not waited for, and nothing that is there is lost", wants(2), fleet(serving(3), size(5)),
			"Resize to 3 (ScaleIn), waiting InstancesLaunching"},
		{"fewer exist than wanted", "the size never goes below what is wanted", wants(4), fleet(serving(3), size(5)),
			"Resize to 4 (ScaleIn), waiting InstancesLaunching"},
		{"leaving ones", "they are on their way out and do not count as being there", wants(2),
			fleet(list(machine("i-1", 3, leaving), machine("i-2", 2), machine("i-3", 1))), "Resize to 2 (ScaleIn), waiting InstancesLaunching"},
		{"batch", "one removal names no more than the cloud takes", wants(1), fleet(append(serving(5, drainedNode), machine("i-9", 0))),
			"Remove i-1 i-2 i-3 (ScaleIn)"},
		{"to none", "a pool of none is allowed", wants(0), fleet(serving(2, drainedNode)), "Remove i-1 i-2 (ScaleIn)"},
		{"sized lower already", "who lowered the size by hand has decided, and the cloud chooses", wants(2), fleet(serving(3), size(2)), ""},
		{"a wanted node that drains", "it is given back", wants(2), fleet(list(machine("i-1", 2, drainingNode), machine("i-2", 1))),
			"Undrain i-1 (StillWanted), waiting Draining"},
		{"a wanted node that is drained", "so is one that is empty already", wants(2),
			fleet(list(machine("i-1", 2, drainedNode), machine("i-2", 1))), "Undrain i-1 (StillWanted)"},
		{"more wanted than there are", "nodes are given back before machines are asked for", wants(3),
			fleet(list(machine("i-1", 2, drainedNode), machine("i-2", 1))), "Undrain i-1 (StillWanted)"},
		{"sized elsewhere", "who sizes the group now never asked for our drain", wants(1, external),
			fleet(list(machine("i-1", 2, drainingNode), machine("i-2", 1))), "Undrain i-1 (StillWanted), waiting Draining"},
		{"cordoned by others and wanted", "it is not ours to give back", wants(2),
			fleet(serving(2, func(i *Instance) { i.Node.Cordoned = true })), "settled"},
		{"marked while another drains", "the marked one goes, the other is given back first", wants(1),
			fleet(list(machine("i-1", 2, drainingNode), machine("i-2", 1, marked))), "Undrain i-1 (StillWanted), waiting Draining"},
		{"removed a moment ago", "a group that is listed smaller before its machine is listed as leaving gives no drained node back: pods " +
			"would start on it and die with it",
			wants(2), fleet(list(machine("i-1", 3, drainedNode), machine("i-2", 2), machine("i-3", 1)), size(2)), ""},
		{"leaving", "a node that is on its way out is not given back", wants(2),
			fleet(list(machine("i-1", 3, drainedNode, leaving), machine("i-2", 2), machine("i-3", 1)), size(2)), ""},
	} {
		r.check(t)
	}
}

// Who goes first. Each row is told apart from the one before by one thing alone.
func TestVictims(t *testing.T) {
	list := func(i ...Instance) []Instance { return i }
	by := func(p DeletePolicy) func(*Desired) { return func(d *Desired) { d.DeletePolicy = p } }
	unsized := func(*Desired) {}
	unborn := func(i *Instance) { i.Created = time.Time{} }
	for _, c := range []struct {
		name, why string
		policy    func(*Desired)
		list      []Instance
		n         int
		want      string
	}{
		{"order of weight", "what costs least goes first: marked, draining, failed, not joined, unready, serving", unsized,
			list(machine("i-1", 9), machine("i-2", 1, unready), machine("i-3", 1, notJoined), machine("i-4", 1, failed),
				machine("i-5", 1, drainingNode), machine("i-6", 1, marked)), 6,
			"i-6 i-5 i-4 i-3 i-2 i-1"},
		{"marked and serving", "the mark is a person's word and beats every state", unsized,
			list(machine("i-1", 1, failed), machine("i-2", 1, marked)), 1, "i-2"},
		{"draining before failed", "a choice once made stands, or drains would wander", unsized,
			list(machine("i-1", 1, failed), machine("i-2", 1, drainingNode)), 1, "i-2"},
		{"pending", "a machine that is being born is not serving", unsized, list(machine("i-1", 9), machine("i-2", 1, beingBorn)), 1, "i-2"},
		{"leaving", "who goes anyway is no choice", unsized, list(machine("i-1", 9, leaving), machine("i-2", 5), machine("i-3", 1)), 1, "i-2"},
		{"zones", "the fullest zone gives first, whatever the age", unsized,
			list(machine("i-1", 9, in("b")), machine("i-2", 1, in("a")), machine("i-3", 2, in("a"))), 1, "i-3"},
		{"zones, several", "after each choice they are counted again", unsized,
			list(machine("i-1", 9, in("b")), machine("i-2", 1), machine("i-3", 2), machine("i-4", 3), machine("i-5", 8, in("b"))), 4,
			"i-4 i-1 i-3 i-5"},
		{"zones and weight", "balance is worth less than a machine that serves", unsized,
			list(machine("i-1", 1, in("b"), notJoined), machine("i-2", 1), machine("i-3", 1)), 1, "i-1"},
		{"zones count everybody", "a zone is as full as all that live in it, not only those of one weight", unsized,
			list(machine("i-1", 1, in("b"), notJoined), machine("i-2", 2, notJoined), machine("i-3", 1), machine("i-4", 9, in("b"), notJoined),
				machine("i-5", 1)), 1, "i-2"},
		{"oldest", "the default", by(Oldest), list(machine("i-1", 1), machine("i-2", 3), machine("i-3", 2)), 2, "i-2 i-3"},
		{"no policy", "the same as Oldest", by(""), list(machine("i-1", 1), machine("i-2", 3), machine("i-3", 2)), 2, "i-2 i-3"},
		{"newest", "as asked", by(Newest), list(machine("i-1", 1), machine("i-2", 3), machine("i-3", 2)), 2, "i-1 i-3"},
		{"random", "neither age nor name, and the same in every pass", by(Random),
			list(machine("i-1", 1), machine("i-2", 2), machine("i-3", 3), machine("i-4", 4)), 4, "i-2 i-4 i-1 i-3"},
		{"ties", "equals go by name, so that two passes agree", by(Oldest), list(machine("i-3", 1), machine("i-1", 1), machine("i-2", 1)), 2,
			"i-1 i-2"},
		{"ties, newest", "by name there too", by(Newest), list(machine("i-3", 1), machine("i-1", 1), machine("i-2", 1)), 2, "i-1 i-2"},
		{"birth unknown", "where the cloud does not say, the node's age tells", by(Oldest),
			list(machine("i-1", 1, unborn), machine("i-2", 3, unborn), machine("i-3", 2, unborn)), 2, "i-2 i-3"},
		{"birth unknown, newest", "likewise", by(Newest), list(machine("i-1", 1, unborn), machine("i-2", 3, unborn), machine("i-3", 2, unborn)),
			2, "i-1 i-3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := fleet(c.list)
			d := wants(len(alive(o))-c.n, c.policy)
			got := victims(d, o, chosen(d, o).budget.surplusCount())
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: want %s, got %s", c.why, c.want, strings.Join(got, " "))
			}
		})
	}
}

// Machines that are named in a row are spread by Random, not taken from one end.
func TestRandomIsSpread(t *testing.T) {
	list := make([]Instance, 0, 1000)
	for k := range 1000 {
		list = append(list, machine(fmt.Sprintf("vmss_%03d", k), 1))
	}
	early := 0
	for _, id := range victims(wants(0, func(d *Desired) { d.DeletePolicy = Random }), fleet(list), 500) {
		if id < "vmss_500" {
			early++
		}
	}
	if early < 200 || early > 300 {
		t.Errorf("want about half of 500 victims among the first 500 of 1000 names, got %d", early)
	}
}

// A removal that the budget has no room for never waits for an instance that does not come.
func TestRemovalsThatWait(t *testing.T) {
	joining := func(minutes int) Instance { return machine("i-9", 0, notJoined, born5(minutes)) }
	two := func(first ...func(*Instance)) []Instance {
		return []Instance{machine("i-1", 2, first...), machine("i-2", 1)}
	}
	checkAll(t, []row{
		{name: "marked, another joins", why: "the marked one is exactly the one that goes, once there is another that serves", d: wants(2),
			o: fleet(append(two(marked), joining(5))), want: "waiting BudgetSpent, waiting NodesJoining, settled"},
		{name: "marked, another never joins", why: "what is not serving costs no budget, and the pool comes to its size", d: wants(2),
			o: fleet(append(two(marked), joining(16))), want: "Remove i-9 (ScaleIn), waiting NodesJoining"},
		{name: "marked, another never joins, one may be missing", why: "the mark counts where the budget has room", d: wants(2, rolls(1, 1)),
			o: fleet(append(two(marked), joining(16))), want: "Drain i-1 (ScaleIn), waiting NodesJoining"},
		{name: "marked, another is not Ready", why: "it may come back", d: wants(2),
			o: fleet(append(two(marked), machine("i-9", 1, down(2)))), want: "waiting BudgetSpent, waiting NodesNotReady, settled"},
		{name: "marked, another is not Ready for long", why: "it does not", d: wants(2),
			o: fleet(append(two(marked), machine("i-9", 1, down(6)))), want: "Drain i-9 (ScaleIn), waiting NodesNotReady"},
		{name: "two too many, one of them marked", why: "what needs no drain goes at once, and the marked one next", d: wants(2),
			o: fleet(append(append(two(marked), machine("i-3", 1)), joining(16))), want: "Remove i-9 (ScaleIn), waiting NodesJoining"},
		{name: "asked for by name", why: "it waits for what replaces it, and the user learns for what", d: wants(2),
			o:    fleet(append(two(func(i *Instance) { i.DeletionRequested = &Cause{"MachineDeleted", "x"} }), joining(16)), surged(1)),
			want: "waiting BudgetSpent, waiting NodesJoining"},
	})
	p := Decide(wants(2, rolls(1, 0)), fleet(append(two(marked), joining(5))), traits, now)
	want := "removal of i-1 waits until more than 2 of 2 machines are available, now 2 are; i-9 has not joined the cluster and is removed " +
		"instead if it stays so; " +
		"raise spec.strategy.rollingUpdate.maxUnavailable to go on at once"
	if got := p.Waiting[0].Message; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}
