package infrapool

import "testing"

// TestIsLower holds which versions nodes of a cloud that refuses lower ones can't go back to.
func TestIsLower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, than string
		want          bool
	}{
		{"v1.34.1", "v1.35.0", true}, {"1.34", "v1.35.0", true}, {"v1.35.0", "v1.35.2", true}, {"v1.35.0", "v1.35.0", false},
		{"v1.36.0", "v1.35.0", false}, {"", "v1.35.0", false}, {"v1.35.0", "", false}, {"latest", "v1.35.0", false},
	} {
		if got := isLower(c.version, c.than); got != c.want {
			t.Errorf("%q than %q: want %v, got %v", c.version, c.than, c.want, got)
		}
	}
}
