package cloudtest

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/sim"
)

// callsOf are the requests that the exercise's step sends when all is well, from the driver that has prepared it or from one
// that has seen nothing.
func callsOf[S any](p player[S], e exercise[S], forgetful bool) []call {
	p.Helper()
	sc, s := p.begin(e)
	if forgetful {
		p = p.again()
	}
	before := len(p.wire.carried)
	var err error
	list := numbered(p.sent(func() { err = p.try(sc.target, s) }))
	if err != nil {
		p.Fatalf("start %s: %v", s.Kind, err)
	}
	for i := range list {
		list[i].carries = p.wire.carried[before+i]
	}
	return list
}

// callsElsewhere are those requests, sent on a cloud of their own.
func callsElsewhere[S any](p player[S], e exercise[S], forgetful bool) (list []call) {
	p.Helper()
	playElsewhere(p, "all is well", func(q player[S]) { list = callsOf(q, e, forgetful) })
	return list
}

// call is one of the requests that something sends.
type call struct {
	service, action string
	// before is the number of calls of the same name before it, earlier the number of writes.
	before, earlier int
	// writes is true if it writes, carries if bootstrap data is in it.
	writes, carries bool
}

func (c call) String() string { return fmt.Sprintf("%s:%s[%d]", c.service, c.action, c.before) }

// numbered tells requests of one name apart.
func numbered(sent []sim.Call) []call {
	list := make([]call, 0, len(sent))
	named, earlier := map[string]int{}, 0
	for _, c := range sent {
		name := c.Service + ":" + c.Action
		list = append(list, call{service: c.Service, action: c.Action, before: named[name], earlier: earlier, writes: c.Mutating})
		named[name]++
		if c.Mutating {
			earlier++
		}
	}
	return list
}

// lookedAt are the pools at which a read fails: one at rest, one whose machines do not come, and one that the cloud rolls.
func lookedAt[S any](d declared) map[string]func(player[S]) cloud.Target[S] {
	pools := map[string]func(player[S]) cloud.Target[S]{
		"at rest": func(p player[S]) cloud.Target[S] {
			p.create(p.target(), sizeSmall)
			return p.target()
		},
		"machines missing": func(p player[S]) cloud.Target[S] {
			target := p.target()
			target.Operations = wantMachines(p, target).Operations
			return target
		},
	}
	if d.traits.ProviderRollout {
		pools["rolling"] = func(p player[S]) cloud.Target[S] {
			sc := readyRoll(p)
			p.start(sc.target, *dueStart(sc.before))
			sc.target.Operations = p.observe(sc.target).Operations
			return sc.target
		}
	}
	return pools
}

// failedSecondaryReads fails each read of a first look in turn that a look can do without.
func failedSecondaryReads[S any](p player[S]) {
	failures := []sim.Fault{{Kind: sim.ErrorBefore}, {Kind: sim.DropBefore}, p.cloud.Capabilities().Denied}
	failures[2].Kind = sim.ErrorBefore
	pools := lookedAt[S](p.declared)
	for _, about := range []string{"at rest", "machines missing", "rolling"} {
		ready := pools[about]
		if ready == nil {
			continue
		}
		var calls []call
		playElsewhere(p, about, func(q player[S]) {
			target := ready(q)
			calls = numbered(q.sent(func() { q.again().observe(target) }))
		})
		for _, c := range calls {
			for _, f := range failures {
				if !slices.Contains(p.suite.Primary, c.action) {
					playElsewhere(p, fmt.Sprintf("%s, %s %s at %s", about, f.Kind, f.Code, c), func(q player[S]) { failedRead(q, ready(q), f, c) })
				}
			}
		}
	}
}

// failedRead looks while one read fails.
func failedRead[S any](q player[S], target cloud.Target[S], f sim.Fault, c call) {
	q.Helper()
	before := q.again().observe(target)
	disturb(q, f, c)
	o, err := q.again().driver.Observe(q.Context(), target)
	played(q)
	q.calm()
	switch {
	case err != nil:
		q.Errorf("want what the read shows unknown, and the rest observed, got %v", err)
	case o.Group == nil || o.Group.Size != before.Group.Size || o.Group.ID != before.Group.ID:
		q.Errorf("want the group %+v, got %+v", before.Group, o.Group)
	case !slices.Equal(sorted(ids(before.Instances)), sorted(ids(o.Instances))):
		q.Errorf("want the instances %v, got %v", ids(before.Instances), ids(o.Instances))
	case len(o.Issues) == 0 && o.ProviderRolloutUnknown == nil:
		q.check("what is observed without an issue", before, o)
	}
}

// sorted returns a list in order.
func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
