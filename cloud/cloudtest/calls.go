package cloudtest

import (
	"fmt"

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
	// before is how many of the same name come before it, earlier how many writes.
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
