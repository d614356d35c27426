package bootstrap

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// wish is the bootstrap data of a pool at one time: its secret, and its content where that counts.
type wish struct{ secret, content string }

func TestFollow(t *testing.T) {
	t.Parallel()
	a, b := wish{secret: "a"}, wish{secret: "b"}
	a1, a2, b1 := wish{"a", "1"}, wish{"a", "2"}, wish{"b", "1"}
	for name, tc := range map[string]struct {
		reason string
		wishes []wish
		// marks are numbers of marks in the order in which they are first seen; 0 is none.
		marks []int
	}{
		"one":            {"nothing is replaced for a configuration that was always there", []wish{a, a, a}, []int{0, 0, 0}},
		"another name":   {"another configuration replaces machines, and each its own", []wish{a, b, {secret: "c"}}, []int{0, 1, 2}},
		"and back":       {"those that are left of the first are as they should be again", []wish{a, b, a, b}, []int{0, 1, 0, 1}},
		"none, then one": {"that there is any bootstrap data is a change too", []wish{{}, a, {}}, []int{0, 1, 0}},
		"switched on":    {"the annotation alone replaces nothing", []wish{a, a1, a1}, []int{0, 0, 0}},
		"content": {"a change replaces machines, and its end gives back those that are left", []wish{a1, a2, a1, a2},
			[]int{0, 1, 0, 1}},
		"switched off": {"what machines have is what they should have", []wish{a1, a2, a}, []int{0, 1, 1}},
		"off and on": {"what changed meanwhile replaced nothing, and does not when it counts again", []wish{a, a1, a, a2},
			[]int{0, 0, 0, 0}},
		"changed, off, on":    {"the same after a change", []wish{a1, a2, a, a1, a2}, []int{0, 1, 1, 1, 2}},
		"other name, content": {"another name replaces machines once, whatever the content is", []wish{a1, b1, b1}, []int{0, 1, 1}},
		"back with content":   {"and back", []wish{a1, b1, a1, a2, a1}, []int{0, 1, 0, 2, 0}},
		"on while away": {"the content of a configuration that was left counts from when it is taken up again", []wish{a, b, b1, a2},
			[]int{0, 1, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, got := []string{""}, []int{}
			var list []configuration
			for _, w := range tc.wishes {
				list = parseConfigurations(formatConfigurations(follow(list, w.secret, w.content)))
				mark := list[len(list)-1].mark
				if !slices.Contains(seen, mark) {
					seen = append(seen, mark)
				}
				got = append(got, slices.Index(seen, mark))
			}
			if !slices.Equal(got, tc.marks) {
				t.Errorf("%s: want marks %v, got %v from %v", tc.reason, tc.marks, got, list)
			}
		})
	}
}

// TestFollowIsStable: whatever the pool had, a configuration that is asked for twice has one mark, what is remembered is bounded,
// and neither the annotation nor its absence changes a mark.
func TestFollowIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []configuration
		mark := func(secret, content string) string {
			list = parseConfigurations(formatConfigurations(follow(list, secret, content)))
			return list[len(list)-1].mark
		}
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			secret := fmt.Sprintf("s-%d", rapid.IntRange(0, 12).Draw(t, "secret"))
			content := rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "content")
			is := mark(secret, content)
			again := rapid.SampledFrom([]string{content, ""}).Draw(t, "again")
			if got := mark(secret, again); got != is {
				t.Fatalf("want %s with content %q to keep the mark %q with %q, got %q", secret, content, is, again, got)
			}
			if len(list) > maxConfigurations {
				t.Fatalf("want %d remembered at most, got %d", maxConfigurations, len(list))
			}
		}
	})
}

func TestParseConfigurations(t *testing.T) {
	t.Parallel()
	if list := parseConfigurations("not a list,a=b,a=-=-=x"); len(list) != 0 {
		t.Errorf("want nothing of an invalid text, got %v", list)
	}
}
