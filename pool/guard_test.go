package pool

import (
	"testing"
	"time"
)

// Another client lets go of the instance first.
func TestGuards(t *testing.T) {
	guard := func(asked, done bool, waits ...string) func(*Instance) {
		return func(i *Instance) { i.Guard = &Guard{Requested: asked, Released: done, WaitReasons: waits} }
	}
	goes := func(i *Instance) { i.DeletionRequested = &Cause{"MachineDeleted", "x"} }
	cordoned := func(i *Instance) { i.Node.Cordoned = true }
	held := func(i *Instance) { i.State, i.LifecycleHook = Terminating, &LifecycleHook{Since: now.Add(-time.Hour)} }
	nodesUnknown := func(o *Observed) { o.NodesUnknown = true }
	timeout := func(d *Desired) { d.DrainTimeout = time.Second }
	whole := func(d *Desired) { d.NoDrain = &Cause{"ClusterDeleted", "x"} }
	checkAll(t, []row{
		{name: "too many", why: "the guard is asked before the instance goes, whatever is known of its node", d: wants(1),
			o: fleet(append(serving(1), machine("i-9", 9, notJoined, guard(false, false)))), want: "Drain i-9 (ScaleIn), waiting NodesJoining"},
		{name: "drained by others", why: "an empty node alone does not let it go", d: wants(1),
			o: fleet(append(serving(1), machine("i-9", 9, drainedNode, guard(false, false)))), want: "Drain i-9 (ScaleIn)"},
		{name: "asked", why: "its Machine has hooks of its own, and no timeout of the pool overtakes them", d: wants(1, timeout),
			o:    fleet(append(serving(1), machine("i-9", 9, drainedNode, goes, guard(true, false, "a hook")))),
			want: "Drain i-9 (MachineDeleted), waiting DrainBlocked"},
		{name: "let go", why: "he has drained it, however the node looks", d: wants(1),
			o:    fleet(append(serving(1), machine("i-9", 9, drainingNode, goes, guard(true, true)))),
			want: "Remove i-9 (MachineDeleted), waiting Draining"},
		{name: "asked by another client", why: "exactly that one is replaced, the size stays", d: wants(2),
			o: fleet(append(serving(1), machine("i-9", 9, cordoned, goes, guard(true, true)))), want: "Replace i-9 (MachineDeleted)"},
		{name: "cluster away, let go", why: "who is drained needs no node to be asked", d: wants(2),
			o:    fleet(append(serving(1), machine("i-9", 9, notJoined, goes, guard(true, true))), nodesUnknown),
			want: "Replace i-9 (MachineDeleted), waiting ConnectionDown"},
		{name: "cluster away, asked", why: "who is not is waited for", d: wants(2),
			o:    fleet(append(serving(1), machine("i-9", 9, notJoined, goes, guard(true, false))), nodesUnknown),
			want: "waiting ConnectionDown, waiting Draining"},
		{name: "whole cluster", why: "his hooks count although nothing is drained", d: wants(1, deleting, whole),
			o: fleet(serving(1, guard(false, false))), want: "Drain i-1 (PoolDeleted)"},
		{name: "whole cluster, let go", why: "then the group goes", d: wants(1, deleting, whole), o: fleet(serving(1, goes, guard(true, true))),
			want: "DeleteGroup i-1 (PoolDeleted)"},
		{name: "held", why: "the hook holds until he has let go, whatever the timeout", d: wants(1, timeout),
			o:    fleet(append(serving(1), machine("i-9", 9, goes, held, guard(true, false))), sized(1)),
			want: "Drain i-9 (MachineDeleted), waiting Draining"},
		{name: "held, let go", why: "and no longer", d: wants(1), o: fleet(append(serving(1), machine("i-9", 9, goes, held, guard(true, true))),
			sized(1)), want: "Release i-9 (Drained)"},
	})
}

// The cloud is about to terminate an instance that has a guard. Its drain may go past the guard, so it is told from the removal of the
// instance.
func TestEndingInstances(t *testing.T) {
	guarded := func(i *Instance) { i.Guard = &Guard{} }
	old := func(o *Observed) { o.Versions = append(o.Versions, version(0, "a", "old")) }
	for _, c := range []struct {
		reason string
		d      Desired
		o      Observed
		want   bool
	}{
		{"the pool keeps it", wants(2), fleet(append(serving(1), machine("i-9", 9, doomedOne, guarded))), true},
		{"it is replaced anyway", wants(2, rolls(0, 2)), fleet(append(serving(1), machine("i-9", 9, doomedOne, guarded)), newTemplate), true},
		{"there are too many", wants(1), fleet(append(serving(1), machine("i-9", 9, doomedOne, guarded))), false},
		{"the pool is deleted", wants(2, deleting), fleet(append(serving(1), machine("i-9", 9, doomedOne, guarded))), false},
		{"nothing ends", wants(1), fleet(append(serving(1), machine("i-9", 9, guarded))), false},
	} {
		s := Decide(c.d, c.o, traits, now).Step
		if s == nil || s.Kind != Drain {
			t.Errorf("%s: the step is %v, want a drain", c.reason, s)
			continue
		}
		for _, r := range s.Targets {
			if r.ID == "i-9" && r.Ending != c.want {
				t.Errorf("%s: Ending of %s is %t, want %t", c.reason, r.ID, r.Ending, c.want)
			}
		}
	}
	checkAll(t, []row{
		{name: "drains", why: "the rounds of a drain keep nothing else from its turn", d: wants(2),
			o:    fleet(append(serving(1), machine("i-9", 9, doomedOne, guarded, drainingNode)), old),
			want: "PruneTemplates refs lt:0 (TemplateUnused), waiting Draining"},
	})
}
