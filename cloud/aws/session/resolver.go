package session

import (
	"time"

	"github.com/muster-project/muster/cloud/cache"
)

// Resolver looks up what a specification names only by its properties, through one session.
type Resolver struct {
	*cache.Resolver
	Session *Session
}

// Resolver makes one for a pass over an object that remembers these look-ups.
func (s *Session) Resolver(remembered map[string]string, now time.Time) *Resolver {
	return &Resolver{Session: s, Resolver: &cache.Resolver{
		Place: s.Region, Shared: &s.lookups, Now: now, Remembered: remembered, Remember: map[string]string{},
	}}
}
