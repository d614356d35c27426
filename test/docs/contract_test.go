package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/pool"
)

const (
	contract = "docs/driver-contract.md"
	adding   = "docs/adding-a-cloud.md"
)

// quoted is whatever stands between backticks on one line.
var quoted = regexp.MustCompile("`([^`\n]+)`")

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// words returns the texts between backticks.
func words(text string) []string {
	var list []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// section returns a document from one heading to the next.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("want a section %q", heading)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return body
}

// Each MUST names clauses of the contract suite that hold it, and no clause is left out.
func TestDriverContractNamesItsClauses(t *testing.T) {
	text := read(t, contract)
	var clauses []string
	for _, c := range cloudtest.Cases[any]() {
		clauses = append(clauses, c.Name)
		if !strings.Contains(text, "`"+c.Name+"`") {
			t.Errorf("no MUST is held by the clause %q", c.Name)
		}
	}
	for _, heading := range []string{"MUST: looking", "MUST: doing", "MUST: errors"} {
		rows := 0
		for line := range strings.Lines(section(t, text, heading)) {
			cells := strings.Split(strings.TrimSpace(line), "|")
			if len(cells) != 5 || strings.Contains(cells[3], "---") || strings.TrimSpace(cells[3]) == "clauses" {
				continue
			}
			rows++
			held := words(cells[3])
			if len(held) == 0 {
				t.Errorf("nothing holds that a driver must %s", cells[1])
			}
			for _, w := range held {
				if !slices.Contains(clauses, w) && !named.MatchString("`"+w+"`") {
					t.Errorf("want a clause or a test, got %q", w)
				}
			}
		}
		if rows == 0 {
			t.Errorf("%s: want rows", heading)
		}
	}
}

// The contract asks about every trait, and lists every step and kind of error.
func TestDriverContractIsComplete(t *testing.T) {
	text := read(t, contract)
	traits := words(section(t, text, "Traits"))
	for _, f := range reflect.VisibleFields(reflect.TypeFor[pool.Traits]()) {
		if !slices.Contains(traits, f.Name) {
			t.Errorf("want a question about the trait %s", f.Name)
		}
	}
	steps := words(section(t, text, "Steps"))
	for _, kind := range constants(t, "pool", "StepKind") {
		if !slices.Contains(steps, kind) {
			t.Errorf("want the step %s listed", kind)
		}
	}
	kinds := words(section(t, text, "MUST: errors"))
	for _, kind := range constants(t, "cloud", "ErrorKind") {
		if !slices.Contains(kinds, kind) {
			t.Errorf("want the kind of error %s listed", kind)
		}
	}
}

// sources returns the files of a package that are no tests.
func sources(t *testing.T, folder string) []*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*ast.File
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// constants returns the constants of a type.
func constants(t *testing.T, folder, kind string) []string {
	t.Helper()
	var list []string
	for _, f := range sources(t, folder) {
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				value := s.(*ast.ValueSpec)
				if is, ok := value.Type.(*ast.Ident); ok && is.Name == kind {
					list = append(list, value.Names[0].Name)
				}
			}
		}
	}
	if len(list) == 0 {
		t.Fatalf("want constants of type %s in %s", kind, folder)
	}
	return list
}

// places are where the packages are that documents name by the last word of their path; versioned ones by the name that imports
// give them.
var places = map[string]string{
	"azurev1": "api/azure/v1beta1", "cloud": "cloud", "cloudtest": "cloud/cloudtest", "common": "api/common", "driverkit": "cloud/driverkit",
	"infrapool": "kube/infrapool",
	"metrics":   "cloud/metrics", "pool": "pool", "providers": "providers", "cache": "cloud/cache", "core": "sim/core",
	"managed": "sim/managed", "fields": "cloud/fields", "refusal": "cloud/wire/refusal", "sim": "sim",
	"trace": "cloud/trace", "upgrade": "pool/upgrade", "wire": "cloud/wire", "world": "local/world",
}

var (
	// identifier is a name in a package.
	identifier = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)(\[S\])?$`)
	// path is a file or a folder of the repository.
	path = regexp.MustCompile(`^(api|cloud|cmd|config|docs|engine|hack|kube|local|manager|pool|providers|sim|test|view)(/[\w.-]+)*$`)
	// target is a target of the Makefile.
	target = regexp.MustCompile(`^make ([a-z]+)( [A-Z]+=\w+)?$`)
)

// TestDriverDocumentsNameWhatExists holds that the folders, files, packages and targets in the two documents for authors of drivers exist.
func TestDriverDocumentsNameWhatExists(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, file := range []string{contract, adding} {
		checked := 0
		for _, w := range words(read(t, file)) {
			switch m := identifier.FindStringSubmatch(w); {
			case named.MatchString("`" + w + "`"):
			case m != nil:
				checked++
				if folder, known := places[m[1]]; !known || !names(t, folder)[m[2]] {
					t.Errorf("%s names %s, which is not declared", file, w)
				}
			case target.MatchString(w):
				checked++
				if name := target.FindStringSubmatch(w)[1]; !strings.Contains(makefile, "\n"+name+":") {
					t.Errorf("%s names a target that does not exist: %s", file, w)
				}
			case path.MatchString(w):
				checked++
				if _, err := os.Stat(filepath.Join(root, w)); err != nil {
					t.Errorf("%s names %s, which does not exist", file, w)
				}
			}
		}
		if checked < 5 {
			t.Errorf("%s: want names that can be checked, got %d", file, checked)
		}
	}
}
