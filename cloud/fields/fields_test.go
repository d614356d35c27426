package fields_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud/fields"
)

type (
	document map[string]string
	field    = fields.Field[document, document]
)

// value is the value of a key in a document.
func value(key string) func(document) any { return func(d document) any { return fields.Text(d[key]) } }

func put(key string) func(r, want, _ document) {
	return func(r, want, _ document) { r[key] = want[key] }
}

var table = fields.Table[document, document]{
	{Name: "size", Spec: "spec.machine.size", Effect: fields.Rolls, Value: value("size"), Put: put("size")},
	{Name: "disk", Spec: "spec.machine.disk", Effect: fields.Rolls, With: "size", Value: value("disk"), Put: put("disk")},
	{Name: "labels", Spec: "spec.labels", Method: "label", Differs: func(want, is document) bool { return want["labels"] != is["labels"] }},
	{Name: "network", Spec: "spec.network", Effect: fields.Fixed, Value: value("network"), Codes: []string{"NoSuchNetwork"}},
	{Name: "version", Spec: fields.Version, Effect: fields.Rolls},
}

func names(t fields.Table[document, document]) string {
	var out []string
	for _, f := range t {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

func TestDiffering(t *testing.T) {
	t.Parallel()
	all := []fields.Effect{fields.Rolls, fields.InPlace, fields.Fixed}
	for _, c := range []struct {
		why      string
		want, is document
		effects  []fields.Effect
		differ   string
	}{
		{"nothing is wanted", document{}, document{"size": "L", "network": "n"}, all, ""},
		{"in the order of the rows", document{"labels": "a", "disk": "9", "size": "L"}, document{"size": "S"}, all, "size disk labels"},
		{"the same", document{"size": "L"}, document{"size": "L"}, all, ""},
		{"what differs compares even what is not wanted", document{}, document{"labels": "a"}, all, "labels"},
		{"of an effect", document{"network": "m", "disk": "9"}, document{"network": "n"}, []fields.Effect{fields.Fixed}, "network"},
	} {
		if got := names(table.Differing(c.want, c.is, c.effects...)); got != c.differ {
			t.Errorf("%s: want %q, got %q", c.why, c.differ, got)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	if got := names(table.Without("labels").Together()); got != "size disk" {
		t.Errorf("want what goes with the size, got %q", got)
	}
	if !table.Ahead("disk", "labels") || table.Ahead("disk", "size") || table.Ahead("labels", "disk") {
		t.Error("want a field to stand where the first of its request stands")
	}
	if table.SpecOf("DISK") != "spec.machine.disk" || table.SpecOf("cpu") != "" || !table.Has("disk") || table.Has("cpu") {
		t.Error("want a field found by its name")
	}
	if table.Of("disk").Effect != fields.Rolls || table.Of("cpu").Effect != fields.Fixed {
		t.Error("want the row of a name, and a field without a row fixed")
	}
	if table.OfCode("NoSuchNetwork") != "network" || table.OfCode("") != "" {
		t.Error("want a field found by an error code")
	}
	rolling := table.Rolling(document{"size": "L", "labels": "a"}, document{"size": "S", "disk": "9"})
	if !maps.Equal(rolling, map[string]any{"size": "S"}) {
		t.Errorf("want what replaces machines and is named, got %v", rolling)
	}
	request := document{}
	table.Without("labels", "network", "version").Put(request, document{"size": "L", "disk": "9"}, nil)
	if !maps.Equal(request, document{"size": "L", "disk": "9"}) {
		t.Errorf("want both in the request, got %v", request)
	}
	twice := append(slices.Clone(table), field{Name: "sizes", Spec: "spec.machine.size"})
	if got := strings.Join(twice.Specs(), " "); got != "spec.machine.size spec.machine.disk spec.labels spec.network "+fields.Version {
		t.Errorf("want each path once, got %q", got)
	}
}

// disks shows its disks by number, and a size that it may leave out.
var disks = fields.Table[document, document]{
	{Name: "size", Spec: "spec.size", Effect: fields.Rolls, Compare: fields.Caseless, Default: "S", Value: value("size")},
	{Name: "disks", Spec: "spec.disks", Effect: fields.Rolls, Value: func(d document) any {
		return map[string]string{"": d["disks"], "0.size": d["first"]}
	}},
	{Name: "disks.0.type", Spec: "spec.bootDisk", Effect: fields.Fixed, Value: value("type")},
	{Name: "version", Spec: fields.Version, Effect: fields.Rolls},
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	want := disks.Describe(document{"size": "m", "disks": "0", "first": "9", "type": "ssd"})
	is := disks.Describe(document{"size": "M", "disks": "0", "first": "8", "type": "hdd"})
	bare := disks.Describe(document{"disks": "0", "first": "9"})
	if full := (fields.Description{"size": "m", "disks": "0", "disks.0.size": "9", "disks.0.type": "ssd"}); !maps.Equal(want, full) {
		t.Errorf("want %v, got %v", full, want)
	}
	for _, c := range []struct {
		why      string
		want, is fields.Description
		effect   fields.Effect
		differ   string
	}{
		{"a value within a field", want, is, fields.Rolls, "disks.0.size"},
		{"a row of its own", want, is, fields.Fixed, "disks.0.type"},
		{"what one does not show", want, bare, fields.Rolls, ""},
		{"the default of what one does not show", want, disks.Completed(bare), fields.Rolls, "size"},
		{"the same defaults", disks.Completed(bare), disks.Completed(bare), fields.Rolls, ""},
	} {
		if got := strings.Join(disks.Changed(c.want, c.is, c.effect), " "); got != c.differ {
			t.Errorf("%s: want %q, got %q", c.why, c.differ, got)
		}
	}
	paths := disks.SpecsOf([]string{"disks.0.size", "size", "disks", "disks.0.type"})
	if got := strings.Join(paths, " "); got != "spec.bootDisk spec.disks spec.size" {
		t.Errorf("want each path once, got %q", got)
	}
}
