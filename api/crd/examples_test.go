package crd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/api/crd"
	"github.com/muster-project/muster/local/clouds/all"
	seeds "github.com/muster-project/muster/local/seed"
)

// TestExamples holds that an API server takes each of the examples, with the values that a simulated account has, and that every kind of
// pool has one.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, file := range files {
		if link := "](" + strings.TrimPrefix(filepath.ToSlash(file), "../../examples/") + ")"; !strings.Contains(string(index), link) {
			t.Errorf("examples/README.md: want the link %s", link)
		}
		sources, err := seeds.Read([]string{file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := seeds.Parse(sources, seeds.FromMap(all.Accounts(all.Names()...).Variables()))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, o := range objects {
			gvk := o.GroupVersionKind()
			kinds = append(kinds, gvk.Kind)
			for _, err := range admissionOf(t, gvk.Kind, gvk.Version).admit(o.Object, nil) {
				t.Errorf("%s: %s %s: %v", file, gvk.Kind, o.GetName(), err)
			}
		}
	}
	for kind, d := range definitions(t) {
		file := d.Spec.Group + "_" + d.Spec.Names.Plural + ".yaml"
		_, err := crd.Files.Open(file) // staged definitions are not there yet
		if err == nil && strings.HasSuffix(kind, "MachinePool") && !slices.Contains(kinds, kind) {
			t.Errorf("want an example of %s", kind)
		}
	}
}
