package core_test

import (
	"testing"

	"github.com/muster-project/muster/sim/core"
)

func TestContents(t *testing.T) {
	t.Parallel()
	c := core.NewContents[[]int]("content/")
	one, two := c.Keep("one", []int{1}), c.Keep("two", []int{2})
	if again := c.Keep("one", []int{3}); again != one || c.Kept(one)[0] != 1 || c.Len() != 2 {
		t.Errorf("want a text to be kept once, got %q and %q with %v", one, again, c.Kept(one))
	}
	if key := c.Keep("", nil); key != "" || c.Kept("") != nil {
		t.Errorf("want nothing kept of an empty text, got %q with %v", key, c.Kept(""))
	}
	c.Sweep(map[string]bool{two: true})
	if c.Kept(one) != nil || c.Kept(two)[0] != 2 {
		t.Errorf("want only what is in use to stay, got %v and %v", c.Kept(one), c.Kept(two))
	}
}
