package imports

import (
	"bytes"
	_ "embed" // the figures of large classes
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// class is a type as its callers meet it: with what it embeds of the module, and, for a service, with the parts that embed it.
type class struct {
	methods int
	embeds  []string
}

// largeClasses are the types beyond maxMethods that are still to be divided, each with the most that it may have: its figure is lowered
// when the type becomes smaller.
//
//go:embed testdata/classes.txt
var largeClasses string

// TestSizesOfClasses holds that no type has more than maxMethods methods including its embedded types, and no service including the parts
// that embed it: the methods within reach of a part are those that its reader has to know.
func TestSizesOfClasses(t *testing.T) {
	t.Parallel()
	allowed := map[string]int{}
	for line := range strings.Lines(largeClasses) {
		name, most, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(most)
		if err != nil {
			t.Fatalf("%q: want a type and a number: %v", line, err)
		}
		allowed[name] = n
	}
	sizes := sizesOfClasses(classes(t))
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if n := sizes[name]; n > max(maxMethods, allowed[name]) {
			t.Errorf("%s %d: want at most %d methods, with those of what it embeds and of the parts that embed it: give each part what it uses",
				name, n, max(maxMethods, allowed[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if n := sizes[name]; n < allowed[name] {
			t.Errorf("%s has %d methods: lower its figure in testdata/classes.txt, or remove it", name, n)
		}
	}
}

// sizesOfClasses returns the number of methods of each class.
func sizesOfClasses(all map[string]*class) map[string]int {
	var count func(name string, seen map[string]bool) int
	count = func(name string, seen map[string]bool) int {
		c := all[name]
		if c == nil || seen[name] {
			return 0
		}
		seen[name] = true
		n := c.methods
		for _, e := range c.embeds {
			n += count(e, seen)
		}
		return n
	}
	out := map[string]int{}
	for name := range all {
		out[name] += count(name, map[string]bool{})
		for _, e := range all[name].embeds {
			// An interface that is embedded is no service of parts.
			if all[e] != nil && path.Dir(strings.ReplaceAll(e, ".", "/")) == path.Dir(strings.ReplaceAll(name, ".", "/")) {
				out[e] += all[name].methods
			}
		}
	}
	return out
}

// classes returns the types of the module by "folder.Type".
func classes(t *testing.T) map[string]*class {
	t.Helper()
	out := map[string]*class{}
	of := func(name string) *class {
		if out[name] == nil {
			out[name] = &class{}
		}
		return out[name]
	}
	for _, file := range allSources(t) {
		if strings.HasPrefix(path.Base(file), "zz_") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, bytes.NewReader(text), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s := source{folder: path.Dir(file), imports: importsOf(parsed)}
		for _, decl := range parsed.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					of(s.nameOf(d.Recv.List[0].Type)).methods++
				}
			case *ast.GenDecl:
				for name, embedded := range s.embedded(d) {
					of(name).embeds = embedded
				}
			}
		}
	}
	return out
}
