package seed

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "
	for _, tc := range []struct {
		reason string
		text   string
		want   []string
		err    string
	}{
		{reason: "documents are counted as people count them: empty ones and comments are none",
			text: "---\n---\n# a comment\n---\n" + config + "a\n---\n\n---\n" + config + "b\n",
			want: []string{"m.yaml: document 1 (ConfigMap a)", "m.yaml: document 2 (ConfigMap b)"}},
		{reason: "a list is its items", text: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: x}}\n",
			want: []string{"m.yaml: document 1 (Secret x)"}},
		{reason: "JSON is YAML", text: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`,
			want: []string{"m.yaml: document 1 (Secret x)"}},
		{reason: "a value is filled in", text: config + "${NAME}\n", want: []string{"m.yaml: document 1 (ConfigMap filled)"}},
		{reason: "broken YAML is told with its document and line", text: config + "a\n---\na: b: c\n",
			err: "m.yaml: document 2: yaml: mapping values"},
		{reason: "a key twice is a mistake that kubectl would hide", text: config + "a\n  name: b\n",
			err: `m.yaml: document 1: yaml: unmarshal errors:`},
		{reason: "no kind", text: "apiVersion: v1\nmetadata: {name: a}\n", err: "m.yaml: document 1: kind: wanted a string, found <nil>"},
		{reason: "no apiVersion", text: "kind: Secret\nmetadata: {name: a}\n",
			err: "m.yaml: document 1: apiVersion: wanted a string, found <nil>"},
		{reason: "no name: nothing could find it again", text: "apiVersion: v1\nkind: Secret\nmetadata: {generateName: a}\n",
			err: "m.yaml: document 1: Secret: metadata.name"},
		{reason: "a number that JSON does not have", text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nspec:\n  replicas: .nan\n",
			err: "m.yaml: document 1: line 5, replicas: .nan: found .nan, want a number in digits"},
		{reason: "not an object", text: "just words\n", err: "m.yaml: document 1: wanted an object with apiVersion and kind"},
		{reason: "the same object twice", text: config + "a\n---\n" + config + "a\n",
			err: "m.yaml: document 2 (ConfigMap a): the same object is in m.yaml: document 1"},
		{reason: "an unclosed brace is told", text: config + "${NAME\n", err: "m.yaml: find the variables: missing closing brace"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			objects, err := Parse([]Source{{Name: "m.yaml", Text: tc.text}}, FromMap(map[string]string{"NAME": "filled"}))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error: want %q, got %v", tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("want no error, got %v", err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.Where())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseNamesAllMissingVariablesAtOnce(t *testing.T) {
	_, err := Parse([]Source{{Name: "a.yaml", Text: "${B} ${A}"}, {Name: "b.yaml", Text: "x"}, {Name: "c.yaml", Text: "${C} ${A}"}},
		FromMap(nil))
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("want a MissingError, got %v", err)
	}
	want := &MissingError{Names: []string{"A", "B", "C"}, Files: []string{"a.yaml", "c.yaml"}}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Fatalf("missing (-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.yml": "b", "a.yaml": "a", "c.JSON": "c", "notes.txt": "no", "deep/d.yaml": "no"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := Read([]string{dir, Stdin, filepath.Join(dir, "notes.txt")}, strings.NewReader("in"))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, s := range sources {
		got += s.Text + " "
	}
	if want := "a b c in no "; got != want {
		t.Errorf("the directory's manifests by name, then standard input, then the named file: want %q, got %q", want, got)
	}
	empty := t.TempDir()
	for _, path := range []string{empty, filepath.Join(empty, "none.yaml")} {
		if _, err := Read([]string{path}, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: want an error that names it, got %v", path, err)
		}
	}
}

// A manifest for kubectl may hold what looks like a variable: in a script, it is one of the machine's.
func TestPlain(t *testing.T) {
	t.Parallel()
	objects, err := Plain([]Source{{Name: "x.yaml",
		Text: "kind: Widget\napiVersion: v1\nmetadata: {name: w}\nspec: {script: 'echo ${HOME}'}\n---\n# nothing\n"}})
	if err != nil || len(objects) != 1 {
		t.Fatalf("want one object, got %v, %v", objects, err)
	}
	if spec, ok := objects[0].Object["spec"].(map[string]any); !ok || spec["script"] != "echo ${HOME}" {
		t.Errorf("want the text as it is, got %v", objects[0].Object["spec"])
	}
}
