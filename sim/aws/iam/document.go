package iam

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/wire"
)

// Policy is a policy of IAM that was read and understood.
type Policy struct {
	Statements []Statement
}

// Statement is one statement of a policy. What it does not name is nil.
type Statement struct {
	Sid, Effect            string
	Actions, NotActions    []string
	Resources, NotResource []string
	// Principals by kind, such as AWS and Service; {"*": ["*"]} for all.
	Principals map[string][]string
	// Conditions by operator and key.
	Conditions map[string]map[string][]string
}

// words is one text or a list of them.
type words []string

// UnmarshalJSON reads a text, a truth, a number or a list of these.
func (w *words) UnmarshalJSON(b []byte) error {
	var many []json.RawMessage
	if json.Unmarshal(b, &many) != nil {
		many = []json.RawMessage{b}
	}
	out := words{}
	for _, one := range many {
		var text string
		if err := json.Unmarshal(one, &text); err != nil {
			text = string(bytes.TrimSpace(one))
			if text == "" || strings.ContainsAny(text, "{[") || text == "null" {
				return fmt.Errorf("a text or a list of texts is wanted, not %s", text)
			}
		}
		out = append(out, text)
	}
	*w = out
	return nil
}

// written is a statement as it stands in a document.
type written struct {
	Sid, Effect                              string
	Action, NotAction, Resource, NotResource words
	Principal, NotPrincipal                  json.RawMessage
	Condition                                map[string]map[string]words
}

// ParsePolicy reads a document that grants or denies actions.
func ParsePolicy(document []byte) (Policy, error) { return parsePolicy(document, false) }

// parsePolicy reads a document; trust is true if it names who may assume a role instead of actions and resources.
func parsePolicy(document []byte, trust bool) (Policy, error) {
	var d struct {
		Version, ID string
		Statement   json.RawMessage
	}
	if err := strictly(document, &d); err != nil {
		return Policy{}, err
	}
	if d.Version != "2012-10-17" && d.Version != "2008-10-17" && d.Version != "" {
		return Policy{}, fmt.Errorf("the version %q is neither 2012-10-17 nor 2008-10-17", d.Version)
	}
	var list []json.RawMessage
	if json.Unmarshal(d.Statement, &list) != nil {
		list = []json.RawMessage{d.Statement}
	}
	var p Policy
	for n, one := range list {
		var w written
		if err := strictly(one, &w); err != nil {
			return Policy{}, fmt.Errorf("statement %d: %w", n+1, err)
		}
		s, err := w.read(trust)
		if err != nil {
			return Policy{}, fmt.Errorf("statement %d: %w", n+1, err)
		}
		p.Statements = append(p.Statements, s)
	}
	if len(p.Statements) == 0 {
		return Policy{}, errors.New("there is no statement")
	}
	return p, nil
}

// strictly reads JSON in which nothing is unknown.
func strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is something behind the document")
	}
	return nil
}

// read checks one statement.
func (w written) read(trust bool) (Statement, error) {
	s := Statement{
		Sid: w.Sid, Effect: w.Effect, Actions: w.Action, NotActions: w.NotAction, Resources: w.Resource, NotResource: w.NotResource,
		Conditions: map[string]map[string][]string{},
	}
	switch {
	case w.Effect != "Allow" && w.Effect != "Deny":
		return s, fmt.Errorf("the effect %q is neither Allow nor Deny", w.Effect)
	case (w.Action == nil) == (w.NotAction == nil):
		return s, errors.New("one of Action and NotAction is wanted")
	case !trust && (w.Resource == nil) == (w.NotResource == nil):
		return s, errors.New("one of Resource and NotResource is wanted")
	case trust == (w.Principal == nil) || w.NotPrincipal != nil:
		return s, errors.New("a Principal belongs to what trusts, and to nothing else")
	}
	if err := s.readConditions(w); err != nil {
		return s, err
	}
	var err error
	s.Principals, err = readPrincipals(w.Principal)
	return s, err
}

// readConditions checks actions and conditions, and takes the latter over.
func (s *Statement) readConditions(w written) error {
	for _, a := range slices.Concat(w.Action, w.NotAction) {
		if a != "*" && !strings.Contains(a, ":") {
			return fmt.Errorf("the action %q has no service", a)
		}
	}
	for operator, keys := range w.Condition {
		if !knownOperator(operator) {
			return fmt.Errorf("the condition operator %q is not known", operator)
		}
		s.Conditions[operator] = map[string][]string{}
		for key, values := range keys {
			s.Conditions[operator][key] = values
		}
	}
	return nil
}

// readPrincipals reads "*" or lists by kind.
func readPrincipals(b json.RawMessage) (map[string][]string, error) {
	if b == nil {
		return nil, nil
	}
	if string(bytes.TrimSpace(b)) == `"*"` {
		return map[string][]string{"*": {"*"}}, nil
	}
	var kinds map[string]words
	if err := json.Unmarshal(b, &kinds); err != nil {
		return nil, fmt.Errorf("the principal cannot be read: %w", err)
	}
	out := map[string][]string{}
	for kind, who := range kinds {
		out[kind] = who
	}
	return out, nil
}

// evaluation is the answer of policies.
type evaluation int

// Without a word for it nothing is allowed; one word against it weighs more than any for it.
const (
	unspoken evaluation = iota
	Allowed
	Denied
)

// Judge is what policies say of something together.
func Judge(policies []Policy, a Ask) evaluation {
	out := unspoken
	for _, p := range policies {
		for _, s := range p.Statements {
			if !s.covers(a) {
				continue
			}
			if s.Effect == "Deny" {
				return Denied
			}
			out = Allowed
		}
	}
	return out
}

// covers reports a statement that speaks of what is asked.
func (s Statement) covers(a Ask) bool {
	action := func(p string) bool { return wire.Glob(strings.ToLower(p), strings.ToLower(a.Action)) }
	if s.Actions != nil && !slices.ContainsFunc(s.Actions, action) || s.NotActions != nil && slices.ContainsFunc(s.NotActions, action) {
		return false
	}
	resource := func(p string) bool { return p == "*" || wire.Glob(filled(p, a.Context), a.Resource) }
	if s.Resources != nil && !slices.ContainsFunc(s.Resources, resource) || s.NotResource != nil &&
		slices.ContainsFunc(s.NotResource, resource) {
		return false
	}
	return s.holds(a.Context)
}

// filled is a text with its variables, such as ${aws:PrincipalAccount}, replaced.
func filled(text string, context map[string][]string) string {
	for strings.Contains(text, "${") {
		before, rest, _ := strings.Cut(text, "${")
		name, after, ok := strings.Cut(rest, "}")
		values := lookUp(context, name)
		if !ok || len(values) != 1 {
			// A variable without a value matches nothing.
			return "\x00"
		}
		text = before + values[0] + after
	}
	return text
}
