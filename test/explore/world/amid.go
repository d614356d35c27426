package world

import (
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

// interrupted runs the events between two calls, right before a call of a pass.
func (p *process) interrupted(write, cloud bool) {
	g := p.world.managers
	if len(g.amid) == 0 || g.inside {
		return
	}
	e := &g.amid[0]
	if e.Pool != p.world.at {
		return
	}
	if of := script.Calls(e.M % 3); of == script.Writes && !write || of == script.CloudCalls && !cloud {
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
func (p *process) comes(e script.Event) {
	w := p.world
	desired, paused := p.desired, p.paused
	defer func() { p.desired, p.paused = desired, paused }()
	switch e.Then {
	case script.OtherPass:
		for _, c := range p.controllers {
			if c.of == w.member && c != p.runs {
				p.run(c)
			}
		}
	case script.OtherManager:
		for _, other := range w.managers.list {
			if other != p && !time.Now().Before(other.starts) {
				other.sync()
				other.pass(other.infra(w.member))
			}
		}
	default:
		w.happen(script.Event{What: e.Then, N: e.M, M: 1 + e.M%8, Pool: e.Pool})
	}
}
