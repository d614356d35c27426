package groups

import "time"

// Creations are when machines were made, by their IDs. A machine never changes its own.
type Creations map[string]time.Time

// maxCreated bounds the machines of a node pool whose creation time is stored; beyond it, all are read again.
const maxCreated = 4096

// note keeps when a machine was made.
func (c *Creations) note(uid string, at time.Time) {
	if uid == "" || at.IsZero() {
		return
	}
	if *c == nil || len(*c) >= maxCreated {
		*c = Creations{}
	}
	(*c)[uid] = at
}

// date fills in when machines were made, as far as it is known, and reports whether one is left that exists.
func (c *Creations) date(machines []Instance) (left bool) {
	for i := range machines {
		m := &machines[i]
		if m.Created.IsZero() && m.UID != "" {
			m.Created = (*c)[m.UID]
			left = left || m.Created.IsZero()
		}
	}
	return left
}
