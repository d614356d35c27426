package messages

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// fieldsOf has the fields of the structs whose literals are read.
var fieldsOf = map[string][]string{
	"Cause": {"Reason", "Message"}, "Condition": {"Type", "Status", "Reason", "Message"}, "Event": {"Reason", "Message"},
}

// entry is one cause, condition or event in the source, by the forms of its fields.
type entry struct {
	folder, function                     string
	kind, typed, status, reason, message string
}

// unknownType is the type of a condition that comes from a function or a list.
const unknownType = "<Type>"

var (
	placeholder = regexp.MustCompile(`<[^#>][^>]*>|%[a-z]`)
	markers     = regexp.MustCompile(`<[$#](\w+\.)?`)
)

// known reports whether a form has a text or a constant.
func known(form string) bool {
	return strings.ContainsFunc(placeholder.ReplaceAllString(form, ""), unicode.IsLetter)
}

// line returns the entry as the list has it.
func (e entry) line() string {
	reason := e.reason
	if e.kind == "Condition" {
		reason = e.typed + " " + reason
		if e.status != "" {
			reason = e.typed + "=" + e.status + " " + e.reason
		}
	}
	return markers.ReplaceAllString(fmt.Sprintf("%s | %s | %s", strings.ToLower(e.kind), reason, e.message), "<")
}

// with returns the entry with arguments in place of parameters.
func (e entry) with(params []string, c call) entry {
	var pairs []string
	for k, param := range params {
		if k < len(c.args) {
			pairs = append(pairs, "<$"+param+">", c.args[k], "<$"+param+".Type>", cmp.Or(c.types[k], unknownType))
		}
	}
	replace := strings.NewReplacer(pairs...).Replace
	return entry{folder: c.folder, function: c.caller, kind: e.kind, typed: replace(e.typed), status: replace(e.status),
		reason: replace(e.reason), message: replace(e.message)}
}

// maxDepth limits how many functions pass a text on.
const maxDepth = 5

// lines returns the sorted lines of each folder. What a function makes of its parameters is listed once for each call, in the folder of the
// caller.
func (c *collector) lines() map[string][]string {
	lines := map[string][]string{}
	entries := c.entries
	for range maxDepth {
		next := map[entry]bool{}
		for e := range entries {
			calls := c.calls[e.function]
			if !strings.Contains(e.typed+e.status+e.reason+e.message, "<$") {
				calls = nil
			}
			for _, call := range calls {
				next[e.with(c.params[e.function], call)] = true
			}
			if len(calls) == 0 && (known(e.reason) || known(e.message) || e.message == "") {
				lines[e.folder] = append(lines[e.folder], e.line())
			}
		}
		entries = next
	}
	for folder := range lines {
		slices.Sort(lines[folder])
		lines[folder] = slices.Compact(lines[folder])
	}
	return lines
}

// add records an entry by its fields.
func (s *scope) add(kind string, fields map[string]string) {
	s.entries[entry{folder: s.file.folder, function: s.name, kind: kind, typed: fields["Type"], status: fields["Status"],
		reason: fields["Reason"], message: fields["Message"]}] = true
}

// event records a call of an event recorder: the object, a related one, the type, the reason, the action and the note.
func (s *scope) event(x *ast.CallExpr) {
	const reason, note = 3, 5
	if f, ok := x.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Eventf" || len(x.Args) <= note {
		return
	}
	text := s.form(x.Args[note])
	if text == "%s" && len(x.Args) > note+1 {
		text = s.form(x.Args[note+1])
	}
	s.add("Event", map[string]string{"Reason": s.form(x.Args[reason]), "Message": text})
}

// literal records a literal, or the elements of a list.
func (s *scope) literal(lit *ast.CompositeLit) {
	switch typed := lit.Type.(type) {
	case *ast.ArrayType:
		s.elements(nameOf(typed.Elt), lit)
	case *ast.MapType:
		if _, table := typed.Value.(*ast.StructType); table {
			s.elements("Event", lit)
		}
	default:
		s.fields(nameOf(lit.Type), lit)
	}
}

