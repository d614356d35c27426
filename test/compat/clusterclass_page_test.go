package compat

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/providers/gates"
)

// The page of ClusterClasses names every kind of templates with its version, and the switch that is there.
func TestClusterClassNamesItsTemplates(t *testing.T) {
	page, err := os.ReadFile("../../docs/clusterclass.md")
	if err != nil {
		t.Fatal(err)
	}
	text, rows := string(page), map[string]string{}
	for line := range strings.Lines(text) {
		if cells := quotedIn(line); strings.HasPrefix(line, "| `") && len(cells) == 3 && strings.HasSuffix(cells[1], "Template") {
			if cells[1] != cells[0]+"Template" {
				t.Errorf("want the template of %s, got %s", cells[0], cells[1])
			}
			rows[strings.ToLower(cells[1])] = cells[2]
		}
	}
	if len(rows) != len(kept()) {
		t.Errorf("want %d kinds of templates, got %v", len(kept()), rows)
	}
	for _, k := range kept() {
		if rows[k.Name] != k.Version.Version {
			t.Errorf("%s: want version %s, got %q", k.Name, k.Version.Version, rows[k.Name])
		}
	}
	for _, word := range []string{gates.EnvClusterTopology + "=true", "test/e2e.TestLongTopology",
		"test/compat.TestClassTemplates"} {
		if !strings.Contains(text, "`"+word+"`") {
			t.Errorf("want `%s` in the page", word)
		}
	}
}

// quoted matches a word between backticks.
var quoted = regexp.MustCompile("`([^`]+)`")

// quotedIn returns what a line has between backticks.
func quotedIn(line string) (list []string) {
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		list = append(list, m[1])
	}
	return list
}

// kept returns the webhooks that keep templates as they are.
func kept() []webhook.Hook {
	return slices.DeleteFunc(all.Hooks(), func(h webhook.Hook) bool { return h.Role != webhook.Keeps })
}
