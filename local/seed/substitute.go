package seed

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

// Lookup gives the value of a variable, and whether it has one. An empty value is a value.
type Lookup func(name string) (string, bool)

// Lookups asks one after the other; the first that has a value wins.
func Lookups(all ...Lookup) Lookup {
	return func(name string) (string, bool) {
		for _, l := range all {
			if v, ok := l(name); ok {
				return v, true
			}
		}
		return "", false
	}
}

// FromMap looks variables up in a map.
func FromMap(m map[string]string) Lookup {
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

// maxNesting bounds how deep defaults may hold other variables: ${A:=${B:=c}} is two deep. More is a mistake.
const maxNesting = 8

// paddedVariable finds the spellings with blanks inside the braces, which clusterctl accepts as well.
var paddedVariable = regexp.MustCompile(`\$\{\s*([A-Za-z0-9_]+)\s*\}`)

// expression splits what stands between the braces into a name, an operator and the operator's word.
var expression = regexp.MustCompile(`(?s)^([A-Za-z0-9_]+)(?:(:=|:-|=)(.*))?$`)

// Substitute replaces ${VAR}, ${VAR:=default}, ${VAR:-default} and ${VAR=default} as clusterctl does: a default counts when
// the variable has no value or an empty one, $$ stands for one $, and a $ without a brace is left alone. It returns the names
// that have neither a value nor a default, sorted; the text is then of no use. Other operators of the shell are refused.
func Substitute(text string, lookup Lookup) (string, []string, error) {
	s := &substitution{lookup: lookup, missing: map[string]bool{}}
	out, err := s.expand(paddedVariable.ReplaceAllString(text, "$${$1}"), 0)
	if err != nil {
		return "", nil, err
	}
	missing := make([]string, 0, len(s.missing))
	for name := range s.missing {
		missing = append(missing, name)
	}
	sort.Strings(missing)
	return out, missing, nil
}

type substitution struct {
	lookup  Lookup
	missing map[string]bool
}

// expand replaces every variable in text.
func (s *substitution) expand(text string, depth int) (string, error) {
	if depth > maxNesting {
		return "", fmt.Errorf("variables are nested more than %d deep", maxNesting)
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$$"):
			out.WriteByte('$')
			i += 2
		case strings.HasPrefix(text[i:], "${"):
			end := closing(text, i+2)
			if end < 0 {
				return "", fmt.Errorf("line %d: %q has no closing brace", 1+strings.Count(text[:i], "\n"), firstLine(text[i:]))
			}
			v, err := s.value(text[i+2:end], depth)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", 1+strings.Count(text[:i], "\n"), err)
			}
			out.WriteString(v)
			i = end + 1
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return out.String(), nil
}

// value evaluates what stands between one pair of braces.
func (s *substitution) value(inner string, depth int) (string, error) {
	m := expression.FindStringSubmatch(inner)
	if m == nil {
		return "", fmt.Errorf("${%s} is not understood: write ${NAME}, ${NAME:=default} or ${NAME:-default}", firstLine(inner))
	}
	name, word := m[1], m[3]
	v, ok := s.lookup(name)
	switch {
	case v != "":
		return v, nil
	case word != "":
		return s.expand(word, depth+1)
	case !ok:
		s.missing[name] = true
	}
	return "", nil
}

// closing is the place of the brace that ends an expression which begins at from, or -1.
func closing(text string, from int) int {
	open := 1
	for i := from; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "${"):
			open++
			i++
		case text[i] == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
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
