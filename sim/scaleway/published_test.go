package scaleway

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/test/specs"
)

// ofInstances is the route of another API, whose document is not held.
const ofInstances = "ListServersTypes"

// TestRoutesArePublished holds the routes against the published document: names, methods, paths, and that all answers are 200.
func TestRoutesArePublished(t *testing.T) {
	t.Parallel()
	d := specs.Scaleway()
	for _, r := range routes {
		o := d.Operation(r.Name)
		switch {
		case r.Name == ofInstances && o == nil:
		case o == nil:
			t.Errorf("%s is not published", r.Name)
		case o.Method != r.Method || o.Path != r.Pattern || !slices.Equal(o.Success, []int{http.StatusOK}):
			t.Errorf("%s %s %s: published as %s %s, %v", r.Name, r.Method, r.Pattern, o.Method, o.Path, o.Success)
		case r.Mutating == (r.Method == http.MethodGet):
			t.Errorf("%s: %s writes is %t", r.Name, r.Method, r.Mutating)
		}
	}
}

// TestParametersAreKnown holds that the simulator reads all parameters of the lists that it serves, and no other.
func TestParametersAreKnown(t *testing.T) {
	t.Parallel()
	d := specs.Scaleway()
	// The service uses neither: the first is of the resources of a deleted cluster, the second has no effect.
	want := map[string]bool{"with_additional_resources": false, "skip_drain": false}
	for _, r := range routes {
		if r.Name == ofInstances {
			continue
		}
		for name := range d.Operation(r.Name).Query {
			if _, unused := want[name]; !unused {
				want[name] = true
			}
		}
	}
	maps.DeleteFunc(want, func(_ string, used bool) bool { return !used })
	read := map[string]bool{}
	text, err := os.ReadFile("routes.go")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"(\w+)"`)
	_, paging, _ := strings.Cut(string(text), "// page returns")
	for _, m := range quoted.FindAllStringSubmatch(paging, -1) {
		if _, is := want[m[1]]; is {
			read[m[1]] = true
		}
	}
	if w, g := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(read)); !slices.Equal(w, g) {
		t.Errorf("want the parameters %q read, got %q", w, g)
	}
	if _, err := os.Stat(filepath.Join("..", "..", "go.mod")); err != nil {
		t.Errorf("the test runs in the folder of the simulator: %v", err)
	}
}
