package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestPools holds that a pool's memory is one, and that those are forgotten first that no client has asked for.
func TestPools(t *testing.T) {
	t.Parallel()
	var pools Pools[int]
	*pools.Of("a", start) = 1
	*pools.Of("b", start.Add(time.Second)) = 2
	if got := *pools.Of("a", start.Add(time.Minute)); got != 1 {
		t.Errorf("want what was kept, got %d", got)
	}
	for i := range maxPools - 1 {
		pools.Of(fmt.Sprint(i), start.Add(time.Hour))
	}
	if len(pools.by) != maxPools {
		t.Errorf("want %d memories, got %d", maxPools, len(pools.by))
	}
	if _, ok := pools.by["b"]; ok {
		t.Error("want the one forgotten that was not used for longest")
	}
	if got := *pools.Of("a", start.Add(time.Hour)); got != 1 {
		t.Errorf("want the one kept that was used since, got %d", got)
	}
}

// TestOnce holds who asks, and what an object remembers.
func TestOnce(t *testing.T) {
	t.Parallel()
	var shared Lookups
	calls := 0
	question := Question{Kind: "image", Inputs: []string{"ubuntu"}, Good: NotEmpty, Ask: func(context.Context) (string, error) {
		calls++
		return fmt.Sprintf("image-%d", calls), nil
	}}
	remembered := map[string]string{}
	for _, c := range []struct {
		reason, place string
		after         time.Duration
		forget, spoil bool
		want          string
	}{
		{reason: "the first asks", place: "r", want: "image-1"},
		{reason: "the object remembers, however long ago it was", place: "r", after: 100 * time.Hour, want: "image-1"},
		{reason: "another object asks the same shortly after", place: "r", forget: true, after: time.Minute, want: "image-1"},
		{reason: "and one asks for itself later", place: "r", forget: true, after: time.Hour, want: "image-2"},
		{reason: "another place has its own answer", place: "s", forget: true, after: time.Hour, want: "image-3"},
		{reason: "what a user has spoiled is asked again", place: "s", spoil: true, after: 3 * time.Hour, want: "image-4"},
	} {
		if c.forget {
			remembered = map[string]string{}
		}
		for key := range remembered {
			if c.spoil {
				remembered[key] = ""
			}
		}
		r := &Resolver{Place: c.place, Shared: &shared, Now: start.Add(c.after), Remembered: remembered, Remember: map[string]string{}}
		got, err := r.Resolve(t.Context(), question)
		if err != nil || got != c.want {
			t.Errorf("%s: want %s, got %s, %v", c.reason, c.want, got, err)
		}
		remembered = r.Remember
	}
	refused := errors.New("refused")
	r := &Resolver{Place: "r", Shared: &shared, Now: start, Remembered: map[string]string{"image-x": "kept"}, Remember: map[string]string{}}
	if _, err := r.Resolve(t.Context(), Question{Kind: "other", Good: NotEmpty,
		Ask: func(context.Context) (string, error) { return "", refused }}); !errors.Is(err, refused) {
		t.Errorf("want the refusal, got %v", err)
	}
	r.Keep()
	if diff := cmp.Diff(map[string]string{"image-x": "kept"}, r.Remember); diff != "" {
		t.Errorf("want nothing forgotten for it (-want +got):\n%s", diff)
	}
}

// TestKeyOfLookups holds the names of what objects remember: another name would have every pool look everything up again.
// TestTogether holds that equal look-ups that are made at the same time are one, and that one that fails fails for its own pool alone.
func TestTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason      string
		fails       int32
		calls, lost int32
	}{
		{reason: "one asks for all", calls: 1},
		{reason: "the failure of one is not that of the others", fails: 1, calls: 50, lost: 1},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var shared Lookups
				var calls, lost atomic.Int32
				q := Question{Kind: "image", Inputs: "ubuntu", Good: NotEmpty, Ask: func(context.Context) (string, error) {
					n := calls.Add(1)
					time.Sleep(time.Second)
					if n <= c.fails {
						return "", errors.New("refused")
					}
					return "image", nil
				}}
				var pools sync.WaitGroup
				for range 50 {
					pools.Go(func() {
						r := &Resolver{Place: "r", Shared: &shared, Now: time.Now(), Remember: map[string]string{}}
						if answer, err := r.Resolve(t.Context(), q); err != nil || answer != "image" {
							lost.Add(1)
						}
					})
				}
				pools.Wait()
				if calls.Load() != c.calls || lost.Load() != c.lost {
					t.Errorf("want %d asked and %d lost, got %d and %d", c.calls, c.lost, calls.Load(), lost.Load())
				}
			})
		})
	}
}

func TestKeyOfLookups(t *testing.T) {
	t.Parallel()
	r := &Resolver{Place: "eu-west-1", Shared: &Lookups{}, Now: start, Remember: map[string]string{}}
	_, err := r.Resolve(t.Context(), Question{Kind: "image", Inputs: map[string]string{"name": "capa-ami-ubuntu"}, Good: NotEmpty,
		Ask: func(context.Context) (string, error) { return "ami-0", nil }})
	if diff := cmp.Diff(map[string]string{"image-c10394e8e8bd": "ami-0"}, r.Remember); diff != "" || err != nil {
		t.Errorf("the key of a look-up (-want +got), %v:\n%s", err, diff)
	}
}

// TestRequestedSize holds when a size that is shown is no ground to take instances away.
func TestRequestedSize(t *testing.T) {
	t.Parallel()
	const within = 10 * time.Second
	var none RequestedSize
	if err := none.Check("group g", 3, start, within); err != nil {
		t.Error("want nothing unseen where nothing was asked for")
	}
	for _, c := range []struct {
		reason string
		err    error
		shown  int
		after  time.Duration
		want   bool
	}{
		{"another size right after", nil, 3, time.Second, true},
		{"the size", nil, 4, time.Second, false},
		{"another size long after was a user's", nil, 3, within, false},
		{"what may have been heard", &cloud.Error{Kind: cloud.Unavailable}, 3, time.Second, true},
		{"what was surely not heard", &cloud.Error{Kind: cloud.Denied}, 3, time.Second, false},
	} {
		var a RequestedSize
		a.Note(4, start, c.err)
		if got := a.Check("group g", c.shown, start.Add(c.after), within) != nil; got != c.want {
			t.Errorf("%s: want unseen %v, got %v", c.reason, c.want, got)
		}
	}
	a := RequestedSize{size: 4, at: start}
	err := a.Check("group g", 3, start, within)
	if cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "SizeNotShown" || !strings.Contains(err.Error(),
		"group g shows a size of 3 and was asked for 4 a moment ago: nothing is taken away before it is known which of the two holds") {
		t.Errorf("want a conflict that tells both sizes, got %v", err)
	}
}
