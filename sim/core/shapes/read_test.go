package shapes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/core/shapes"
	"github.com/muster-project/muster/sim/document"
)

const service = `{"Operations": {"Create": {"Method": "POST", "Body": "Pool"}}, "Types": {
	"Pool": {"name": "*string", "size": "?int", "total": "int64", "ratio": "number", "mode": "=Manual|Auto", "tags": "{}string",
		"disks": "[]Disk", "id": "!string", "link": "~string", "more": "any"},
	"Disk": {"size": "int", "boot": "bool"}, "Volume": {"disk": "Disk", "zone": "*string", "parts": "[]Part"}, "Part": {"id": "*int"}}}`

func TestRead(t *testing.T) {
	t.Parallel()
	types := shapes.Embedded([]byte(service))().Types
	strict, sparse := dialect(), dialect()
	sparse.Sparse, sparse.TextNumbers, sparse.AnyCase, sparse.MaxInteger = true, true, true, 100
	for _, row := range []struct {
		in         *shapes.Dialect
		body, want string
	}{
		{strict, ``, "malformed"},
		{strict, `null`, "malformed"},
		{strict, `[]`, "malformed"},
		{sparse, ``, `{}`},
		{strict, `{"name":"p","size":0,"mode":"Auto","disks":[{"size":1,"boot":true}],"tags":{"a":"b"},"more":[1]}`,
			`{"disks":[{"boot":true,"size":1}],"mode":"Auto","more":[1],"name":"p","size":0,"tags":{"a":"b"}}`},
		{strict, `{"id":"x","link":"l"}`, `{"link":"l"}`},
		{strict, `{"name":null}`, `{"name":null}`},
		{sparse, `{"name":null,"size":0,"ratio":0,"disks":[{"size":0}]}`, `{"disks":[{}],"size":0}`},
		{strict, `{"total":5}`, `{"total":"5"}`},
		{sparse, `{"total":"5","ratio":"0.5","size":"7"}`, `{"ratio":0.5,"size":7,"total":"5"}`},
		{sparse, `{"size":100}`, "wrong size as int"},
		{strict, `{"size":"7"}`, "wrong size as int"},
		{strict, `{"size":1.5}`, "wrong size as int"},
		{sparse, `{"mode":"AUTO"}`, `{"mode":"AUTO"}`},
		{strict, `{"mode":"AUTO"}`, "wrong mode as =Manual|Auto"},
		{strict, `{"disks":[{"size":1},{"boot":1}]}`, "wrong disks[1].boot as bool"},
		{strict, `{"disks":{}}`, "wrong disks as []Disk"},
		{strict, `{"tags":{"a":1}}`, "wrong tags[a] as string"},
		{strict, `{"disks":[{"kind":"x"}]}`, "unknown kind of Disk at disks[0]"},
		{strict, `{"colour":"red"}`, "unknown colour of Pool at "},
	} {
		d, err := types.Read([]byte(row.body), "Pool", row.in)
		got := document.Written(d)
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: want %s, got %s", row.body, row.want, got)
		}
	}
}

// TestRequired: a dialect with an error for them refuses bodies without a required member, at any depth, also where it is null.
func TestRequired(t *testing.T) {
	t.Parallel()
	types, in := shapes.Embedded([]byte(service))().Types, dialect()
	in.Missing = func(path string) error { return errors.New("missing " + path) }
	for body, want := range map[string]string{
		`{"zone":"a"}`: "", `{"zone":"a","parts":[{"id":0}]}`: "", `{}`: "missing zone", `{"zone":null}`: "missing zone",
		`{"zone":"a","parts":[{"id":1},{}]}`: "missing parts[1].id", `{"parts":[{}]}`: "missing parts[0].id",
	} {
		got := ""
		if _, err := types.Read([]byte(body), "Volume", in); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: want %q, got %q", body, want, got)
		}
	}
}

func dialect() *shapes.Dialect {
	return &shapes.Dialect{
		Malformed: func() error { return errors.New("malformed") },
		Unknown: func(name, typ, path string) error {
			return errors.New("unknown " + name + " of " + typ + " at " + path)
		},
		Wrong:  func(_ any, kind, path string) error { return errors.New("wrong " + path + " as " + kind) },
		Member: func(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") },
		Entry:  func(path, name string) string { return path + "[" + name + "]" },
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	types := shapes.Types{"A": {"x": "int", "y": "int"}}
	got := types.With(shapes.Types{"A": {"y": "string"}, "B": {"z": "A"}})
	if got["A"]["x"] != "int" || got["A"]["y"] != "string" || got["B"]["z"] != "A" || types["A"]["y"] != "int" {
		t.Errorf("want the members of both in a copy, got %v beside %v", got, types)
	}
}

func TestEmbeddedTextThatIsNoService(t *testing.T) {
	t.Parallel()
	if _, err := shapes.Embedded([]byte("{"))().Types.Read([]byte(`{"a":1}`), "A", dialect()); err == nil {
		t.Error("want no body accepted")
	}
}
