package project

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// Filtered returns the items that the filter of a request lets through: all without one.
func Filtered(x *Call, all []Named) ([]Named, error) {
	text := x.Query.Get("filter")
	if text == "" {
		return all, nil
	}
	f := &filter{tokens: tokens(text)}
	keep, err := f.either()
	if err != nil || f.at < len(f.tokens) {
		return nil, Refuse(http.StatusBadRequest, "invalid", "Invalid value for field 'filter': '%s'. Invalid list filter expression.", text)
	}
	var out []Named
	for _, one := range all {
		if keep(one.Doc) {
			out = append(out, one)
		}
	}
	return out, nil
}

// test reports whether a document is let through.
type test func(document.Object) bool

// filter reads an expression: comparisons, joined with AND (or nothing) and OR, with parentheses and NOT.
type filter struct {
	tokens []string
	at     int
}

// tokenForm is a part of an expression. A URL may stand without quotes.
var tokenForm = regexp.MustCompile(`https?://[^\s()"']+|"(?:[^"\\]|\\.)*"|'[^']*'|[()]|!=|<=|>=|[=:<>]|[^\s()=!:<>"']+|-|!`)

func tokens(text string) []string { return tokenForm.FindAllString(text, -1) }

func (f *filter) peek() string {
	if f.at < len(f.tokens) {
		return f.tokens[f.at]
	}
	return ""
}

func (f *filter) next() string {
	t := f.peek()
	f.at++
	return t
}

// either reads terms joined with OR.
func (f *filter) either() (test, error) {
	first, err := f.all()
	if err != nil {
		return nil, err
	}
	for f.peek() == "OR" {
		f.at++
		second, err := f.all()
		if err != nil {
			return nil, err
		}
		before := first
		first = func(d document.Object) bool { return before(d) || second(d) }
	}
	return first, nil
}

// all parses terms that are joined with AND or by juxtaposition.
func (f *filter) all() (test, error) {
	first, err := f.term()
	if err != nil {
		return nil, err
	}
	for f.peek() != "" && f.peek() != "OR" && f.peek() != ")" {
		if f.peek() == "AND" {
			f.at++
		}
		second, err := f.term()
		if err != nil {
			return nil, err
		}
		before := first
		first = func(d document.Object) bool { return before(d) && second(d) }
	}
	return first, nil
}

// term reads one comparison, or an expression in parentheses.
func (f *filter) term() (test, error) {
	switch f.peek() {
	case "":
		return nil, errFilter
	case "NOT", "-":
		f.at++
		inner, err := f.term()
		if err != nil {
			return nil, err
		}
		return func(d document.Object) bool { return !inner(d) }, nil
	case "(":
		f.at++
		inner, err := f.either()
		if err != nil || f.next() != ")" {
			return nil, errFilter
		}
		return inner, nil
	}
	return f.comparison()
}

var errFilter = Refuse(http.StatusBadRequest, "invalid", "Invalid list filter expression.")

// comparison reads a field, an operator and a value. The operators eq and ne compare with a regular expression, as they do in Google's own.
func (f *filter) comparison() (test, error) {
	field, operator, value := f.next(), f.next(), strings.Trim(f.next(), `"'`)
	if operator == "" || f.at > len(f.tokens) {
		return nil, errFilter
	}
	switch operator {
	case "=":
		return func(d document.Object) bool { return shown(d, field) == value }, nil
	case "!=":
		return func(d document.Object) bool { return shown(d, field) != value }, nil
	case ":":
		if value == "*" {
			return func(d document.Object) bool { return document.Dig(d, field) != nil }, nil
		}
		prefix, open := strings.CutSuffix(value, "*")
		return func(d document.Object) bool {
			has := shown(d, field)
			return open && strings.HasPrefix(has, prefix) || !open && strings.Contains(has, value)
		}, nil
	case "eq", "ne":
		form, err := regexp.Compile("^(?:" + value + ")$")
		if err != nil {
			return nil, errFilter
		}
		return func(d document.Object) bool { return form.MatchString(shown(d, field)) == (operator == "eq") }, nil
	}
	return nil, errFilter
}

// shown returns what lies at a field as text, "" for nothing.
func shown(d document.Object, field string) string {
	switch v := document.Dig(d, field).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return document.Written(v)
	}
}
