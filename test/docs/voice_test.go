package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// oldVoice are words that name no actor, but for the names in addresses. docs/glossary.md and CONTRIBUTING.md have the words to use.
var oldVoice = regexp.MustCompile(`(?i)\b(somebody|nobody|whoever|he who|says that|of ours|told of)\b(?:[^@]|$)`)

// TestVoice holds that comments, strings, pages and scripts name the actor, in tests too.
func TestVoice(t *testing.T) {
	found, first := map[string]int{}, map[string]string{}
	note := func(file, text string) {
		folder, _, _ := strings.Cut(file, "/")
		for _, word := range oldVoice.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			found[folder]++
			if first[folder] == "" {
				first[folder] = file + ": " + strings.TrimSpace(word)
			}
		}
	}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case filepath.Ext(file) == ".md" || filepath.Ext(file) == ".sh" || d.Name() == "Makefile":
			text, err := fs.ReadFile(files, file)
			note(file, string(text))
			return err
		case filepath.Ext(file) == ".go" && file != "test/docs/voice_test.go": // which lists the words
			return goTexts(files, file, note)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range found {
		t.Errorf("%s has %d words of the old voice (%s): name the user, the cloud or the controller instead", folder, n, first[folder])
	}
}

// parsedGo returns the syntax of a Go file, with its comments.
func parsedGo(files fs.FS, file string) (*ast.File, error) {
	src, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	return parser.ParseFile(token.NewFileSet(), file, src, parser.ParseComments|parser.SkipObjectResolution)
}

// goTexts hands over the comments and the string literals of a file.
func goTexts(files fs.FS, file string, note func(file, text string)) error {
	parsed, err := parsedGo(files, file)
	if err != nil {
		return err
	}
	for _, c := range parsed.Comments {
		note(file, c.Text())
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				note(file, text)
			}
		}
		return true
	})
	return nil
}
