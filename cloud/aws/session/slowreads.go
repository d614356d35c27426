package session

import "time"

// SlowReads spreads reads that are repeated once in a period over the passes of a pool: one pass repeats at most one of them, so that no
// pass reads much.
type SlowReads struct {
	// Now is when the pass began.
	Now time.Time
	// taken is true if the pass has repeated a read.
	taken bool
}

// Due reports whether what was read at a time is read again in this pass. A read that is overdue by a whole period is always due.
func (s *SlowReads) Due(at time.Time, period time.Duration) bool {
	age := s.Now.Sub(at)
	if age < period || s.taken && age < 2*period {
		return false
	}
	s.taken = true
	return true
}
