package world

import "time"

// What comes between two calls beside events: a pass of the other controller of the pool, and one of another manager.
const (
	OtherPass    What = "pass of the other controller"
	OtherManager What = "pass of another manager"
)

// Calls are those of which an event of Amid skips some.
type Calls int

// The calls: writes, to the cloud and to API servers; those to the cloud; all, reads of caches among them.
const (
	Writes Calls = iota
	CloudCalls
	AllCalls
)

// interrupted lets what is to come between two calls come, right before a call of a pass.
func (p *process) interrupted(write, cloud bool) {
	g := p.world.managers
	if len(g.amid) == 0 || g.inside {
		return
	}
	e := &g.amid[0]
	if e.Pool != p.world.at {
		return
	}
	if of := Calls(e.M % 3); of == Writes && !write || of == CloudCalls && !cloud {
		return
	}
	if e.N > 0 {
		e.N--
		return
	}
	next := *e
	g.amid, g.inside = g.amid[1:], true
	defer func() { g.inside = false }()
	p.world.faults++
	p.world.Trace("amid", "%s%s", p.name, next.Then)
	p.comes(next)
}

// comes lets something happen in the middle of a pass.
func (p *process) comes(e Event) {
	w := p.world
	wanted, paused := p.wanted, p.paused
	defer func() { p.wanted, p.paused = wanted, paused }()
	switch e.Then {
	case OtherPass:
		for _, c := range p.controllers {
			if c.of == w.member && c != p.runs {
				p.run(c)
			}
		}
	case OtherManager:
		for _, other := range w.managers.list {
			if other != p && !time.Now().Before(other.starts) {
				other.sync()
				other.pass(other.infra(w.member))
			}
		}
	default:
		w.happen(Event{What: e.Then, N: e.M, M: 1 + e.M%8, Pool: e.Pool})
	}
}
