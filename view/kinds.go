package view

import (
	"bytes"
	"io/fs"
	"regexp"
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
	for _, r := range Resources() {
		names[r.Kind] = r.ShortNames
	}
	return names
})

// Resource is a kind of Muster's or Cluster API's, as its embedded definition declares it.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	ShortNames []string
}

// storageVersion matches the version of a definition that objects are stored in. The fields of a version are indented by four blanks, and
// the version's name comes before its schema.
var storageVersion = regexp.MustCompile(`(?s)\n    name: (\w+)\n.*?\n    storage: (true|false)`)

// Resources returns all kinds, ordered by group and plural. The version of a kind is its storage version.
var Resources = sync.OnceValue(func() []Resource {
	var list []Resource
	files, _ := fs.Glob(crd.Files, "*.yaml") // the pattern is valid, which is the only error
	for _, file := range files {
		text, _ := crd.Files.ReadFile(file) // embedded, and listed just now
		head, versions, _ := bytes.Cut(text, []byte("\n  versions:"))
		var d struct {
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Kind       string   `json:"kind"`
					Plural     string   `json:"plural"`
					ShortNames []string `json:"shortNames"`
				} `json:"names"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(head, &d); err != nil { // api/crd holds by a test that every definition can be read
			continue
		}
		r := Resource{Kind: d.Spec.Names.Kind, ShortNames: d.Spec.Names.ShortNames}
		r.Group, r.Resource = d.Spec.Group, d.Spec.Names.Plural
		for _, version := range storageVersion.FindAllSubmatch(versions, -1) {
			if string(version[2]) == "true" {
				r.Version = string(version[1])
			}
		}
		list = append(list, r)
	}
	return list
})
