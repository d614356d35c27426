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
		s := NewWrites()
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
