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
				_, err = s.Get(t.Context(), keys[1], time.Minute)
				same(t, "calls for what is known", "<nil> "+fmt.Sprint(c.want), fmt.Sprint(err, " ", a.sizes()))
			})
		})
	}
}

// A pass that comes while the objects are listed waits for the listing. What this leaves out is read with the others that it left out.
func TestListingUnderWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		// during runs while the listing is under way, before the pass requests the key.
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
				synctest.Wait()
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
				passes.Go(func() { together(s, keys[3:], 20*time.Second) })
				answer, err := s.Get(t.Context(), keys[3], 20*time.Second)
				passes.Wait()
				same(t, "calls", c.want, a.sizes())
				same(t, "answer", c.answer, fmt.Sprint(answer.Found, " ", err))
				answer, err = s.Get(t.Context(), keys[3], 20*time.Second)
				same(t, "when it has ended", "true <nil>", fmt.Sprint(answer.Found, " ", err))
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
		// leaves is true if the listing names nothing, err is its error.
		leaves bool
		err    error
		// listings counts the listings after each step, failed the unknown keys of the first one.
		listings []int
		failed   int
		// works is the step from which it works again, 0 if it never does; failures are those in a row at last.
		works, failures int
	}{
		{reason: "a failed one is tried again after a minute, then after two", err: errors.New("page"), listings: []int{1, 1, 2, 2, 3},
			failed: 4, failures: 3},
		{reason: "one that works again is used", err: errors.New("page"), listings: []int{1, 1, 2, 3, 4}, failed: 4, works: 2},
		{reason: "a denied one is tried again after ten minutes", err: &cloud.Error{Kind: cloud.Denied}, listings: []int{1, 1, 1, 1, 2}},
		{reason: "a throttled one is tried again", err: &cloud.Error{Kind: cloud.Throttled}, listings: []int{1, 2, 3, 4, 5}, failed: 4},
		{reason: "one that leaves out what exists is tried again after a minute", leaves: true, listings: []int{1, 1, 2, 3, 4}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, listings, works := newAccount(), 0, false
				s := New(Options[int]{Some: a.read, All: func(ctx context.Context, found func(string, int)) (int, error) {
					if listings++; !works && (c.leaves || c.err != nil) {
						return 1, c.err
					}
					return 1, a.read(ctx, nil, found)
				}})
				keys := a.keys(4)
				_, err := s.Get(t.Context(), "another", 0)
				same(t, "the first", "<nil>", fmt.Sprint(err))
				for k, want := range c.listings {
					works = c.works > 0 && k >= c.works
					failed := slices.DeleteFunc(together(s, keys, 0), func(err error) bool { return err == nil })
					same(t, fmt.Sprintf("listings %d", k), want, listings)
					if k < 2 {
						same(t, "unknown", c.failed*(want-k), len(failed))
					}
					time.Sleep([]time.Duration{time.Second, time.Minute, time.Minute, listAgain, 0}[k])
				}
				same(t, "failures in a row", c.failures, s.failures)
			})
		})
	}
}

// What a listing left out is not listed for again, whether it exists or not, also if its own call was held back: of a fleet whose groups do
// not exist yet each round would list those that do, for nothing. A write may have created the object.
func TestListingForWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	for _, maxAge := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) { listingForWhatDoesNotExist(t, maxAge) })
	}
}

func listingForWhatDoesNotExist(t *testing.T, maxAge time.Duration) {
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
		together(s, none, maxAge)
		same(t, fmt.Sprintf("listings %d", k), want, listings)
		time.Sleep(3 * time.Second)
	}
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

// listing is a sweep whose account lists its objects in so many pages.
func (a *account) listing(pages, chunk int) *Sweep[int] {
	return New(Options[int]{Some: a.read, Chunk: chunk, All: func(ctx context.Context, found func(string, int)) (int, error) {
		return pages, a.read(ctx, nil, found)
	}})
}

// Objects are listed where that costs fewer calls than to read them, and for the first requests of many, at most every ten minutes.
func TestListingPays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason       string
		pages, chunk int
		// known and first count the requested keys: those that have been read before, and the others.
		known, first int
		after        time.Duration
		lists        bool
	}{
		{reason: "one object", pages: 1, chunk: 1, known: 1},
		{reason: "two objects in one page", pages: 1, chunk: 1, known: 2, lists: true},
		{reason: "as many objects as pages", pages: 3, chunk: 1, known: 3},
		{reason: "more objects than pages", pages: 3, chunk: 1, known: 4, lists: true},
		{reason: "objects that one call reads", pages: 1, chunk: 3, known: 3},
		{reason: "objects that two calls read", pages: 1, chunk: 3, known: 4, lists: true},
		{reason: "a listing that tells no pages has one", pages: 0, chunk: 1, known: 1},
		{reason: "first requests a moment after a listing", pages: 3, chunk: 1, first: 2},
		{reason: "first requests later", pages: 3, chunk: 1, first: 2, after: listAgain, lists: true},
		{reason: "a single first request", pages: 3, chunk: 1, first: 1, after: listAgain},
		{reason: "a first request beside another", pages: 3, chunk: 1, first: 1, known: 1, after: listAgain},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAccount()
				s, keys := a.listing(c.pages, c.chunk), a.keys(5)
				_, _ = s.Get(t.Context(), "another", 0)
				together(s, keys, 0)
				for range c.after / time.Minute {
					time.Sleep(time.Minute)
					_, _ = s.Get(t.Context(), keys[0], 0)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				a.calls = nil
				_, err := s.Several(t.Context(), append(keys[:c.known:c.known], []string{"new-0", "new-1"}[:c.first]...))
				same(t, "lists", fmt.Sprint(c.lists, " <nil>"), fmt.Sprint(slices.Contains(a.sizes(), 0), " ", err))
			})
		})
	}
}

// An eager sweep lists at once, but for a request that wants its key alone. Another one reads its first keys without a listing.
func TestEager(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.listing(1, 1), a.keys(2)
		s.o.Eager = true
		for _, maxAge := range []time.Duration{0, 0, cloud.NoSharedCache} {
			_, _ = s.Get(t.Context(), keys[0], maxAge)
		}
		same(t, "calls", []int{0, 0, 1}, a.sizes())
		a.calls = nil
		_, err := a.listing(1, 1).Several(t.Context(), keys)
		same(t, "the first calls of another", "[1 1] <nil>", fmt.Sprint(a.sizes(), " ", err))
	})
}

// A listing that fails again and again is tried ever more rarely, at least every ten minutes. One that no pass waits for has not failed.
func TestRetriesOfAListing(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 4: 8 * time.Minute, 5: listAgain, 100: listAgain} {
		s := New(Options[int]{})
		s.failures = failures
		same(t, fmt.Sprintf("after %d failures", failures), want, s.retry())
	}
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.listing(1, 1), a.keys(2)
		s.o.Eager, a.takes = true, time.Hour
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.Get(short, keys[0], 0)
		synctest.Wait()
		same(t, "given up", "true 0", fmt.Sprint(errors.Is(err, context.DeadlineExceeded), " ", s.failures))
	})
}
