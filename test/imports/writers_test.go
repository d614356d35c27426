package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestStepsAreWriters holds that the methods in a driver's table of steps are declared by its writer: what a reader has can be called by
// Observe, which changes nothing in a cloud.
func TestStepsAreWriters(t *testing.T) {
	t.Parallel()
	methods, steps := map[string]bool{}, map[string]token.Position{}
	drivers := map[string]bool{}
	for _, file := range allSources(t) {
		if !strings.HasPrefix(file, "cloud/") {
			continue
		}
		folder, files := path.Dir(file), token.NewFileSet()
		parsed, err := parser.ParseFile(files, filepath.Join("..", "..", filepath.FromSlash(file)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[folder+"."+receiver(n.Recv.List[0].Type)+"."+n.Name.Name] = true
				}
			case *ast.CompositeLit:
				of, isTable := stepsOf(n.Type)
				if !isTable {
					return true
				}
				drivers[folder] = true
				if of != "writer" {
					t.Errorf("%s: want the table of steps to be of the type writer, got %s", files.Position(n.Pos()), of)
				}
				for _, element := range n.Elts {
					if is, ok := element.(*ast.KeyValueExpr).Value.(*ast.SelectorExpr); ok {
						steps[folder+".writer."+is.Sel.Name] = files.Position(is.Pos())
					}
				}
			}
			return true
		})
	}
	if len(drivers) < 6 || len(steps) < 40 {
		t.Fatalf("want the tables of all drivers, got %d with %d methods", len(drivers), len(steps))
	}
	for step, at := range steps {
		if !methods[step] {
			t.Errorf("%s: want the writer to declare the step itself, and not what it reads with: %s", at, step)
		}
	}
}

// stepsOf returns the name of the type that a table of steps is for.
func stepsOf(table ast.Expr) (of string, ok bool) {
	index, ok := table.(*ast.IndexExpr)
	if !ok {
		return "", false
	}
	if is, ok := index.X.(*ast.SelectorExpr); !ok || is.Sel.Name != "Steps" {
		return "", false
	}
	return receiver(index.Index), true
}