func (s *scope) elements(kind string, lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if element, ok := e.(*ast.CompositeLit); ok && element.Type == nil {
			s.fields(kind, element)
		}
	}
}

// fields records one literal, if it is a cause, a condition or an event.
func (s *scope) fields(kind string, lit *ast.CompositeLit) {
	if fieldsOf[kind] != nil && len(lit.Elts) > 1 {
		s.add(kind, s.formsOf(kind, lit))
	}
}

func (s *scope) formsOf(kind string, lit *ast.CompositeLit) map[string]string {
	fields := map[string]string{}
	for k, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			fields[nameOf(pair.Key)] = s.form(pair.Value)
		} else if k < len(fieldsOf[kind]) {
			fields[fieldsOf[kind][k]] = s.form(e)
		}
	}
	return fields
}

// assignments records the reasons and messages that statements assign. Statements in a row that assign to one variable are one entry.
func (s *scope) assignments(list []ast.Stmt) {
	last, fields := "", map[string]string{}
	for _, statement := range list {
		name := ""
		if assign, ok := statement.(*ast.AssignStmt); ok {
			s.declare(assign)
			name = assignee(assign)
			if name != last {
				s.assigned(last, fields)
				fields = map[string]string{}
			}
			s.assign(assign, fields)
		}
		if name == "" {
			s.assigned(last, fields)
			fields = map[string]string{}
		}
		last = name
	}
	s.assigned(last, fields)
}

// declare records the variables that hold a cause, a condition or an event.
func (s *scope) declare(a *ast.AssignStmt) {
	for k, value := range a.Rhs {
		if address, ok := value.(*ast.UnaryExpr); ok {
			value = address.X
		}
		switch x := value.(type) {
		case *ast.CompositeLit:
			kind := nameOf(x.Type)
			s.vars[nameOf(a.Lhs[k])] = variable{kind, s.formsOf(kind, x)["Type"]}
		case *ast.Ident:
			s.vars[nameOf(a.Lhs[k])] = s.vars[x.Name]
		}
	}
}

// assignee returns the variable whose reason or message is set, or "".
func assignee(a *ast.AssignStmt) string {
	for _, left := range a.Lhs {
		if field, ok := left.(*ast.SelectorExpr); ok && slices.Contains(fieldsOf["Condition"], field.Sel.Name) {
			return nameOf(field.X)
		}
	}
	return ""
}

// assign adds the fields that a statement sets.
func (s *scope) assign(a *ast.AssignStmt, fields map[string]string) {
	for k, left := range a.Lhs {
		field, ok := left.(*ast.SelectorExpr)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		name, text := field.Sel.Name, s.form(a.Rhs[k])
		if before, ok := fields[name]; a.Tok == token.ADD_ASSIGN && ok {
			text = before + text
		} else if a.Tok == token.ADD_ASSIGN {
			text = s.form(left) + text
		}
		fields[name] = text
	}
}

// assigned records the fields that statements set on a variable. One whose kind the function does not show is a condition if its status is
// set, otherwise a cause. What the statements leave as it is has the name of its field.
func (s *scope) assigned(name string, fields map[string]string) {
	v := s.vars[name]
	if fieldsOf[v.kind] == nil {
		v.kind = "Cause"
		if fields["Status"] != "" {
			v.kind = "Condition"
		}
	}
	if v.kind == "Condition" {
		fields["Type"] = cmp.Or(fields["Type"], v.typed, unknownType)
	}
	fields["Reason"] = cmp.Or(fields["Reason"], "<Reason>")
	if known(fields["Reason"]) || known(fields["Message"]) || strings.Contains(fields["Reason"]+fields["Message"], "<$") {
		s.add(v.kind, fields)
	}
}
