package view

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/crd"
)

// SameKind reports whether a kind that the user typed is gk: its name in any case, the plural, or a short name, with or without the group
// or the version and the group, as kubectl takes it.
func SameKind(typed string, gk schema.GroupKind) bool {
	typed, group, _ := strings.Cut(strings.ToLower(typed), ".")
	if group != "" && group != gk.Group {
		if _, group, _ = strings.Cut(group, "."); group != gk.Group {
			return false
		}
	}
	lower := strings.ToLower(gk.Kind)
	return typed == lower || typed == lower+"s" || slices.Contains(shortNames()[gk.Kind], typed)
}

// KnownKind reports whether a kind that was typed is one of Muster's or Cluster API's.
func KnownKind(typed string) bool {
	_, group, _ := strings.Cut(strings.ToLower(typed), ".")
	for kind := range shortNames() {
		if SameKind(typed, schema.GroupKind{Group: group, Kind: kind}) {
			return true
		}
	}
	return false
}

// shortNames returns the short names of each kind, as the embedded definitions declare them.
var shortNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	files, _ := fs.Glob(crd.Files, "*.yaml") // the pattern is valid, which is the only error
	for _, file := range files {
		text, _ := crd.Files.ReadFile(file) // embedded, and listed just now
		head, _, _ := bytes.Cut(text, []byte("\n  versions:"))
		var d struct {
			Spec struct {
				Names struct {
					Kind       string   `json:"kind"`
					ShortNames []string `json:"shortNames"`
				} `json:"names"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(head, &d); err == nil { // api/crd holds by a test that every definition can be read
			names[d.Spec.Names.Kind] = d.Spec.Names.ShortNames
		}
	}
	return names
})
