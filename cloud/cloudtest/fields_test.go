package cloudtest

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud/fields"
)

// reports records what a check reports.
type reports struct {
	*testing.T
	texts []string
}

func (r *reports) Errorf(format string, args ...any) {
	for _, arg := range args {
		format = strings.Replace(format, "%s", arg.(string), 1)
	}
	r.texts = append(r.texts, format)
}

// nodes is a specification with fields of each shape.
type nodes struct {
	Size   string            `json:"size"`
	Disk   *nodeDisk         `json:"disk,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	ID     string            `json:"id"`
}

type nodeDisk struct {
	Type  string   `json:"type"`
	Zones []string `json:"zones"`
}

func TestFieldsOfAKind(t *testing.T) {
	t.Parallel()
	const begins, ends = "<!-- fields -->\n", "<!-- end of fields -->\n"
	const tables = "\n| field of Nodes | Cloud |\n| --- | --- |\n| `size`, `disk.type` | replaces the nodes |\n| `disk.zones` | adds nodes |\n" +
		"| `labels` | changes them in place |\n\n| list or map | entries that Muster leaves alone |\n| --- | --- |\n" +
		"| `labels` | those that begin with `own-` |\n\n"
	owned := fields.ServiceOwned{Prefixes: []string{"own-"}}
	size := fields.Row{Name: "size", Spec: "spec.size", Effect: fields.Rolls}
	diskType := fields.Row{Name: "diskType", Spec: "spec.disk.type", Effect: fields.Rolls}
	zones := fields.Row{Name: "zones", Spec: "spec.disk.zones", Doc: "adds nodes", Owned: fields.ServiceOwned{None: true}}
	labels := fields.Row{Name: "labels", Spec: "spec.labels", Owned: owned}
	undecided := labels
	undecided.Owned = fields.ServiceOwned{}
	for _, c := range []struct {
		why, page string
		rows      []fields.Row
		want      string
	}{
		{"all is well", begins + tables + ends, []fields.Row{size, diskType, zones, labels}, ""},
		{"a field without a row", begins + tables + ends, []fields.Row{size, zones, labels}, "spec.disk.type: want a row"},
		{"a map whose entries may be anyone's", begins + tables + ends, []fields.Row{size, diskType, zones, undecided},
			"spec.labels: want the row of labels to tell"},
		{"a row of a field that does not exist", begins + tables + ends,
			[]fields.Row{size, diskType, zones, labels, {Name: "cpu", Spec: "spec.cpu"}}, "spec.cpu: the row of cpu"},
		{"another table", begins + ends, []fields.Row{size, diskType, zones, labels}, "the tables differ"},
	} {
		page := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(page, []byte(c.page), 0o600); err != nil {
			t.Fatal(err)
		}
		check := Fields{Rows: c.rows, Spec: reflect.TypeFor[nodes](), Without: []string{"spec.id"}, Page: page, Mark: "fields", Kind: "Nodes",
			Cloud: "Cloud", Effects: map[fields.Effect]string{fields.Rolls: "replaces the nodes", fields.InPlace: "changes them in place"}}
		r := &reports{T: t}
		check.Check(r, false)
		if len(r.texts) > 0 != (c.want != "") || c.want != "" && !strings.Contains(r.texts[0], c.want) {
			t.Errorf("%s: want %q, got %q", c.why, c.want, r.texts)
		}
		r = &reports{T: t}
		if check.Check(r, true); len(r.texts) > 0 && strings.Contains(c.want, "differ") {
			t.Errorf("%s: want the tables written, got %q", c.why, r.texts)
		}
	}
}
