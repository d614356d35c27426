package imports

import (
	"slices"
	"testing"
)

// expensive lists dependencies that take long to link, and the binaries that may have them, including those of tests.
var expensive = []struct {
	dependency, instead string
	binaries            []string
}{
	// The C compiler links a binary with Go's plugins, and every exported method stays in it: twice the processor time. That is why cmd/muster
	// has no test.
	{"plugin", "by way of kustomize: run the built muster's kubectl instead (test/binary)", []string{"cmd/muster", "config.test"}},
	// Six seconds of processor time, with what it imports.
	{"k8s.io/kubernetes/cmd/kube-apiserver/app", "start it as a process instead (test/alone)",
		[]string{"cmd/muster", "local/standintest.test", "test/alone/apiserver", "test/scale"}},
}

// TestLinking fails for a binary or a test binary that is linked with something expensive without need.
func TestLinking(t *testing.T) {
	t.Parallel()
	packages := listed(t)
	for _, e := range expensive {
		var found []string
		for _, p := range packages {
			if !slices.Contains(p.linked, e.dependency) {
				continue
			}
			path := short(p.importPath)
			if found = append(found, path); !slices.Contains(e.binaries, path) {
				t.Errorf("%s depends on %s: %s", path, e.dependency, e.instead)
			}
		}
		for _, path := range e.binaries {
			if !slices.Contains(found, path) {
				t.Errorf("%s is listed, but does not depend on %s or is gone: remove it from the list", path, e.dependency)
			}
		}
	}
}
