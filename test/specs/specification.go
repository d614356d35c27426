package specs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/muster-project/muster/sim/core/shapes"
)

// Specification holds the operations that a cloud's services publish.
type Specification struct {
	operations map[string]*Operation
	// find returns the operation of a request, nil where none is published.
	find func(r *http.Request, body string) *Operation
	// unpublished are requests that services answer although no operation is published for them, each with the reason.
	unpublished func(r *http.Request) bool
	// err is why the specification could not be read: every request is answered with it.
	err error
}

// once returns a function that reads a specification at its first call.
func once(read func() (*Specification, error)) func() *Specification {
	return sync.OnceValue(func() *Specification {
		s, err := read()
		if err != nil {
			return &Specification{err: err}
		}
		return s
	})
}

// Operation is one that a service publishes.
type Operation struct {
	// ID begins with the service: compute.instanceTemplates.get. Path has a name in braces for each part that a request chooses; "*" before
	// it is one of several parts.
	ID, Method, Path string
	// Version is that of the API which the specification describes, "" if paths contain it.
	Version string
	// Query are the parameters behind the path, and whether a request must have them.
	Query map[string]bool
	// Headers are the conditions that a request can have: If-Match and If-None-Match. Where parameters are headers they are all, and those
	// behind an asterisk are required.
	Headers []string
	// Success are the codes of accepted requests; none where they are not published.
	Success []int
	// Errors are the codes of the errors that the operation declares; none where they are not published.
	Errors []string
	// plain is set where the body has no structure.
	plain bool
	// needs are members, as Type.member, that the operation alone requires.
	needs []string
	// body and answer are the kinds of the bodies, "" for none.
	body, answer string
	parts        []string
	from         *types
}

// types are those of the bodies of a service.
type types struct {
	shapes.Types
	// nulls is true if a member that is null counts as one that is left out.
	nulls bool
	// common are the parameters that all operations have.
	common map[string]bool
	// since are versions from which on members are published that the types lack, or values of them, by Type.member.
	since map[string]string
	// shown are members of answers that the types lack, by Type.member.
	shown map[string]bool
}

// operations returns the operations of services by their IDs. What t has is the same for all.
func (t types) operations(services ...*shapes.Service) map[string]*Operation {
	all := map[string]*Operation{}
	for _, s := range services {
		from := t
		from.Types, from.common = s.Types, maps.Clone(t.common)
		if from.common == nil {
			from.common = map[string]bool{}
		}
		for _, name := range s.Query {
			from.common[name] = true
		}
		for id, one := range s.Operations {
			o := &Operation{ID: id, Method: one.Method, Path: one.Path, Version: one.Version, Query: map[string]bool{}, Headers: one.Headers,
				Success: one.Success, needs: one.Required, Errors: append(one.Errors, s.Errors...), body: one.Body, answer: one.Answer, from: &from}
			for _, name := range one.Query {
				name, required := strings.CutPrefix(name, "*")
				o.Query[name] = required
			}
			all[id] = o
		}
	}
	return all
}

// Operation returns the operation with an ID, nil where none is published.
func (s *Specification) Operation(id string) *Operation { return s.operations[id] }

// IDs returns the names of the operations of a service, in order.
func (s *Specification) IDs(service string) []string {
	var out []string
	for id := range s.operations {
		if strings.HasPrefix(id, service+".") {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Request returns what the specification does not have of a request: its method and path, a parameter, a member of its body. It also
// returns what the specification demands and the request does not have.
func (s *Specification) Request(r *http.Request, body string) error {
	if s.err != nil {
		return s.err
	}
	o := s.find(r, body)
	switch {
	case o != nil:
		return o.request(r, body)
	case s.unpublished(r):
		return nil
	}
	return fmt.Errorf("no operation is published for %s %s", r.Method, r.URL.Path)
}

// Answer returns what the specification does not have of the reply to a request: its status, the code of an error, a member of its body,
// which is answer.
func (s *Specification) Answer(r *http.Request, body string, reply *http.Response, answer []byte) error {
	if s.err != nil {
		return s.err
	}
	o := s.find(r, body)
	if o == nil {
		return nil
	}
	var err error
	switch {
	case reply.StatusCode >= http.StatusBadRequest:
		err = o.refusal(reply.Header, answer)
	case len(o.Success) > 0 && !slices.Contains(o.Success, reply.StatusCode):
		err = fmt.Errorf("status %d is not one of %v", reply.StatusCode, o.Success)
	case o.answer != "" && len(answer) > 0:
		err = o.from.document(string(answer), o.answer, reading(o))
	}
	if err != nil {
		return fmt.Errorf("the answer of %s: %w", o.ID, err)
	}
	return nil
}

// request holds a request against the operation.
func (o *Operation) request(r *http.Request, body string) error {
	query := r.URL.Query()
	if err := o.parameters(query, r.Header); err != nil {
		return fmt.Errorf("%s %w", o.ID, err)
	}
	var err error
	switch {
	case o.plain || body == "" && len(o.Required()) == 0:
		return nil
	case o.body == "":
		err = errors.New("it has no body")
	default:
		err = o.content(r, body, writing(o, query.Get("api-version")))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.ID, err)
	}
	return nil
}

// Required returns the members that the body must have at its top.
func (o *Operation) Required() []string {
	members := o.from.Types[o.body]
	return slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool { return !shapes.Has(members[name], "*") })
}

// content compares the body of a request, which may be a form, with that of the operation.
func (o *Operation) content(r *http.Request, body string, d direction) error {
	if form, is := formOf(r, body); is {
		return o.from.value(o.from.parameter(parametersOf(form), o.body), o.body, "", d)
	}
	return o.from.document(cmp.Or(body, "{}"), o.body, d)
}

// parameters holds the parameters behind the path and the conditions against the operation.
func (o *Operation) parameters(query url.Values, h http.Header) error {
	for name := range query {
		if _, own := o.Query[name]; !own && !o.from.common[name] {
			return fmt.Errorf("has no parameter %s", name)
		}
	}
	for name, required := range o.Query {
		if required && !query.Has(name) {
			return fmt.Errorf("needs the parameter %s", name)
		}
	}
	return o.headers(h)
}

// headers holds the conditions of a request, and the parameters that are headers, against the operation.
func (o *Operation) headers(h http.Header) error {
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if h.Get(name) != "" && !slices.Contains(o.Headers, name) {
			return fmt.Errorf("has no header %s", name)
		}
	}
	for _, name := range o.Headers {
		if name, required := strings.CutPrefix(name, "*"); required && h.Get(name) == "" {
			return fmt.Errorf("needs the header %s", name)
		}
	}
	return nil
}
