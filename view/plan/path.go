package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/common"
)

// path leads to a field: names, and places in lists as numbers.
type path []any

// String returns the path as people write it: spec.subnets[0].id, metadata.annotations[muster.dev/rollout].
func (p path) String() string {
	var b strings.Builder
	for _, part := range p {
		switch part := part.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", part)
		case string:
			switch {
			case part == "" || strings.ContainsAny(part, ".[]/"):
				fmt.Fprintf(&b, "[%s]", part)
			case b.Len() == 0:
				b.WriteString(part)
			default:
				b.WriteString("." + part)
			}
		}
	}
	return b.String()
}

var (
	errBracket = errors.New("a bracket is out of place")
	errName    = errors.New("a name is empty or out of place")
	errShort   = errors.New("it names no field")
)

// parsePath takes a path apart.
func parsePath(text string) (path, error) {
	var p path
	var err error
	for rest := text; rest != "" && err == nil; {
		var part any
		if part, rest, err = nextPart(rest, len(p) == 0); err == nil {
			p = append(p, part)
		}
	}
	if err == nil && len(p) < 2 {
		err = errShort
	}
	if err != nil {
		return nil, fmt.Errorf("path %q: %w; want a path such as spec.template.spec.version, spec.subnets[0].id or "+
			"metadata.annotations[muster.dev/rollout]", text, err)
	}
	return p, nil
}

// nextPart removes the first part of a path. A name after a dot contains no dot; a name with dots, or an index of a list, is in brackets.
func nextPart(text string, first bool) (part any, rest string, err error) {
	if inner, ok := strings.CutPrefix(text, "["); ok && !first {
		return inBrackets(inner)
	}
	name := text
	if end := strings.IndexAny(text, ".[]"); end >= 0 {
		name, rest = text[:end], text[end:]
	}
	if strings.HasPrefix(rest, "]") {
		return nil, "", errBracket
	}
	if name == "" || first && strings.Contains(name, "/") {
		return nil, "", errName
	}
	return name, strings.TrimPrefix(rest, "."), nil
}

// inBrackets takes off what stands up to the next closing bracket.
func inBrackets(text string) (part any, rest string, err error) {
	name, after, closed := strings.Cut(text, "]")
	if !closed || strings.Contains(name, "[") || after != "" && after[0] != '.' && after[0] != '[' {
		return nil, "", errBracket
	}
	rest = strings.TrimPrefix(after, ".")
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n, rest, nil
	}
	return strings.Trim(name, `"'`), rest, nil
}

// lookup returns the value at a path, and whether there is one.
func lookup(content any, p path) (any, bool) {
	for _, part := range p {
		switch part := part.(type) {
		case string:
			m, ok := content.(map[string]any)
			if !ok {
				return nil, false
			}
			if content, ok = m[part]; !ok {
				return nil, false
			}
		case int:
			list, ok := content.([]any)
			if !ok || part >= len(list) {
				return nil, false
			}
			content = list[part]
		}
	}
	return content, true
}

// with returns the content with a value at a path, which is created if necessary; if set is false, the field is removed. content itself is
// not changed.
func with(content any, p path, value any, set bool) (any, error) {
	if len(p) == 0 {
		return runtime.DeepCopyJSONValue(value), nil
	}
	switch part := p[0].(type) {
	case string:
		old, ok := content.(map[string]any)
		if content != nil && !ok {
			return nil, fmt.Errorf("%s is no object", path{part})
		}
		return withField(old, part, p[1:], value, set)
	case int:
		old, ok := content.([]any)
		if content != nil && !ok {
			return nil, fmt.Errorf("[%d] is a place in a list, and there is no list", part)
		}
		return withItem(old, part, p[1:], value, set)
	}
	return content, nil
}

func withField(old map[string]any, name string, rest path, value any, set bool) (any, error) {
	out := make(map[string]any, len(old)+1)
	for k, v := range old {
		out[k] = v
	}
	if _, there := old[name]; !there && !set {
		return out, nil
	}
	if len(rest) == 0 && !set {
		delete(out, name)
		return out, nil
	}
	below, err := with(old[name], rest, value, set)
	if err != nil {
		return nil, err
	}
	out[name] = below
	return out, nil
}

func withItem(old []any, at int, rest path, value any, set bool) (any, error) {
	out := slices.Clone(old)
	switch {
	case at > len(old) || at == len(old) && !set:
		return nil, fmt.Errorf("[%d] is beyond the end of a list of %d", at, len(old))
	case at == len(old):
		out = append(out, nil)
	case len(rest) == 0 && !set:
		return slices.Delete(out, at, at+1), nil
	}
	below, err := with(out[at], rest, value, set)
	if err != nil {
		return nil, err
	}
	out[at] = below
	return out, nil
}

// assignment is one --set.
type assignment struct {
	at path
	// value is set, or removed if remove is true.
	value  any
	remove bool
}

// parseSet splits path=value. The value is YAML, so that numbers, strings, lists and objects have their types; null removes the field.
func parseSet(text string) (assignment, error) {
	left, right, ok := cutAssignment(text)
	if !ok {
		return assignment{}, fmt.Errorf("--set %q: want path=value, found no =", text)
	}
	p, err := parsePath(strings.TrimSpace(left))
	if err != nil {
		return assignment{}, fmt.Errorf("--set: %w", err)
	}
	value, err := parseValue(right)
	if err != nil {
		return assignment{}, fmt.Errorf("--set %s: %w", p, err)
	}
	return assignment{at: p, value: value, remove: value == nil}, nil
}

// parseValue reads a value in YAML. Whole numbers are those that were written.
func parseValue(text string) (any, error) {
	if text == "" {
		return "", nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) {
		return nil, fmt.Errorf("found %s, want a number in digits: JSON has no %s", strings.TrimSpace(text), unsupported.Str)
	}
	if err != nil {
		return nil, fmt.Errorf("the value is no YAML: %w", err)
	}
	var value any
	if err := utiljson.Unmarshal(data, &value); err != nil {
		return nil, fmt.Errorf("the value is no YAML: %w", err)
	}
	return whole(value)
}

// cutAssignment finds the = that is outside of brackets.
func cutAssignment(text string) (left, right string, ok bool) {
	depth := 0
	for i, r := range text {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case '=':
			if depth == 0 {
				return text[:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

// whole makes numbers without a fraction what the API calls integers, and refuses those that no integer holds.
func whole(value any) (any, error) {
	var err error
	switch v := value.(type) {
	case float64:
		if math.Abs(v) >= math.MaxInt64 {
			return nil, fmt.Errorf("found %g, want %s", v, common.TypeInWords("int64"))
		}
		if v == float64(int64(v)) {
			return int64(v), nil
		}
	case []any:
		for i := range v {
			if v[i], err = whole(v[i]); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = whole(v[k]); err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
		}
	}
	return value, nil
}
