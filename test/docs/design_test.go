package docs

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// records are the pages that explain decisions, architecture is the page that explains how the parts fit together.
const (
	records      = "docs/design"
	architecture = "docs/architecture.md"
)

var (
	// member is a name in a package, or a field or method of a type in it. The package is named by its folder or as in places.
	member = regexp.MustCompile(`^([a-z][a-z0-9/]*)\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)?)$`)
	// exported matches the name of an exported identifier.
	exported = regexp.MustCompile(`^[A-Z]`)
)

// texts are the endings of files that the pages name.
var texts = []string{".md", ".yaml", ".go"}

// standard are the packages of the standard library that the pages name.
var standard = []string{"time"}

// folderOf returns the folder of a package that a page names; empty if it is not known.
func folderOf(pkg string) string {
	if folder, known := places[pkg]; known {
		return folder
	}
	if files, err := filepath.Glob(filepath.Join(root, pkg, "*.go")); err != nil || len(files) == 0 {
		return ""
	}
	return pkg
}

// names returns what a package declares: the names of the package, and the fields and methods of its types as Type.Member.
func names(t *testing.T, folder string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, f := range sources(t, folder) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				out[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					addSpec(out, s)
				}
			}
		}
	}
	return out
}

// receiver returns the type of a method, with the dot behind it; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	switch is := of.(type) {
	case *ast.IndexExpr:
		of = is.X
	case *ast.IndexListExpr:
		of = is.X
	}
	return of.(*ast.Ident).Name + "."
}

// addSpec adds what a declaration declares.
func addSpec(out map[string]bool, s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			out[n.Name] = true
		}
	case *ast.TypeSpec:
		out[s.Name.Name] = true
		var fields []*ast.Field
		switch is := s.Type.(type) {
		case *ast.StructType:
			fields = is.Fields.List
		case *ast.InterfaceType:
			fields = is.Methods.List
		}
		for _, f := range fields {
			for _, n := range f.Names {
				out[s.Name.Name+"."+n.Name] = true
			}
		}
	}
}

// missing returns why what a page has between backticks does not exist; empty if it exists, or is no package, identifier or file.
func missing(t *testing.T, word string) string {
	t.Helper()
	if named.MatchString("`" + word + "`") {
		return "" // TestDocumentsNameWhatExists looks for tests
	}
	m := member.FindStringSubmatch(word)
	switch {
	case path.MatchString(word) && (m == nil || slices.Contains(texts, filepath.Ext(word))):
		if _, err := os.Stat(filepath.Join(root, word)); err != nil {
			return "there is no such file or folder"
		}
	case m == nil, slices.Contains(standard, m[1]):
	case folderOf(m[1]) == "":
		if exported.MatchString(m[2]) || strings.Contains(m[1], "/") {
			return "there is no such package"
		}
	case !names(t, folderOf(m[1]))[m[2]]:
		return "the package does not declare it"
	}
	return ""
}

// designPages returns the records and the page of the architecture.
func designPages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, records, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{architecture}
	for _, file := range files {
		pages = append(pages, records+"/"+filepath.Base(file))
	}
	return pages
}

// TestDesignNamesWhatExists holds that the packages, identifiers and files that the records and the architecture name exist.
func TestDesignNamesWhatExists(t *testing.T) {
	t.Parallel()
	for _, page := range designPages(t) {
		checked := 0
		for _, w := range words(read(t, page)) {
			if why := missing(t, w); why != "" {
				t.Errorf("%s names %s: %s", page, w, why)
			}
			if member.MatchString(w) || path.MatchString(w) {
				checked++
			}
		}
		if checked == 0 {
			t.Errorf("%s: want names that can be checked", page)
		}
	}
}

// TestMissingFindsWhatDoesNotExist holds that the check can fail.
func TestMissingFindsWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	for word, exists := range map[string]bool{
		"pool.Decide": true, "pool.Decided": false, "pool.Traits.RecordsSurge": true, "pool.Traits.RecordsNothing": false,
		"cloud/sweep.Sweep.Get": true, "cloud/sweep.Sweep.Got": false, "cloud/swept.Sweep": false, "cloud/sweep": true, "cloud/swept": false,
		"cloud.Driver.Observe": true, "swept.Sweep": false, "spec.providerID": true, "time.Sleep": true, "docs/nothing.md": false,
	} {
		if got := missing(t, word) == ""; got != exists {
			t.Errorf("%s: want it to exist: %t, got %t", word, exists, got)
		}
	}
}

// TestRecordsHaveOneForm holds that each record has the same headings and fits a page, and that the index names it.
func TestRecordsHaveOneForm(t *testing.T) {
	t.Parallel()
	index := read(t, records+"/README.md")
	for _, page := range designPages(t) {
		name := filepath.Base(page)
		if page == architecture || name == "README.md" {
			continue
		}
		text := read(t, page)
		var headings []string
		for line := range strings.Lines(text) {
			if heading, is := strings.CutPrefix(line, "## "); is {
				headings = append(headings, strings.TrimSpace(heading))
			}
		}
		if want := []string{"Context", "Alternatives", "Decision", "Consequences", "In the code"}; !slices.Equal(headings, want) {
			t.Errorf("%s: want the headings %q, got %q", page, want, headings)
		}
		if n := strings.Count(text, "\n"); n < 40 || n > 90 {
			t.Errorf("%s: want 40 to 90 lines, got %d", page, n)
		}
		if !named.MatchString(section(t, text, "In the code")) {
			t.Errorf("%s: want the tests that hold the decision", page)
		}
		if !strings.Contains(index, "]("+name+")") {
			t.Errorf("%s/README.md does not name %s", records, name)
		}
	}
}
