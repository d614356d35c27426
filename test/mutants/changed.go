package mutants

import (
	"path"
	"slices"
	"strings"
)

// Changed returns the mutations whose source, or whose tests, are among the changed files, paths from the root of the module: at most
// limit of them to run, and the rest. Those whose source changed come before those of which only tests changed, and within either the
// changed files take turns, so that a change of many files runs a mutation of each as far as the limit allows.
func Changed(table []Mutation, files []string, limit int) (run, rest []Mutation) {
	var selected []Mutation
	chosen := map[string]bool{}
	for _, touches := range []func(Mutation, string) bool{Mutation.changes, Mutation.testedBy} {
		selected = append(selected, inTurns(table, files, touches, chosen)...)
	}
	n := min(limit, len(selected))
	return selected[:n], selected[n:]
}

// inTurns returns the mutations that a changed file touches, without those chosen already, which it adds to: the first of each file, then
// the second of each, and so on.
func inTurns(table []Mutation, files []string, touches func(Mutation, string) bool, chosen map[string]bool) []Mutation {
	var turns [][]Mutation
	for _, file := range files {
		turn := 0
		for _, m := range table {
			if chosen[m.Name] || !touches(m, file) {
				continue
			}
			chosen[m.Name] = true
			if turn == len(turns) {
				turns = append(turns, nil)
			}
			turns[turn] = append(turns[turn], m)
			turn++
		}
	}
	return slices.Concat(turns...)
}

// changes reports whether the mutation is made in the file.
func (m Mutation) changes(file string) bool {
	return file == m.File || slices.ContainsFunc(m.Beside, func(e EditIn) bool { return e.File == file })
}

// testedBy reports whether the file is one of the tests that the mutation runs with. All of the exploration is a test.
func (m Mutation) testedBy(file string) bool {
	if m.In == Explore {
		return strings.HasPrefix(file, string(Explore)+"/") && strings.HasSuffix(file, ".go")
	}
	return path.Dir(file) == string(m.In) && strings.HasSuffix(file, "_test.go")
}
