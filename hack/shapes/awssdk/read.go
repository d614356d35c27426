// Package awssdk reads what services of AWS publish from the sources of its SDK: a service's types, serializers, deserializers, validators
// and schemas.
package awssdk

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// field is one field of a shape as Go sees it.
type field struct {
	name string
	typ  ast.Expr
}

// model is what the SDK's sources say about its shapes.
type model struct {
	// structs by name, in the order of their fields.
	structs map[string][]field
	// enums are the named string types.
	enums map[string]bool
	// request[shape][field] is the name in a request, with a trailing ",member" for a list that is not flat.
	request map[string]map[string]string
	// response[shape][field] is the name in a response; lists hold the name of their items behind ">".
	response map[string]map[string]string
	// items is the name of an item by the function that reads the list.
	items map[string]string
	// routes are method and path of the operations of a service that speaks REST, members the names of all its fields in JSON; both
	// are nil for others.
	routes  map[string]string
	members map[string]bool
}

func readModel(dir string) (*model, error) {
	m := &model{
		structs: map[string][]field{}, enums: map[string]bool{}, items: map[string]string{},
		request: map[string]map[string]string{}, response: map[string]map[string]string{},
	}
	types, err := parse(dir, "types/types.go", "types/enums.go", "api_op_*.go")
	if err != nil {
		return nil, err
	}
	for _, f := range types {
		m.readTypes(f)
	}
	schemas, err := parse(dir, "schemas/*.go")
	if err != nil {
		return nil, err
	}
	for _, f := range schemas {
		m.readSchemas(f)
	}
	wire, err := parse(dir, "serializers.go", "deserializers.go")
	if err != nil {
		return nil, err
	}
	for _, f := range wire {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				m.readItems(fn)
			}
		}
	}
	for _, f := range wire {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				m.readRequest(fn)
				m.readResponse(fn)
			}
		}
	}
	return m, nil
}

func parse(dir string, patterns ...string) ([]*ast.File, error) {
	var files []*ast.File
	for _, p := range patterns {
		paths, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("parse %s: %w", path, err)
			}
			files = append(files, f)
		}
	}
	return files, nil
}

func (m *model) readTypes(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			t, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			switch u := t.Type.(type) {
			case *ast.StructType:
				m.structs[t.Name.Name] = fieldsOf(u)
			case *ast.Ident:
				m.enums[t.Name.Name] = u.Name == "string"
			}
		}
	}
}

func fieldsOf(s *ast.StructType) []field {
	var out []field
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			if n.IsExported() && n.Name != "ResultMetadata" {
				out = append(out, field{n.Name, f.Type})
			}
		}
	}
	return out
}

// readItems notes how a list's items are called, in a request ("member") or a response ("item").
func (m *model) readItems(fn *ast.FuncDecl) {
	name := fn.Name.Name
	switch {
	case strings.Contains(name, "_serializeDocument"):
		each(fn, func(c *ast.CallExpr) {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Array" && len(c.Args) == 1 {
				m.items[name] = literal(c.Args[0])
			}
		})
	case strings.Contains(name, "_deserializeDocument") && sliceParam(fn):
		each(fn, func(c *ast.CallExpr) {
			if lit, ok := equalFold(c); ok {
				m.items[name] = lit
			}
		})
	}
}

// readRequest notes the names that a serializer gives to the fields of its shape.
func (m *model) readRequest(fn *ast.FuncDecl) {
	shape, ok := shapeOf(fn.Name.Name, "_serializeOpDocument", "_serializeDocument")
	if !ok || fn.Body == nil {
		return
	}
	for _, s := range fn.Body.List {
		cond, ok := s.(*ast.IfStmt)
		if !ok {
			continue
		}
		key, target := m.requestKey(cond), member(cond.Cond, "v")
		if key != "" && target != "" {
			put(m.request, shape, target, key)
		}
	}
}

// requestKey is the name under which the statement writes a field, "" where it writes none.
func (m *model) requestKey(s ast.Stmt) string {
	key, list, flat := "", "", false
	each(s, func(c *ast.CallExpr) {
		switch f := c.Fun.(type) {
		case *ast.SelectorExpr:
			if f.Sel.Name == "Key" || f.Sel.Name == "FlatKey" {
				key, flat = literal(c.Args[0]), f.Sel.Name == "FlatKey"
			}
		case *ast.Ident:
			if item, ok := m.items[f.Name]; ok {
				list = item
			}
		}
	})
	if key != "" && list != "" && !flat {
		key += "," + list
	}
	return key
}

// readResponse notes the names under which a deserializer finds the fields of its shape.
func (m *model) readResponse(fn *ast.FuncDecl) {
	shape, ok := shapeOf(fn.Name.Name, "_deserializeOpDocument", "_deserializeDocument")
	if !ok || fn.Body == nil || sliceParam(fn) {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok || len(clause.List) != 1 {
			return true
		}
		call, ok := clause.List[0].(*ast.CallExpr)
		if !ok {
			return true
		}
		name, ok := equalFold(call)
		if !ok {
			return true
		}
		target := member(clause, "sv")
		each(clause, func(c *ast.CallExpr) {
			if f, ok := c.Fun.(*ast.Ident); ok && m.items[f.Name] != "" {
				name += ">" + m.items[f.Name]
			}
		})
		if target != "" {
			put(m.response, shape, target, name)
		}
		return false
	})
}

func put(m map[string]map[string]string, shape, field, name string) {
	if m[shape] == nil {
		m[shape] = map[string]string{}
	}
	m[shape][field] = name
}

// shapeOf cuts the shape's name out of a function's name.
func shapeOf(fn string, marks ...string) (string, bool) {
	for _, mark := range marks {
		if _, shape, ok := strings.Cut(fn, mark); ok {
			return shape, true
		}
	}
	return "", false
}

func each(n ast.Node, visit func(*ast.CallExpr)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			visit(c)
		}
		return true
	})
}

// member is the first field of the variable that is used within the node.
func member(n ast.Node, variable string) string {
	found := ""
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && found == "" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == variable {
				found = s.Sel.Name
			}
		}
		return found == ""
	})
	return found
}

func equalFold(c *ast.CallExpr) (string, bool) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "EqualFold" || len(c.Args) != 2 {
		return "", false
	}
	return literal(c.Args[0]), true
}

func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

// sliceParam reports a function whose first parameter is a pointer to a slice: the reader of a list.
func sliceParam(fn *ast.FuncDecl) bool {
	if fn.Type.Params == nil || len(fn.Type.Params.List) == 0 {
		return false
	}
	p, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	_, ok = p.X.(*ast.ArrayType)
	return ok
}
