// Package messages lists what users read: condition types, reasons, the forms of messages and events. The list is a golden file, so that
// a change of the wording is reviewed as a text.
package messages

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const golden = "testdata/messages.txt"

var update = flag.Bool("update", false, "write the golden file")

// roots are the folders whose packages have their messages listed.
var roots = []string{"engine", "kube", "pool"}

// TestMessages compares the messages in the source with the list.
func TestMessages(t *testing.T) {
	var all []string
	for _, folder := range packages(t) {
		c := collector{consts: map[string]string{}, lines: map[string]bool{}}
		c.read(t, filepath.Join("../..", folder))
		if len(c.lines) == 0 {
			continue
		}
		all = append(all, "# "+folder)
		all = append(all, slices.Sorted(maps.Keys(c.lines))...)
		all = append(all, "")
	}
	got := strings.Join(all, "\n")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	before, after := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("not in the source any more: %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("not in the list: %s", line)
		}
	}
	t.Errorf("%s is out of date: read the new wording, then run the test with -args -update", golden)
}

// packages returns the folders below the roots.
func packages(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, root := range roots {
		err := fs.WalkDir(os.DirFS("../.."), root, func(folder string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() != "testdata" {
				folders = append(folders, folder)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return folders
}

// TestEvents holds that events begin with a capital letter.
func TestEvents(t *testing.T) {
	list, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		if len(fields) == 3 && fields[0] == "event" && !unicode.IsUpper(rune(fields[2][0])) && !strings.HasPrefix(fields[2], "<") {
			t.Errorf("event %s begins with a small letter: %s", fields[1], fields[2])
		}
	}
}

// collector gathers the messages of one package.
type collector struct {
	consts map[string]string
	lines  map[string]bool
}

func (c collector) read(t *testing.T, folder string) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		ast.Inspect(file, c.constants)
	}
	for _, file := range files {
		ast.Inspect(file, c.literals)
	}
}

// constants records the string constants.
func (c collector) constants(n ast.Node) bool {
	if spec, ok := n.(*ast.ValueSpec); ok {
		for k, value := range spec.Values {
			if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING && k < len(spec.Names) {
				c.consts[spec.Names[k].Name], _ = strconv.Unquote(lit.Value)
			}
		}
	}
	return true
}

// literals records the causes, conditions and events that the source makes.
func (c collector) literals(n ast.Node) bool {
	if call, ok := n.(*ast.CallExpr); ok {
		c.event(call)
	}
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return true
	}
	switch typed := lit.Type.(type) {
	case *ast.ArrayType:
		c.elements(typeName(typed.Elt), lit)
	case *ast.MapType:
		if _, table := typed.Value.(*ast.StructType); table {
			c.elements("Event", lit)
		}
	default:
		c.add(typeName(lit.Type), lit)
	}
	return true
}

// event records a call of an event recorder: the object, a related one, the type, the reason, the action and the note.
func (c collector) event(call *ast.CallExpr) {
	const reason, note = 3, 5
	if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Eventf" || len(call.Args) <= note {
		return
	}
	text := c.form(call.Args[note])
	if text == "%s" && len(call.Args) > note+1 {
		text = c.form(call.Args[note+1])
	}
	if r := c.form(call.Args[reason]); !strings.HasPrefix(r, "<") || !strings.HasPrefix(text, "<") {
		c.lines[fmt.Sprintf("event | %s | %s", r, text)] = true
	}
}

func (c collector) elements(kind string, lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if element, ok := e.(*ast.CompositeLit); ok && element.Type == nil {
			c.add(kind, element)
		}
	}
}

func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.StarExpr:
		return typeName(x.X)
	}
	return ""
}

// add records one literal, if it is a cause, a condition or an event.
func (c collector) add(kind string, lit *ast.CompositeLit) {
	fields := map[string][]string{"Cause": {"Reason", "Message"}, "Condition": {"Type", "Status", "Reason", "Message"}, "Event": {"Reason", "Message"}}[kind]
	if fields == nil || len(lit.Elts) < 2 {
		return
	}
	text := map[string]string{}
	for k, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			text[typeName(pair.Key)] = c.form(pair.Value)
		} else if k < len(fields) {
			text[fields[k]] = c.form(e)
		}
	}
	reason, message := text["Reason"], text["Message"]
	if strings.HasPrefix(reason, "<") && strings.HasPrefix(message, "<") {
		return
	}
	if kind == "Condition" {
		reason = text["Type"] + "=" + text["Status"] + " " + reason
	}
	c.lines[fmt.Sprintf("%s | %s | %s", strings.ToLower(kind), reason, message)] = true
}

// form returns the text of an expression as far as the source has it, with <name> for the rest.
func (c collector) form(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil {
			return text
		}
	case *ast.Ident:
		if text, ok := c.consts[x.Name]; ok {
			return text
		}
		return "<" + x.Name + ">"
	case *ast.SelectorExpr:
		return "<" + x.Sel.Name + ">"
	case *ast.BinaryExpr:
		return c.form(x.X) + c.form(x.Y)
	case *ast.CallExpr:
		if name := typeName(x.Fun); name != "Sprintf" {
			return "<" + name + ">"
		}
		return c.form(x.Args[0])
	}
	return "<...>"
}
