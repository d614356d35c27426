package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// maxFiles and maxMethods bound what a reader opens at once: the files of a package and the methods of a type, without tests.
const (
	maxFiles   = 20
	maxMethods = 30
)

// crowded lists what still exceeds a bound, as "folder" or "folder.Type", with a count that must not grow. The list only shrinks: split
// the package or the type, then remove the row.
var crowded = map[string]int{}

// TestSizesOfRooms holds that packages have at most maxFiles files and types at most maxMethods methods.
func TestSizesOfRooms(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for room, n := range filesAndMethods(t) {
		bound := maxFiles
		if path.Ext(room) != "" {
			bound = maxMethods
		}
		if n <= bound {
			continue
		}
		found[room] = n
		if known, ok := crowded[room]; !ok {
			t.Errorf("%s has %d files or methods, at most %d are allowed: split it by what its parts do", room, n, bound)
		} else if n > known {
			t.Errorf("%s has %d files or methods, and had %d: split it by what its parts do; the count only shrinks", room, n, known)
		}
	}
	for _, room := range slices.Sorted(maps.Keys(crowded)) {
		if found[room] == 0 {
			t.Errorf("%s is listed, but is within its bound or gone: remove it from the list in rooms_test.go", room)
		}
	}
}

// filesAndMethods returns the number of files of each package ("folder") and of methods of each type ("folder.Type").
func filesAndMethods(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, file := range sources(t) {
		folder := path.Dir(file)
		counts[folder]++
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(file)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				counts[folder+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
	}
	return counts
}

// receiver returns the name of the type that a method is declared on.
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
