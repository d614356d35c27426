package imports

import (
	"slices"
	"strings"
	"testing"
)

// linkedByC are the binaries that hold kustomize, with kubectl or alone. It imports Go's plugins, with which the C compiler links a binary
// and every exported method stays in it: twice the processor time. That is why cmd/muster has no test of its own.
var linkedByC = []string{"cmd/muster", "config.test"}

// TestLinking fails for a binary or a test binary that is linked by the C compiler without need.
func TestLinking(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, p := range listed(t) {
		if !p.plugins {
			continue
		}
		path, _, variant := strings.Cut(short(p.importPath), " ")
		if plain, test := strings.CutSuffix(path, ".test"); test || variant {
			path = strings.TrimSuffix(plain, "_test") + ".test"
		}
		if found[path] = true; !slices.Contains(linkedByC, path) {
			t.Errorf("%s depends on plugin, by way of kustomize: run the built muster's kubectl instead (test/binary)", path)
		}
	}
	for _, path := range linkedByC {
		if !found[path] {
			t.Errorf("%s is listed, but does not depend on plugin or is gone: remove it from the list", path)
		}
	}
}
