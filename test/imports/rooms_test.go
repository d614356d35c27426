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

// maxFiles, maxPackageLines and maxMethods bound what a reader opens at once: the files and lines of a package and the methods of a type,
// without files of tests.
const (
	maxFiles        = 30
	maxPackageLines = 5000
	maxMethods      = 30
	// maxLines bounds a file of tests, maxTestLines a test's function; the linter bounds others.
	maxLines     = 600
	maxTestLines = 100
)

// TestSizesOfRooms holds that packages have at most maxFiles files and maxPackageLines lines, and types at most maxMethods methods, also in
// the folder test.
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

// TestLinesOfPackages holds that packages have at most maxPackageLines lines.
func TestLinesOfPackages(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	for _, file := range allSources(t) {
		if strings.HasPrefix(path.Base(file), "zz_") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		lines[path.Dir(file)] += bytes.Count(text, []byte("\n"))
	}
	for folder, n := range lines {
		if n > maxPackageLines {
			t.Errorf("%s has %d lines, at most %d are allowed: split it by what its parts do", folder, n, maxPackageLines)
		}
	}
}

// TestSizesOfTests holds that files of tests have at most maxLines lines, and tests at most maxTestLines.
func TestSizesOfTests(t *testing.T) {
	t.Parallel()
	root, tests := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(d.Name(), "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, at most %d are allowed: split it by what it tests", path, n, maxLines)
		}
		of, err := linesOfTests(path, text)
		for name, n := range of {
			tests++
			if n > maxTestLines {
				t.Errorf("%s: %s has %d lines, at most %d are allowed: name its table, or split it by what it tests", path, name, n, maxTestLines)
			}
		}
		return err
	})
	if err != nil || tests == 0 {
		t.Fatalf("want the tests, got %d, %v", tests, err)
	}
}

// linesOfTests returns the number of lines in the body of each test of a file, by its name.
func linesOfTests(path string, text []byte) (map[string]int, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			lines[f.Name.Name] = files.Position(f.Body.Rbrace).Line - files.Position(f.Body.Lbrace).Line - 1
		}
	}
	return lines, nil
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
