package world

import (
	"maps"
	"time"

	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

const (
	// seenLate is how old what a pass rests on may be: the age that a drain is content with, a slow read, and one that is
	// behind. seenLater is the same while caches stand still or a workload cluster has just gone out of reach.
	seenLate, seenLater = time.Minute, 3 * time.Minute
)

// ledger knows since when each machine has served, or has served no more and by whose hand.
type ledger map[string]*service

type service struct {
	serves bool
	since  time.Time
	ours   bool
}

// look brings the ledger up to date, and notes what is to be noted.
func (a *account) look(c oracle.Cloud, nodes map[string]oracle.Node, ours []string) {
	a.ledger.keep(time.Now(), c, nodes, ours)
	if a.world.watched != nil {
		a.world.watched.see(c, a.ledger)
	}
}

// keep brings the ledger up to date. What has stopped serving since it was kept last did so by our hand where it is named
// among ours, and by others' otherwise.
func (l ledger) keep(now time.Time, c oracle.Cloud, nodes map[string]oracle.Node, ours []string) {
	for _, g := range c.Groups {
		for _, m := range g.Members {
			n := nodes[m.ID]
			serves := n.Joined && n.Ready && n.DrainStarted.IsZero() && !m.Leaving
			s := l[m.ID]
			if s == nil {
				s = &service{since: now}
				l[m.ID] = s
			}
			if s.serves == serves {
				continue
			}
			s.serves, s.since, s.ours = serves, now, false
			for _, id := range ours {
				s.ours = s.ours || id == m.ID
			}
		}
	}
}

// lately are the machines that stopped serving by others' hands, or began to serve, a moment ago.
func (l ledger) lately(now time.Time, window time.Duration) (lost, risen map[string]bool) {
	lost, risen = map[string]bool{}, map[string]bool{}
	for id, s := range l {
		switch {
		case now.Sub(s.since) > window:
		case s.serves:
			risen[id] = true
		case !s.ours:
			lost[id] = true
		}
	}
	return lost, risen
}

// late is how old what the process knows may be.
func (p *process) late() time.Duration {
	now, w := time.Now(), p.world
	if p.lagging > 0 || now.Sub(p.lagUntil) < seenLater || now.Sub(w.Workload.AwayUntil()) < seenLater || now.Before(p.deafUntil) || len(w.processes) > 1 {
		return seenLater
	}
	return seenLate
}

// drains watches a write to a Node. What it gives is to be called after the write, and has it judged if a drain has begun by it.
func (p *process) drains(workload bool, op memapi.Op) func() {
	w := p.world
	if !workload || op.Kind != "Node" || op.Verb == "delete" {
		return func() {}
	}
	id := w.Workload.MachineOf(op.Key.Name)
	if id == "" || w.Workload.Draining(op.Key.Name) {
		return func() {}
	}
	return func() {
		if !w.Workload.Draining(op.Key.Name) {
			return
		}
		a, now := w.account, time.Now()
		cloud, nodes := w.Snapshot(), w.Workload.Truth()
		before := maps.Clone(nodes)
		n := nodes[id]
		n.DrainStarted = time.Time{}
		before[id] = n
		a.look(cloud, before, nil)
		lost, risen := a.ledger.lately(now, p.late())
		a.look(cloud, nodes, []string{id})
		a.judge(oracle.Write{
			At: now, Call: "a drain of " + op.Key.Name, Drains: true, Named: []string{id}, Before: cloud, After: cloud, Nodes: before, Wanted: p.wanted,
			Unseen: 2 * unseen, Moved: !a.moved.IsZero() && now.Sub(a.moved) < p.late(), Lost: lost, Risen: risen, Autoscaled: a.autoscaledLately(p.late()),
		})
	}
}
