package record

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/test/explore/oracle"
)

// Happened records the fate of the machines since a plan was made.
type Happened struct {
	// Left lists the machines that went, by name. Made counts the machines that were launched.
	Left []string
	Made int
	// Lowest is the least number of machines that served, Most the largest number that existed.
	Lowest, Most int
}

// Watched records the machines since a plan was made.
type Watched struct {
	owner        string
	before, ever map[string]bool
	now          map[string]bool
	lowest, most int
}

// Watch begins to watch the machines of an owner's groups. Call Begin once the plan has read them.
func Watch(owner string) *Watched {
	return &Watched{owner: owner, before: map[string]bool{}, ever: map[string]bool{}}
}

// Begin takes what was seen for what was there when the plan was made.
func (s *Watched) Begin(l Ledger) { s.before, s.lowest = maps.Clone(s.now), s.serving(l) }

// See records the present machines.
func (s *Watched) See(c oracle.Cloud, l Ledger) {
	s.now = map[string]bool{}
	for _, g := range c.Groups {
		if g.Owner != s.owner {
			continue
		}
		for _, m := range g.Staying() {
			s.now[m.ID] = true
			if m.Launched.Before(time.Now()) { // one that is still to be made may get another ID
				s.ever[m.ID] = true
			}
		}
	}
	s.lowest, s.most = min(s.lowest, s.serving(l)), max(s.most, len(s.now))
}

func (s *Watched) serving(l Ledger) int {
	n := 0
	for id := range s.now {
		if l[id].serves {
			n++
		}
	}
	return n
}

// Happened returns what was seen since the plan was made; nothing where none was.
func (s *Watched) Happened() Happened {
	if s == nil {
		return Happened{}
	}
	h := Happened{Made: len(s.ever) - len(s.before), Lowest: s.lowest, Most: s.most}
	for _, id := range slices.Sorted(maps.Keys(s.before)) {
		if !s.now[id] {
			h.Left = append(h.Left, id)
		}
	}
	return h
}
