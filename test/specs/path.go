package specs

import (
	"net/http"
	"strconv"
	"strings"
)

// byPath finds operations by the methods and paths of requests, whose case is that of the specification.
func byPath(all map[string]*Operation) func(*http.Request, string) *Operation {
	byShape := map[string][]*Operation{}
	for _, o := range all {
		o.parts = strings.Split(o.Path, "/")
		byShape[shapeOf(o.Method, o.parts)] = append(byShape[shapeOf(o.Method, o.parts)], o)
	}
	return func(r *http.Request, _ string) *Operation {
		parts := strings.Split(r.URL.EscapedPath(), "/")
		return mostNamed(byShape[shapeOf(r.Method, parts)], parts, func(a, b string) bool { return a == b })
	}
}

func shapeOf(method string, parts []string) string { return method + strconv.Itoa(len(parts)) }

// mostNamed returns, of the operations that a path fits, the one with the fewest parts to choose.
func mostNamed(operations []*Operation, parts []string, equal func(a, b string) bool) (found *Operation) {
	most := -1
	for _, o := range operations {
		if same, fits := o.fits(parts, equal); fits && same > most {
			found, most = o, same
		}
	}
	return found
}

// fits reports whether the parts of a path are those of the operation's, and how many of them the operation names.
func (o *Operation) fits(parts []string, equal func(a, b string) bool) (same int, ok bool) {
	for i, want := range o.parts {
		name, verb, chosen := strings.Cut(strings.TrimPrefix(want, "{"), "}")
		switch {
		case !chosen && !equal(parts[i], name):
			return 0, false
		case !chosen:
			same++
		default:
			value, has, _ := strings.Cut(parts[i], ":")
			if value == "" || has != strings.TrimPrefix(verb, ":") {
				return 0, false
			}
		}
	}
	return same, true
}
