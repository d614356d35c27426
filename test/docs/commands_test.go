package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// goTest and makeTarget are commands in a document, up to the end of the code that holds them.
	goTest     = regexp.MustCompile("go test \\.(?:[^`\n|\\\\]|\\\\.)*")
	makeTarget = regexp.MustCompile("(?m)(?:`|^)make ([a-z][a-z-]+(?:/[a-z]+)?(?: [A-Z_]+=(?:\"[^\"]*\"|[^`\\s]+))*)(?:`|$| *#)")
	// word is an argument as a shell takes it apart.
	word = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`)
)

// goOnly are flags that go itself takes, in which the flags of a test are lost: with -n it prints what it would run, and runs nothing.
var goOnly = []string{"-n", "-x", "-a", "-c"}

// arguments returns the arguments of a command without a comment behind it.
func arguments(command string) []string {
	var out []string
	for _, w := range word.FindAllString(command, -1) {
		if strings.HasPrefix(w, "#") {
			break
		}
		out = append(out, strings.NewReplacer("'", "", `"`, "", `\|`, "|").Replace(w))
	}
	return out
}

// documents returns the texts of all documents with commands, by their path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = string(text)
	}
	return out
}

// TestCommandsRunTests holds that each go test of the documents names packages that exist, and selects tests and flags that they have.
func TestCommandsRunTests(t *testing.T) {
	t.Parallel()
	found := 0
	for file, text := range documents(t) {
		for _, command := range goTest.FindAllString(text, -1) {
			found++
			if why := plays(arguments(strings.TrimPrefix(command, "go test "))); why != "" {
				t.Errorf("%s: %q %s", file, command, why)
			}
		}
	}
	if found < 20 {
		t.Errorf("want the commands of all documents, found %d", found)
	}
}

// plays returns why the arguments of a go test play nothing; empty if they play something.
func plays(args []string) string {
	source, own := "", true
	for _, arg := range args {
		if dir, ok := strings.CutPrefix(arg, "./"); ok && !strings.Contains(arg, "...") {
			source += testsIn(filepath.Join(root, dir))
		}
	}
	whole := slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "...") })
	for k, arg := range args {
		next := ""
		if k+1 < len(args) {
			next = args[k+1]
		}
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "-args":
			own = false
		case own && slices.Contains(goOnly, arg):
			return "runs no test, because " + arg + " is a flag of go itself: put flags of the tests behind -args"
		case !whole && source == "":
			return "names a package without tests"
		case own && (arg == "-run" || arg == "-bench") && next != "^$" && !whole && !selects(source, arg, next):
			return "selects nothing with " + arg + " " + next
		case strings.HasPrefix(arg, "-") && !whole && !slices.Contains(goFlags, name) && !hasFlag(source, strings.TrimLeft(name, "-")):
			return "has " + name + ", which is no flag of its tests"
		}
	}
	return ""
}

// hasFlag reports whether tests declare a flag.
func hasFlag(source, name string) bool {
	return regexp.MustCompile(`\bflag\.\w+\((?:&\w+, )?"` + regexp.QuoteMeta(name) + `"`).MatchString(source)
}

// goFlags are those of go test that documents use.
var goFlags = []string{"-args", "-bench", "-benchmem", "-benchtime", "-count", "-rapid.checks", "-rapid.seed", "-run", "-short", "-timeout",
	"-v"}

// selects reports whether a flag of go test selects a test or a benchmark by its name.
func selects(source, flag, expression string) bool {
	first, _, _ := strings.Cut(expression, "/")
	is, err := regexp.Compile(first)
	kind := map[string]string{"-run": "Test", "-bench": "Benchmark"}[flag]
	return err == nil && slices.ContainsFunc(regexp.MustCompile(`(?m)^func (`+kind+`\w+)\(`).FindAllStringSubmatch(source, -1),
		func(found []string) bool { return is.MatchString(found[1]) })
}

// testsIn returns the tests of a folder, and the flags that they declare.
func testsIn(folder string) string {
	files, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
	out := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			out += string(text)
		}
	}
	return out
}

func TestPlays(t *testing.T) {
	t.Parallel()
	for command, good := range map[string]bool{
		"./test/explore -v -run 'TestExplore$' -kind gke -n 1000":       false,
		"./test/explore -v -run 'TestExplore$' -args -kind gke -n 1000": true,
		"./test/explore -run Replay -v -seed 123":                       true,
		"./test/explore -run 'TestExpl$'":                               false,
		"./test/explore -run TestExplore -args -many 3":                 false,
		"./pool -run 'TestBudgets/NAME' -v":                             true,
		"./pools":                                                       false,
		"./pool/... ./engine/...":                                       true,
		"./test/bench -run '^$' -bench 'Fleet/.*/pools=100$'":           true,
		"./test/bench -run '^$' -bench Ships":                           false,
	} {
		if why := plays(arguments(command)); (why == "") != good {
			t.Errorf("%s: want it to play: %t, got %q", command, good, why)
		}
	}
}

// TestMakeCommands holds that make knows the targets and variables of the documents.
func TestMakeCommands(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for file, text := range documents(t) {
		for _, found := range makeTarget.FindAllStringSubmatch(text, -1) {
			documented[found[1]] = file
		}
	}
	if len(documented) < 20 {
		t.Errorf("want the commands of all documents, found %d", len(documented))
	}
	for command, file := range documented {
		args := arguments(command)
		for _, set := range args[1:] {
			if name, _, _ := strings.Cut(set, "="); !strings.Contains(string(makefile), name) {
				t.Errorf("%s: make %s sets %s, which the Makefile does not name", file, command, name)
			}
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(args[0]) + `:`).Match(makefile) {
			t.Errorf("%s: make %s: there is no such target", file, command)
		}
	}
}
