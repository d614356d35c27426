package mutants

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variable is the name of the environment variable that switches a mutation on.
const Variable = "MUSTER_MUTANT"

// switchFile is added to every package that is mutated.
const switchFile = "zz_mutated.go"

// switchText asks the environment once: passes ask often.
const switchText = `package %s

import (
	"encoding/base64"
	"os"
)

var switchedOn = os.Getenv("` + Variable + `")

func mutated(name string) bool { return name == switchedOn }

func either[T any](mutated bool, wrong, right T) T {
	if mutated {
		return wrong
	}
	return right
}

// plainly returns the decoded end of an encoded text, as for debugging.
func plainly(encoded string) string {
	text, _ := base64.StdEncoding.DecodeString(encoded)
	return string(text[max(0, len(text)-100):])
}
`

// Apply mutates the files below root, and returns them by relative path, with an additional file that switches the mutations. It writes
// nothing.
func Apply(root string, table []Mutation) (map[string][]byte, error) {
	edits := map[string][]Edit{}
	for _, m := range table {
		if err := m.check(); err != nil {
			return nil, err
		}
		edits[m.File] = append(edits[m.File], m.Edits...)
		for _, e := range m.InOtherFiles {
			edits[e.File] = append(edits[e.File], e.Edit)
		}
	}
	files := map[string][]byte{}
	for file, list := range edits {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("read what is to be mutated: %w", err)
		}
		text, err := replaced(string(source), list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if files[file], err = format.Source([]byte(text)); err != nil {
			return nil, fmt.Errorf("%s is no Go any more with its mutations: %w", file, err)
		}
		folder := filepath.Dir(file)
		files[filepath.Join(folder, switchFile)] = fmt.Appendf(nil, switchText, filepath.Base(folder))
	}
	return files, nil
}

// check holds a mutation against itself.
func (m Mutation) check() error {
	ask := "mutated(" + strconv.Quote(m.Name) + ")"
	var wrong []error
	if m.Name == "" || m.What == "" || m.In == "" || len(m.By) == 0 || len(m.Edits) == 0 {
		wrong = append(wrong, errors.New("want a name, what a developer does, a binary, who notices, and an edit"))
	}
	all := slices.Clone(m.Edits)
	for _, e := range m.InOtherFiles {
		all = append(all, e.Edit)
	}
	for _, e := range all {
		if !strings.Contains(e.New, ask) || strings.Count(e.New, "mutated(") != strings.Count(e.New, ask) {
			wrong = append(wrong, fmt.Errorf("want %s and no other switch in %q", ask, e.New))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("mutation %q: %w", m.Name, err)
	}
	return nil
}

// span is an edit at its place.
type span struct {
	Edit
	at int
}

// replaced returns the source with all edits in it. Each old text must be found once, in the source as it is, and no two may
// overlap, so that every mutation stands alone.
func replaced(source string, edits []Edit) (string, error) {
	spans := make([]span, 0, len(edits))
	for _, e := range edits {
		if n := strings.Count(source, e.Old); n != 1 {
			return "", fmt.Errorf("want the text to be mutated once, found it %d times: the code has changed, and the mutation has to follow:\n%s",
				n, e.Old)
		}
		spans = append(spans, span{e, strings.Index(source, e.Old)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	done := 0
	for _, s := range spans {
		if s.at < done {
			return "", fmt.Errorf("two mutations overlap: take fewer lines into\n%s", s.Old)
		}
		out.WriteString(source[done:s.at])
		out.WriteString(s.New)
		done = s.at + len(s.Old)
	}
	out.WriteString(source[done:])
	return out.String(), nil
}

// Built are the binaries with all mutations in them, by what they are.
type Built map[Binary]string

// Build compiles the binaries into dir with all mutations of the table in them, over the sources below root, which stay as
// they are.
func Build(ctx context.Context, root, dir string, table []Mutation, binaries []Binary) (Built, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	overlay, err := overlaid(root, dir, table)
	if err != nil {
		return nil, err
	}
	built := Built{}
	for n, list := range apart(binaries) {
		to := filepath.Join(dir, "bin"+strconv.Itoa(n))
		if err := os.Mkdir(to, 0o755); err != nil {
			return nil, fmt.Errorf("build the mutants: %w", err)
		}
		args := []string{"test", "-c", "-overlay", overlay, "-o", to + string(filepath.Separator)}
		for _, in := range list {
			built[in] = filepath.Join(to, filepath.Base(string(in))+".test")
			args = append(args, "./"+string(in))
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the mutants: %w\n%s", err, out)
		}
	}
	return built, nil
}

// apart returns the binaries in lists in which no two folders have the same last name: their files would too.
func apart(binaries []Binary) (lists [][]Binary) {
	same := map[string]int{}
	for _, in := range binaries {
		name := filepath.Base(string(in))
		if n := same[name]; n < len(lists) {
			lists[n] = append(lists[n], in)
		} else {
			lists = append(lists, []Binary{in})
		}
		same[name]++
	}
	return lists
}

// overlaid writes the mutated files into dir, and an overlay file for the compiler.
func overlaid(root, dir string, table []Mutation) (string, error) {
	files, err := Apply(root, table)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range files {
		at := filepath.Join(dir, "src", file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return "", fmt.Errorf("write the mutants: %w", err)
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			return "", fmt.Errorf("write the mutants: %w", err)
		}
		replace[filepath.Join(root, file)] = at
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return overlay, nil
}
