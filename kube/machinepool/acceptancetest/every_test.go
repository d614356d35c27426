package acceptancetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rowsKnown is the number of rows of the list of behaviour, letters are the defects that were found.
const rowsKnown = 69

var letters = []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "P", "Q", "R", "Perf"}

// carries matches the name of a test of a row or a defect.
var carries = regexp.MustCompile(`^Test(?:Long)?(Row\d\d|Defect[A-Z][a-z]*)_`)

// TestEveryRowHasATest holds that each row and each defect has a test with its name, in this folder, the one above it or another folder of
// that.
func TestEveryRowHasATest(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if m := carries.FindStringSubmatch(f.Name.Name); m != nil {
				held[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var wanted []string
	for n := range rowsKnown {
		wanted = append(wanted, fmt.Sprintf("Row%02d", n+1))
	}
	for _, letter := range letters {
		wanted = append(wanted, "Defect"+letter)
	}
	for _, name := range wanted {
		if !held[name] {
			t.Errorf("want a test named Test%s_..., found none", name)
		}
		delete(held, name)
	}
	for name := range held {
		t.Errorf("Test%s_...: there is no such row", name)
	}
}
