// Package shapes holds what services publish about their operations and bodies, in one form for all clouds, and reads requests by it. The
// command hack/shapes writes the form.
package shapes

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"

	"github.com/muster-project/muster/sim/document"
)

// Service is the published part of a service that a simulator serves.
type Service struct {
	// Query are the parameters that all operations have.
	Query []string `json:",omitempty"`
	// Operations are by their IDs.
	Operations map[string]Operation
	Types      Types `json:",omitempty"`
	// Errors are the codes of errors that all operations can return; none where they are not published.
	Errors []string `json:",omitempty"`
}

// Operation is a published operation.
type Operation struct {
	Method string `json:",omitempty"`
	// Path has a name in braces for each part that a request chooses; "*" before it is one of several parts.
	Path string `json:",omitempty"`
	// Version is that of the API, "" where the path has it.
	Version string `json:",omitempty"`
	// Success are the statuses of accepted requests, none where they are not published.
	Success []int `json:",omitempty"`
	// Query and Headers are the parameters behind the path and those in headers; those behind "*" are required.
	Query   []string `json:",omitempty"`
	Headers []string `json:",omitempty"`
	// Body and Answer are the kinds of the bodies, "" for none.
	Body   string `json:",omitempty"`
	Answer string `json:",omitempty"`
	// Required are members, as Type.member, that this operation requires and others with the same type do not.
	Required []string `json:",omitempty"`
	// Errors are the codes of the errors that the operation declares.
	Errors []string `json:",omitempty"`
}

// Types are the members of each type of body by name, and the kind of each. Before a kind are marks: "*" for a member that requests must
// have, "!" for one that only the service sets, "~" for one that is described as output and that the service takes all the same, "?" for a
// scalar that is kept where it is zero.
//
// A kind is "[]" before that of the elements of a list, "{}" before that of the entries of a map, "=" before the values of an enumeration
// with bars between them, the name of a type, or a scalar: string, bool, int, int64 (written as a string), number or any.
type Types map[string]map[string]string

// marks are the prefixes that a kind can have.
const marks = "*!~?"

// Kind returns a kind without its marks.
func Kind(marked string) string { return strings.TrimLeft(marked, marks) }

// Has reports whether a mark is before a kind.
func Has(marked, mark string) bool {
	return strings.Contains(strings.TrimSuffix(marked, Kind(marked)), mark)
}

// With returns the types with members of others over their own.
func (t Types) With(others Types) Types {
	out := maps.Clone(t)
	for name, members := range others {
		out[name] = document.Overlaid(t[name], members)
	}
	return out
}

// Embedded returns a function that decodes a service at its first call. Text that is no service has no types, so that no body is accepted.
func Embedded(text []byte) func() *Service {
	return sync.OnceValue(func() *Service {
		s := &Service{}
		if err := json.Unmarshal(text, s); err != nil {
			return &Service{Types: Types{}}
		}
		return s
	})
}
