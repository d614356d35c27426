package seed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// DefaultNamespace is where an object goes whose manifest names no namespace, as with kubectl.
const DefaultNamespace = "default"

// Object is one object of a manifest, with the place that it came from.
type Object struct {
	*unstructured.Unstructured
	// File is the Source's name, Document the number of the YAML document in it, counted from 1; 0 when no file brought it.
	File     string
	Document int
}

// Where names the object for people: the file, the document's number, kind and name.
func (o Object) Where() string {
	what := o.GetKind() + " " + o.GetName()
	if o.Document == 0 {
		return fmt.Sprintf("%s (%s)", what, o.File)
	}
	return fmt.Sprintf("%s: document %d (%s)", o.File, o.Document, what)
}

// Namespaced returns the namespace that the object is in, or would be in if its kind has namespaces.
func (o Object) Namespaced() string {
	if ns := o.GetNamespace(); ns != "" {
		return ns
	}
	return DefaultNamespace
}

// key identifies an object within a world. It has no version, because an object is the same in each.
func (o Object) key() string {
	gvk := o.GroupVersionKind()
	return strings.Join([]string{gvk.Group, gvk.Kind, o.Namespaced(), o.GetName()}, "/")
}

// MissingError names the variables that have neither a value nor a default, in all sources together.
type MissingError struct {
	// Names are sorted; Files are the sources that want them.
	Names, Files []string
}

// Error lists the variables to set.
func (e *MissingError) Error() string {
	return fmt.Sprintf("no value for %s in %s: set them in the environment, or give defaults as ${NAME:=value}",
		strings.Join(e.Names, ", "), strings.Join(e.Files, ", "))
}

// Parse replaces the variables of all sources and decodes their documents. Lists are split into their items. An error names the file and
// the document; all variables without a value are in one MissingError.
func Parse(sources []Source, lookup Lookup) ([]Object, error) {
	var missing MissingError
	texts := make([]string, len(sources))
	for i, s := range sources {
		text, names, err := Substitute(s.Text, lookup)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if len(names) > 0 {
			missing.Names = append(missing.Names, names...)
			missing.Files = append(missing.Files, s.Name)
		}
		texts[i] = text
	}
	if len(missing.Names) > 0 {
		slices.Sort(missing.Names)
		missing.Names = slices.Compact(missing.Names)
		return nil, &missing
	}
	filled := slices.Clone(sources)
	for i := range filled {
		filled[i].Text = texts[i]
	}
	return Plain(filled)
}

// Plain parses sources without replacing variables.
func Plain(sources []Source) ([]Object, error) {
	var all []Object
	for _, s := range sources {
		objects, err := decode(s.Name, s.Text)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, unique(all)
}

// decode takes one file apart.
func decode(file, text string) ([]Object, error) {
	var all []Object
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for n := 1; ; n++ {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, n, err)
		}
		if blank(doc) {
			n--
			continue
		}
		objects, err := decodeDocument(file, n, doc)
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", file, n, err)
		}
		all = append(all, objects...)
	}
}

// blank reports whether a document has nothing but comments.
func blank(doc []byte) bool {
	for line := range bytes.Lines(doc) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

// noNumber is a number of YAML that JSON does not have.
var noNumber = regexp.MustCompile(`(?i)[-+]?\.(nan|inf)\b`)

// unsupported names the line of a number that JSON does not have; other errors stay as they are.
func unsupported(doc []byte, err error) error {
	var value *json.UnsupportedValueError
	if !errors.As(err, &value) {
		return err
	}
	n := 0
	for line := range bytes.Lines(doc) {
		n++
		if word := noNumber.Find(line); word != nil {
			return fmt.Errorf("line %d, %s: found %s, want a number in digits: %w", n, bytes.TrimSpace(line), word, err)
		}
	}
	return err
}

func decodeDocument(file string, n int, doc []byte) ([]Object, error) {
	raw, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return nil, unsupported(doc, err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, fmt.Errorf("wanted an object with apiVersion and kind, found %s", firstLine(string(raw)))
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if v, ok := content[field].(string); !ok || v == "" {
			return nil, fmt.Errorf("%s: wanted a string, found %v", field, content[field])
		}
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	items := []*unstructured.Unstructured{u}
	if u.IsList() {
		items = nil
		list, err := u.ToList()
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			items = append(items, &list.Items[i])
		}
	}
	all := make([]Object, 0, len(items))
	for _, item := range items {
		if item.GetName() == "" {
			return nil, fmt.Errorf("%s: metadata.name: wanted a name, found none", item.GetKind())
		}
		all = append(all, Object{Unstructured: item, File: file, Document: n})
	}
	return all, nil
}

// unique refuses manifests that hold the same object twice: only one of them could be meant.
func unique(all []Object) error {
	seen := map[string]Object{}
	for _, o := range all {
		if first, ok := seen[o.key()]; ok {
			return fmt.Errorf("%s: the same object is in %s already", o.Where(), first.Where())
		}
		seen[o.key()] = o
	}
	return nil
}

// firstLine cuts a text for a message.
func firstLine(s string) string {
	const most = 60
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}
