package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/api/crd"
	"github.com/muster-project/muster/local/clouds/all"
)

// backup is the document whose lists of kinds follow from those that exist.
const backup = "docs/backup.md"

// TestBackupListsEveryKind: who follows the page loses no object of a kind that was added later.
func TestBackupListsEveryKind(t *testing.T) {
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{}
	for _, f := range files {
		group, plural, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".yaml"), "_")
		switch {
		case strings.HasSuffix(plural, "templates"):
		case group == "muster.dev" && strings.HasSuffix(plural, "policies"):
			lists["when and whether machines are replaced"] = append(lists["when and whether machines are replaced"], plural)
		case group == "muster.dev":
			lists["what operators allow, which has no namespace"] = append(lists["what operators allow, which has no namespace"], plural)
		case strings.HasPrefix(group, "bootstrap."):
			lists["bootstrap configurations"] = append(lists["bootstrap configurations"], plural)
		case strings.HasPrefix(group, "infrastructure.") && strings.HasSuffix(plural, "pools"):
			lists["`machinepools` and their infrastructure objects"] = append(lists["`machinepools` and their infrastructure objects"], plural)
		case strings.HasPrefix(group, "infrastructure."):
			lists["`machines` and infrastructure machines"] = append(lists["`machines` and infrastructure machines"], plural)
		}
	}
	for _, k := range all.Kinds(all.Names()...) {
		if !strings.HasSuffix(k.Plural, "templates") {
			lists["the objects of the cluster's provider"] = append(lists["the objects of the cluster's provider"], k.Plural)
		}
	}
	text := read(t, backup)
	for what, plurals := range lists {
		slices.Sort(plurals)
		if want := "| " + what + ": `" + strings.Join(plurals, "`, `") + "`"; !strings.Contains(text, want) {
			t.Errorf("%s: want the row\n%s", backup, want)
		}
	}
}
