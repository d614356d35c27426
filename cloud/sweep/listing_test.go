package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
)

func TestListing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		err    error
		after  int
		want   []int
		failed int
	}{
		{reason: "the first requests of many are answered by a listing, and what it leaves out is asked for", want: []int{1, 0, 1}},
		{reason: "what a failed page would have named is unknown", err: errors.New("page"), after: 4, want: []int{1, 0}, failed: 8},
		{reason: "without the permission to list, all are asked for", err: &cloud.Error{Kind: cloud.Denied},
			want: []int{1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAccount()
				s := New(Options[int]{Some: a.read, All: func(ctx context.Context, found func(string, int)) (int, error) {
					return 2, a.read(ctx, nil, found)
				}})
				a.fails = func(keys []string) (int, error) {
					if len(keys) > 1 {
						return c.after, c.err
					}
					return 0, nil
				}
				keys := append(a.keys(11), "none")
				_, err := s.Get(t.Context(), keys[0], 0)
				same(t, "the first", "<nil>", fmt.Sprint(err))
				failed := slices.DeleteFunc(together(s, keys[1:], 0), func(err error) bool { return err == nil })
				same(t, "calls", c.want, a.sizes())
				same(t, "unknown", c.failed, len(failed))
			})
		})
	}
}

// A pass that comes while the objects are listed waits for the listing. What this leaves out is read with the others that it left out.
func TestListingUnderWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		// during is what happens to the key while the listing is under way, before the pass asks for it.
		during func(a *account, s *Sweep[int], key string)
		maxAge time.Duration
		want   []int
		answer string
	}{
		{reason: "it is answered by the listing", maxAge: 20 * time.Second, want: []int{0}, answer: "1 true"},
		{reason: "an older answer is not accepted", maxAge: time.Second, want: []int{0, 0}, answer: "1 true"},
		{reason: "a new answer is wanted", want: []int{0, 1}, answer: "1 true"},
		{
			reason: "a write came meanwhile", maxAge: 20 * time.Second, want: []int{0, 0}, answer: "2 true",
			during: func(a *account, s *Sweep[int], key string) { a.set(key, 2); s.Touch(key) },
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAccount()
				s := New(Options[int]{Some: a.read, All: func(ctx context.Context, found func(string, int)) (int, error) {
					return 1,
						a.read(ctx, nil, found)
				}})
				keys := a.keys(4)
				together(s, keys, 20*time.Second)
				time.Sleep(time.Minute)
				a.calls, a.takes = nil, 4*time.Second
				var passes sync.WaitGroup
				passes.Go(func() { together(s, keys[:1], 20*time.Second) })
				time.Sleep(2 * time.Second)
				if c.during != nil {
					c.during(a, s, keys[3])
				}
				answer, err := s.Get(t.Context(), keys[3], c.maxAge)
				passes.Wait()
				same(t, "calls", c.want, a.sizes())
				same(t, "answer", c.answer+" <nil>", fmt.Sprint(answer.Value, answer.Found, err))
			})
		})
	}
}

// What a listing leaves out is read by its key, also for a pass that came while the listing was under way; if the listing fails, it is
// unknown.
func TestListingUnderWayLeavesOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		err    error
		want   []int
		answer string
	}{
		{reason: "it is filtered", want: []int{0, 1}, answer: "true <nil>"},
		{reason: "it is denied", err: &cloud.Error{Kind: cloud.Denied}, want: []int{0, 1, 1}, answer: "true <nil>"},
		{reason: "it fails", err: errors.New("page"), want: []int{0}, answer: "false page"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, left, refused := newAccount(), "", error(nil)
				s := New(Options[int]{Some: a.read, All: func(ctx context.Context, found func(string, int)) (int, error) {
					err := a.read(ctx, nil, func(key string, value int) {
						if refused == nil && key != left {
							found(key, value)
						}
					})
					return 1, cmp.Or(refused, err)
				}})
				keys := a.keys(4)
				together(s, keys, 20*time.Second)
				time.Sleep(time.Minute)
				a.calls, a.takes, left, refused = nil, 4*time.Second, keys[3], c.err
				var passes sync.WaitGroup
				passes.Go(func() { together(s, keys[:1], 20*time.Second) })
				time.Sleep(2 * time.Second)
				answer, err := s.Get(t.Context(), keys[3], 20*time.Second)
				passes.Wait()
				same(t, "calls", c.want, a.sizes())
				same(t, "answer", c.answer, fmt.Sprint(answer.Found, " ", err))
			})
		})
	}
}

