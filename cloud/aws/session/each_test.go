package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/muster-project/muster/cloud"
)

// Calls about single instances go at the same time, after a first one that meets what refuses all.
func TestEach(t *testing.T) {
	denied := &cloud.Error{Kind: cloud.Denied, Code: "AccessDenied"}
	contention := &cloud.Error{Kind: cloud.Conflict, Code: codeContention}
	for _, c := range []struct {
		why    string
		atOnce int
		// fails are the errors of the calls about an ID, one after the other.
		fails  map[string][]error
		called []string
		ended  []string
		err    error
	}{
		{"all succeed", 2, nil, []string{"a", "b", "c", "d"}, []string{"a", "b", "c", "d"}, nil},
		{"one at a time unless told otherwise", 0, nil, []string{"a", "b", "c", "d"}, []string{"a", "b", "c", "d"}, nil},
		{"what refuses the first refuses all", 3, map[string][]error{"a": {denied}}, []string{"a"}, []string{"a"}, denied},
		{
			"what went together is noted together, and nothing goes after it", 2, map[string][]error{"b": {denied}},
			[]string{"a", "b", "c"}, []string{"a", "b", "c"}, denied,
		},
		{
			"calls that stand in each other's way go one after the other", 3, map[string][]error{"c": {contention}, "d": {contention}},
			[]string{"a", "b", "c", "c", "d", "d"}, []string{"a", "b", "c", "d"}, nil,
		},
		{"one that is refused alone is not sent again", 3, map[string][]error{"a": {contention}}, []string{"a"}, []string{"a"}, contention},
	} {
		var mu sync.Mutex
		var called, ended []string
		s := &Session{atOnce: c.atOnce}
		err := s.Each([]string{"a", "b", "c", "d"}, func(id string) error {
			mu.Lock()
			defer mu.Unlock()
			called = append(called, id)
			if len(c.fails[id]) == 0 {
				return nil
			}
			err := c.fails[id][0]
			c.fails[id] = c.fails[id][1:]
			return err
		}, func(id string, err error) error {
			ended = append(ended, id)
			return err
		})
		slices.Sort(called)
		if fmt.Sprint(called, ended) != fmt.Sprint(c.called, c.ended) || !errors.Is(err, c.err) {
			t.Errorf("%s: want %v called, %v ended and %v, got %v, %v and %v", c.why, c.called, c.ended, c.err, called, ended, err)
		}
	}
	if err := (&Session{}).Each(nil, nil, nil); err != nil {
		t.Errorf("want nothing done for none, got %v", err)
	}
}
