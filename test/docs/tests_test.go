package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root of the repository.
const root = "../.."

var (
	// named is a test as a document names it: its folder and its name.
	named = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Benchmark|Fuzz)[A-Za-z0-9_]*)`")
	// link matches a link to a file in the folder of a document.
	link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// exists reports whether a folder has a test of that name.
func exists(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "\nfunc "+test+"(")
	})
}

// Every requirement of the proposal has a row in the table, and each row names tests that exist.
func TestRequirementsAreShownByTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/launch-templates.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = cells[3]
		}
	}
	for _, want := range []string{"FR1", "FR2", "FR3", "FR4", "FR5", "FR6", "FR7", "NFR1", "NFR2", "NFR3", "NFR4", "Story 1", "Story 2",
		"Story 3", "Story 4", "Story 5"} {
		if !named.MatchString(rows[want]) {
			t.Errorf("%s: want a row that names tests, got %q", want, rows[want])
		}
	}
}

// TestDocumentsNameWhatExists holds that the tests that documents name, by folder and name, and the files that they link to, exist.
func TestDocumentsNameWhatExists(t *testing.T) {
	var files []string
	for _, pattern := range []string{"docs/*.md", "docs/design/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("want documents %s, got none: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		files = append(files, filepath.Join(root, name))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			if !exists(t, m[1], m[2]) {
				t.Errorf("%s names a test that does not exist: %s in %s", file, m[2], m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to a file that does not exist: %s", file, m[1])
			}
		}
	}
}

// The index names every document.
func TestIndexIsComplete(t *testing.T) {
	index := read(t, "docs/README.md")
	files, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}
