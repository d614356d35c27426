package imports

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// maxFiles and maxMethods bound what a reader opens at once: the files of a package and the methods of a type, without files of tests.
const (
	maxFiles   = 20
	maxMethods = 30
	// maxLines bounds a file of tests; the linter bounds others.
	maxLines = 600
)

// TestSizesOfRooms holds that packages have at most maxFiles files and types at most maxMethods methods, also in the folder test.
func TestSizesOfRooms(t *testing.T) {
	t.Parallel()
	rooms := filesAndMethods(t)
	if rooms["test/explore/world.World"] == 0 {
		t.Error("want what is in the folder test counted")
	}
	for room, n := range rooms {
		bound := maxFiles
		if path.Ext(room) != "" {
			bound = maxMethods
		}
		if n > bound {
			t.Errorf("%s has %d files or methods, at most %d are allowed: split it by what its parts do", room, n, bound)
		}
	}
}

// TestSizesOfTestFiles holds that files of tests have at most maxLines lines.
func TestSizesOfTestFiles(t *testing.T) {
	t.Parallel()
	root, files := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(d.Name(), "_test.go"):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, at most %d are allowed: split it by what it tests", path, n, maxLines)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("want the files of tests, got %d, %v", files, err)
	}
}

// filesAndMethods returns the number of files of each package ("folder") and of methods of each type ("folder.Type").
func filesAndMethods(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, file := range allSources(t) {
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
