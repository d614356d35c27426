package cloudtest

import (
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud/fields"
)

// Fields compares the rows of a kind's fields with its specification, and with the tables in its document.
type Fields struct {
	Rows []fields.Row
	// Spec is the type of the specification. Without are the paths of its fields that need no row.
	Spec    reflect.Type
	Without []string
	// Page is the document. The tables are between two comments with the name Mark.
	Page, Mark string
	// Kind and Cloud are the heads of the columns, and Effects tells the outcome of a change where a row has no text of its own. Places is the
	// head of a column with the places in the cloud's document; empty for none.
	Kind, Cloud, Places string
	Effects             map[fields.Effect]string
}

// Check reports fields of the specification without a row, lists and maps whose row does not tell whose the entries are, rows of fields
// that do not exist, and tables that differ from the rows. With update it writes the tables.
func (f Fields) Check(t T, update bool) {
	t.Helper()
	paths := map[string]bool{}
	f.walk(t, f.Spec, "spec", paths)
	for _, r := range f.Rows {
		for _, path := range []string{r.Spec, r.Alias} {
			if strings.HasPrefix(path, "spec.") && !paths[path] {
				t.Errorf("%s: the row of %s is of a field that the specification does not have", path, r.Name)
			}
		}
	}
	text, err := os.ReadFile(f.Page)
	if err != nil {
		t.Fatalf("%v", err)
	}
	begins, ends := "<!-- "+f.Mark+" -->\n", "<!-- end of "+f.Mark+" -->\n"
	head, rest, begun := strings.Cut(string(text), begins)
	_, tail, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		t.Fatalf("%s: want the tables between %q and %q", f.Page, begins, ends)
	}
	want := head + begins + "\n" + f.tables() + "\n" + ends + tail
	switch {
	case string(text) == want:
	case update:
		if err := os.WriteFile(f.Page, []byte(want), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	default:
		t.Errorf("%s: the tables differ from the rows: run this test with -args -update", f.Page)
	}
}

// walk checks the fields of a struct of the specification, and collects their paths.
func (f Fields) walk(t T, of reflect.Type, parent string, paths map[string]bool) {
	t.Helper()
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		path, is := parent+"."+name, field.Type
		if is.Kind() == reflect.Pointer {
			is = is.Elem()
		}
		paths[path] = true
		row, found := f.row(path)
		switch {
		case slices.Contains(f.Without, path):
		case is.Kind() == reflect.Struct && is.PkgPath() == f.Spec.PkgPath():
			f.walk(t, is, path, paths)
		case !found:
			t.Errorf("%s: want a row that tells what a change does", path)
		case (is.Kind() == reflect.Slice || is.Kind() == reflect.Map) && !row.Owned.Known():
			t.Errorf("%s: want the row of %s to tell which entries are not Muster's", path, row.Name)
		}
	}
}

// row returns the row of a path, or that of the field that it is a part of.
func (f Fields) row(path string) (fields.Row, bool) {
	for strings.HasPrefix(path, "spec.") {
		for _, r := range f.Rows {
			if r.Spec == path || r.Alias == path {
				return r, true
			}
		}
		path = above(path)
	}
	return fields.Row{}, false
}

// above returns the path of the field that another one is a part of.
func above(path string) string { return path[:strings.LastIndex(path, ".")] }

// tables returns the table of what a change does, and that of the entries of lists and maps that Muster leaves alone.
func (f Fields) tables() string {
	var changes, entries lines
	heads := []string{"field of " + f.Kind, f.Cloud}
	if f.Places != "" {
		heads = slices.Insert(heads, 1, f.Places)
	}
	for _, r := range f.Rows {
		if r.Spec == "" {
			continue
		}
		text, place := f.says(r), ""
		if f.Places != "" {
			place = r.Place
		}
		if whole, ok := f.row(above(r.Spec)); !ok || f.says(whole) != text {
			changes.add(text, shown(r), place)
		}
		if others := othersOf(r.Owned); others != "" {
			entries.add(others, shown(r), "")
		}
	}
	if len(entries) == 0 {
		return changes.text(heads...)
	}
	return changes.text(heads...) + "\n" + entries.text("list or map", "entries that Muster leaves alone")
}

func (f Fields) says(r fields.Row) string {
	if r.Doc != "" {
		return r.Doc
	}
	return f.Effects[r.Effect]
}

// shown returns a field as documents name it.
func shown(r fields.Row) string {
	if path, ok := strings.CutPrefix(r.Spec, "MachinePool "); ok {
		return "`" + path + "` of the MachinePool"
	}
	out := "`" + strings.TrimPrefix(r.Spec, "spec.") + "`"
	if r.Alias != "" {
		out += " (`" + strings.TrimPrefix(r.Alias, "spec.") + "`)"
	}
	return out
}

// othersOf returns which entries are not Muster's; empty if all are.
func othersOf(o fields.ServiceOwned) string {
	var out []string
	if len(o.Domains) > 0 {
		out = append(out, "those of `"+strings.Join(o.Domains, "`, `")+"` and their subdomains")
	}
	if len(o.Prefixes) > 0 {
		out = append(out, "those that begin with `"+strings.Join(o.Prefixes, "`, `")+"`")
	}
	if o.Recorded != "" {
		out = append(out, "those not recorded in `"+o.Recorded+"`")
	}
	return strings.Join(out, ", ")
}

// lines holds the lines of a table in order. Fields with the same text share a line, unless they have places in the cloud's document.
type lines []line

type line struct {
	text           string
	fields, places []string
}

func (l *lines) add(text, field, place string) {
	at := slices.IndexFunc(*l, func(o line) bool { return o.text == text && (place == "" || o.fields[0] == field) })
	if at < 0 {
		*l, at = append(*l, line{text: text}), len(*l)
	}
	to := &(*l)[at]
	to.fields = appendNew(to.fields, field)
	if place != "" {
		to.places = appendNew(to.places, "`"+place+"`")
	}
}

func appendNew(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

// text returns the lines as a table. The places are between the fields and the texts, where there are three heads.
func (l *lines) text(heads ...string) string {
	out := "| " + strings.Join(heads, " | ") + " |\n" + strings.Repeat("| --- ", len(heads)) + "|\n"
	for _, o := range *l {
		out += "| " + strings.Join(o.fields, ", ") + " | "
		if len(heads) > 2 {
			out += strings.Join(o.places, ", ") + " | "
		}
		out += o.text + " |\n"
	}
	return out
}
