package record

import (
	"fmt"
	"slices"
	"time"
)

// At most stormMost writes of one kind may be sent within stormSpell, whatever the cloud's response, and for a large pool stormMachine for
// each possible machine, because some writes concern one machine. Of writes with a kind for each machine, at most stormEach may be sent for
// one.
const (
	stormMost, stormEach = 60, 30
	stormMachine         = 2
	stormSpell           = 5 * time.Minute
)

// Not more than repeatMost writes of the same content are accepted within repeatSpell, and repeatMore for each edit and each start of a
// manager beyond the first one, which end the back-off: it makes nine attempts in that time.
const (
	repeatMost, repeatMore = 20, 10
	repeatSpell            = 5 * time.Minute
)

// Writes remembers when the cloud was written to.
type Writes struct {
	// most bounds the writes of one kind.
	most int
	// sent holds the times of the last writes by kind.
	sent map[string][]time.Time
	// accepted holds the times of the last accepted writes by content.
	accepted map[string][]time.Time
	// renewed holds the times at which back-offs were reset for another reason than their effect.
	renewed []time.Time
}

// NewWrites returns an empty record for a pool with the given maximum of machines.
func NewWrites(machines int) *Writes {
	return &Writes{most: max(stormMost, stormMachine*machines), sent: map[string][]time.Time{}, accepted: map[string][]time.Time{}}
}

// Sent records a write of a kind, and returns a violation if it is one too many. It changes one machine if each is true.
func (s *Writes) Sent(call string, each bool) string {
	most := s.most
	if each {
		most = stormEach
	}
	now := time.Now()
	recent := slices.DeleteFunc(s.sent[call], func(at time.Time) bool { return now.Sub(at) > stormSpell })
	s.sent[call] = append(recent, now)
	if len(recent) != most {
		return ""
	}
	s.sent[call] = nil
	return fmt.Sprintf("%s was sent more than %d times within %s", call, most, stormSpell)
}

// Renew notes that a user has edited something, or that a manager has started.
func (s *Writes) Renew() { s.renewed = append(s.renewed, time.Now()) }

// repeatable returns how many writes of the same content may be accepted within repeatSpell.
func (s *Writes) repeatable(now time.Time) int {
	s.renewed = slices.DeleteFunc(s.renewed, func(at time.Time) bool { return now.Sub(at) > repeatSpell })
	return repeatMost + repeatMore*max(0, len(s.renewed)-1)
}

// Accepted records a write that the cloud has accepted, and returns a violation if that happened too often.
func (s *Writes) Accepted(write string) string {
	now := time.Now()
	recent := slices.DeleteFunc(s.accepted[write], func(at time.Time) bool { return now.Sub(at) > repeatSpell })
	s.accepted[write] = append(recent, now)
	most := s.repeatable(now)
	if len(recent) < most {
		return ""
	}
	s.accepted[write] = nil
	return fmt.Sprintf("the same write was accepted more than %d times within %s: %s", most, repeatSpell, write)
}
