package imports

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gathering are the functions that set the facts of a pass, by package: those with a parameter of a type, or of a name.
var gathering = []struct{ dir, param, function string }{
	{dir: "kube/machinepool", param: "gathering"},
	{dir: "kube/infrapool", function: "gatherFacts"},
}

// TestFactsAreGatheredOnce holds that nothing but their gathering changes the facts of a pass, and that only it gets a pointer to them.
func TestFactsAreGatheredOnce(t *testing.T) {
	t.Parallel()
	for _, g := range gathering {
		set := token.NewFileSet()
		gathers, checked := 0, 0
		for _, d := range declarations(t, set, g.dir) {
			if fn, is := d.(*ast.FuncDecl); is && (fn.Name.Name == g.function || pointsTo(fn.Type, g.param)) {
				if len(changesOfFacts(d)) > 0 || g.function != "" {
					gathers++
				}
				continue
			}
			checked++
			for _, at := range changesOfFacts(d) {
				t.Errorf("%s: the facts are changed outside of their gathering", set.Position(at))
			}
		}
		if gathers == 0 || checked == 0 {
			t.Errorf("%s: want functions that gather facts and others, got %d and %d", g.dir, gathers, checked)
		}
	}
}

// TestChangesOfFactsAreFound holds that every way to change a field of facts is found.
func TestChangesOfFactsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"p.facts.status.Paused = x": 1, "p.facts = facts{}": 1, "a, p.facts.now = b, c": 1, "p.facts.n++": 1, "p.facts.text += x": 1,
		"p.facts.list[0] = x": 1, "f := &p.facts": 1, "f := &p.facts.status": 1, "func(f *facts) {}(nil)": 1, "var f *facts[S]": 1,
		"f := p.facts": 0, "p.did.outcome = p.facts.x": 0, "call(p.facts)": 0, "(*p.facts.failure).Message = x": 1,
		"f := p.facts; f.list[0].Name = x": 1, "switch f := p.facts; { case true: f.n++ }": 1, "func(f facts) { f.now = x }(y)": 1,
		"delete(p.facts.names, k)": 1, "f := p.facts; slices.DeleteFunc(f.list, is)": 1, "f := p.facts; f = other": 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := changesOfFacts(f.Decls[0]); len(got) != want {
			t.Errorf("%s: want %d changes, got %d", text, want, len(got))
		}
	}
}

// declarations returns what the files of a package declare, without its tests.
func declarations(t *testing.T, set *token.FileSet, dir string) (all []ast.Decl) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, parseErr := parser.ParseFile(set, path, nil, 0)
		if err = errors.Join(err, parseErr); parseErr == nil {
			all = append(all, f.Decls...)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pointsTo reports whether a function has a parameter that is a pointer to a type.
func pointsTo(fn *ast.FuncType, name string) bool {
	return slices.ContainsFunc(fn.Params.List, func(p *ast.Field) bool {
		star, is := p.Type.(*ast.StarExpr)
		return is && name != "" && typeName(star.X) == name
	})
}

// typeName returns the name of a type without its type parameters, empty if it is of another package or has no name.
func typeName(e ast.Expr) string {
	if generic, is := e.(*ast.IndexExpr); is {
		e = generic.X
	}
	if id, is := e.(*ast.Ident); is {
		return id.Name
	}
	return ""
}

// changesOfFacts returns where a declaration assigns to a field of facts, takes the address of one, changes a map or a slice of them, or
// names a type of pointers to facts.
func changesOfFacts(d ast.Decl) (all []token.Pos) {
	names := namesOfFacts(d)
	ast.Inspect(d, func(n ast.Node) bool {
		var changed []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			changed = n.Lhs
		case *ast.IncDecStmt:
			changed = []ast.Expr{n.X}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				changed = []ast.Expr{n.X}
			}
		case *ast.CallExpr:
			if changesFirst(n) {
				changed = n.Args[:1]
			}
		case *ast.StarExpr:
			if typeName(n.X) == "facts" {
				all = append(all, n.Pos())
			}
		}
		for _, e := range changed {
			if ofFacts(e, names) {
				all = append(all, e.Pos())
			}
		}
		return true
	})
	return all
}

// namesOfFacts returns the names by which a declaration has facts: parameters of the type, and variables that are set to a field of facts.
func namesOfFacts(d ast.Decl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				names[name.Name] = names[name.Name] || typeName(n.Type) == "facts"
			}
		case *ast.AssignStmt:
			for k, to := range n.Lhs {
				if name, is := to.(*ast.Ident); is && len(n.Lhs) == len(n.Rhs) && ofFacts(n.Rhs[k], nil) {
					names[name.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// changesFirst reports whether a call changes its first argument in place.
func changesFirst(call *ast.CallExpr) bool {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	changing := []string{"delete", "clear", "DeleteFunc", "Delete", "Compact", "Reverse", "Sort", "SortFunc", "SortStableFunc"}
	return len(call.Args) > 0 && slices.Contains(changing, name)
}

// ofFacts reports whether an expression refers to a field called facts, to a part of one, or to either through a name.
func ofFacts(e ast.Expr, names map[string]bool) bool {
	within := func(e ast.Expr) bool {
		id, is := e.(*ast.Ident)
		return is && names[id.Name] || ofFacts(e, names)
	}
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name == "facts" || within(e.X)
	case *ast.IndexExpr:
		return within(e.X)
	case *ast.StarExpr:
		return within(e.X)
	case *ast.ParenExpr:
		return within(e.X)
	default:
		return false
	}
}
