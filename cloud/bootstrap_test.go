package cloud_test

import (
	"testing"

	"github.com/muster-project/muster/cloud"
)

// TestContent: what tells bootstrap configurations apart tells templates apart, and nothing changes where they are not told apart.
func TestContent(t *testing.T) {
	t.Parallel()
	const hash, other = "v1:0123456789abcdef", "v1:fedcba9876543210"
	none := cloud.NewBootstrap([]byte("x"), "cloud-config")
	content := func(hash, mark string) string { return none.Marked(mark).Content(hash) }
	for _, c := range []struct {
		reason  string
		a, b    string
		same    bool
		because bool
	}{
		{"the first configuration leaves contents as they were", none.Content(hash), hash, true, false},
		{"no mark is none", content(hash, ""), hash, true, false},
		{"another configuration makes another template", content(hash, "a"), hash, false, true},
		{"and each another", content(hash, "a"), content(hash, "b"), false, true},
		{"one makes the same for ever", content(hash, "a"), content(hash, "a"), true, false},
		{"another template is more than another configuration", content(hash, "a"), content(other, "b"), false, false},
		{"with the same configuration too", content(hash, "a"), content(other, "a"), false, false},
		{"data has no part in it", cloud.NewBootstrap([]byte("y"), "ignition").Marked("a").Content(hash), content(hash, "a"), true, false},
		{"no data either", cloud.Bootstrap{}.Marked("a").Content(hash), content(hash, "a"), true, false},
		{"what is not known stays so", content("", "a"), "", true, false},
		{"what is no hash of Muster's is left as it is", content("seen:1", "a"), "seen:1", true, false},
	} {
		if (c.a == c.b) != c.same || len(c.a) != len(c.b) {
			t.Errorf("%s: want same=%t, got %s and %s", c.reason, c.same, c.a, c.b)
		}
		if got := cloud.OtherBootstrap(c.a, c.b); got != c.because {
			t.Errorf("%s: want %t said of a change of the configuration alone, got %t for %s and %s", c.reason, c.because, got, c.a, c.b)
		}
	}
}