// A listing that fails is not tried again at once, and one that leaves out objects that exist does not count for these: the calls for each
// key are made without it.
func TestListingThatDoesNotServe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		// leaves is true if the listing names nothing, err is what it fails with.
		leaves bool
		err    error
		// listings are how many were made after each step, failed is how many keys were unknown in the first.
		listings []int
		failed   int
	}{
		{reason: "a failed one is tried again after a minute, then after two", err: errors.New("page"), listings: []int{1, 1, 2, 2, 3},
			failed: 4},
		{reason: "a throttled one is tried again", err: &cloud.Error{Kind: cloud.Throttled}, listings: []int{1, 2, 3, 4, 5}, failed: 4},
		{reason: "one that leaves out what exists is tried again after a minute", leaves: true, listings: []int{1, 1, 2, 3, 4}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, listings := newAccount(), 0
				s := New(Options[int]{Some: a.read, All: func(ctx context.Context, found func(string, int)) (int, error) {
					if listings++; c.leaves || c.err != nil {
						return 1, c.err
					}
					return 1, a.read(ctx, nil, found)
				}})
				keys := a.keys(4)
				_, err := s.Get(t.Context(), "another", 0)
				same(t, "the first", "<nil>", fmt.Sprint(err))
				for k, want := range c.listings {
					failed := slices.DeleteFunc(together(s, keys, 0), func(err error) bool { return err == nil })
					same(t, fmt.Sprintf("listings %d", k), want, listings)
					if k < 2 {
						same(t, "unknown", c.failed*(want-k), len(failed))
					}
					time.Sleep([]time.Duration{time.Second, time.Minute, time.Minute, time.Minute, 0}[k])
				}
			})
		})
	}
}

// What a listing left out is not listed for again, whether it exists or not, also if its own call was held back: of a fleet whose groups do
// not exist yet each round would list those that do, for nothing. A write may have created the object.
func TestListingForWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, listings := newAccount(), 0
		s := New(Options[int]{Some: a.read, All: func(context.Context, func(string, int)) (int, error) {
			listings++
			return 1, nil
		}})
		_, err := s.Get(t.Context(), "another", 0)
		same(t, "the first", "<nil>", fmt.Sprint(err))
		a.fails = func([]string) (int, error) {
			return 0, &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: time.Second}
		}
		none := []string{"a", "b", "c", "d"}
		for k, want := range []int{1, 1, 1, 2} {
			if k == 2 {
				a.fails = nil
			}
			if k == 3 {
				for _, key := range none {
					s.Touch(key)
				}
			}
			together(s, none, 0)
			same(t, fmt.Sprintf("listings %d", k), want, listings)
			time.Sleep(3 * time.Second)
		}
	})
}

// A listing that was under way when a group was created does not know it: the group is listed for again.
func TestWriteBesideAListing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason  string
		created bool
		want    int
	}{
		{"what the listing left out exists since", true, 2},
		{"what the listing left out does not exist", false, 1},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, listings := newAccount(), 0
				keys := []string{"a", "b", "c", "d"}
				s := New(Options[int]{Some: a.read, All: func(context.Context, func(string, int)) (int, error) {
					listings++
					time.Sleep(2 * time.Second)
					return 1, nil
				}})
				if c.created {
					time.AfterFunc(time.Second, func() {
						for _, key := range keys {
							s.Touch(key)
						}
					})
				}
				together(s, keys, 0)
				time.Sleep(3 * time.Second)
				together(s, keys, 0)
				same(t, "listings", c.want, listings)
			})
		})
	}
}
