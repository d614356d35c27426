package sweep

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// joined is values in one line.
func joined(values ...any) string { return strings.TrimSpace(fmt.Sprintln(values...)) }

// Many keys are read in as few calls as they need, and without those that other pools will ask for next.
func TestSeveral(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(3), a.keys(8)
		together(s, keys, 10*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		a.calls = nil
		answers, err := s.Several(t.Context(), nil)
		same(t, "none", "0 <nil> 0", joined(len(answers), err, len(a.calls)))
		answers, err = s.Several(t.Context(), []string{keys[0], keys[1], keys[2], "none"})
		same(t, "answers", "4 <nil> true false", joined(len(answers), err, answers[keys[2]].Found, answers["none"].Found))
		same(t, "calls", []int{3, 1}, a.sizes())
		same(t, "the pool will ask again", false, s.entries["none"].requested.IsZero())
		a.fails = func(call []string) (int, error) { return 1, errors.New("page") }
		answers, err = s.Several(t.Context(), keys[:2])
		same(t, "what a call has not read is unknown", "0 page", joined(len(answers), err))
	})
}

// A key that several passes wait for is read once.
func TestSameKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(10), a.keys(2)
		together(s, keys, 0)
		a.calls = nil
		together(s, []string{keys[0], keys[1], keys[0]}, 0)
		same(t, "keys of each call", []int{2}, a.sizes())
	})
}

// What a listing names beside the keys of pools is read for none of them.
func TestFillLeavesOutWhatIsListedAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.listing(1, 5), a.keys(9)
		together(s, keys[:3], 10*time.Second)
		time.Sleep(time.Second)
		together(s, keys[:3], 0)
		time.Sleep(time.Minute)
		synctest.Wait()
		a.calls = nil
		_, err := s.Get(t.Context(), keys[0], 10*time.Second)
		same(t, "keys of each call", "[3] <nil>", joined(a.sizes(), err))
	})
}

func TestWeight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry *entry[int]
		want  int
	}{
		"unknown":          {nil, 1},
		"gone":             {&entry[int]{answer: Answer[int]{Value: 7}}, 1},
		"heavy":            {&entry[int]{answer: Answer[int]{Value: 7, Found: true}}, 7},
		"one at the least": {&entry[int]{answer: Answer[int]{Found: true}}, 1},
	} {
		s := New(Options[int]{Weight: func(v int) int { return v }})
		s.entries["key"] = c.entry
		same(t, name, c.want, s.weight("key"))
	}
}
