package record

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEditsEndBackOffs holds how many writes of the same content may be accepted: an edit or a start of a manager ends the back-off, and
// each beyond the first one allows for as many attempts as that makes.
func TestEditsEndBackOffs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewWrites(4)
		s.Renew()
		for edits, want := range []int{20, 30, 40} {
			if got := s.repeatable(time.Now()); got != want {
				t.Errorf("after %d edits: want %d, got %d", edits, want, got)
			}
			time.Sleep(time.Minute)
			s.Renew()
		}
		time.Sleep(repeatSpell + time.Second)
		if got := s.repeatable(time.Now()); got != repeatMost {
			t.Errorf("want edits forgotten after %s, got %d", repeatSpell, got)
		}
	})
}

// TestStormGrowsWithThePool holds how many writes of a kind may be sent: of a large pool each machine may be written about.
func TestStormGrowsWithThePool(t *testing.T) {
	for machines, want := range map[int]int{4: 60, 30: 60, 108: 216} {
		synctest.Test(t, func(t *testing.T) {
			s, sent := NewWrites(machines), 0
			for s.Sent("Write", false) == "" {
				sent++
			}
			if sent != want {
				t.Errorf("of a pool of %d machines: want %d writes at once, got %d", machines, want, sent)
			}
		})
	}
}
