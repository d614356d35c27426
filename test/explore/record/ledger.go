package record

import (
	"time"

	"github.com/muster-project/muster/test/explore/oracle"
)

// Ledger knows since when each machine has served, or has served no more and by whose hand.
type Ledger map[string]*service

type service struct {
	serves bool
	since  time.Time
	ours   bool
}

// Keep updates the ledger. Machines that have stopped serving since the last update did so because of Muster if ours lists them, and
// otherwise because of others.
func (l Ledger) Keep(now time.Time, c oracle.Cloud, nodes map[string]oracle.Node, ours []string) {
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

// Lately returns the machines that stopped serving by others' hands, or began to serve, within the window.
func (l Ledger) Lately(now time.Time, window time.Duration) (lost, risen map[string]bool) {
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
