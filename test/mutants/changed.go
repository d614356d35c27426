package mutants

import (
	"path"
	"slices"
	"strings"
)

// Changed returns the mutations whose source, or whose tests, are among the changed files, paths from the root of the module: at most
// limit of them to run, and the rest. Those whose source changed come before those of which only tests changed. Within either the files
// that are mutated take turns, so that a change of many tests runs mutations of many packages.
func Changed(table []Mutation, files []string, limit int) (run, rest []Mutation) {
	var sources, tests []Mutation
	for _, m := range table {
		switch {
		case slices.ContainsFunc(files, m.changes):
			sources = append(sources, m)
		case slices.ContainsFunc(files, m.testedBy):
			tests = append(tests, m)
		}
	}
	selected := append(inTurns(sources), inTurns(tests)...)
	n := min(limit, len(selected))
	return selected[:n], selected[n:]
}

// inTurns returns the first mutation of each file, then the second of each, and so on.
func inTurns(list []Mutation) []Mutation {
	var turns [][]Mutation
	of := map[string]int{}
	for _, m := range list {
		turn := of[m.File]
		of[m.File]++
		if turn == len(turns) {
			turns = append(turns, nil)
		}
		turns[turn] = append(turns[turn], m)
	}
	return slices.Concat(turns...)
}

// changes reports whether the mutation is made in the file.
func (m Mutation) changes(file string) bool {
	return file == m.File || slices.ContainsFunc(m.InOtherFiles, func(e EditIn) bool { return e.File == file })
}

// contracts is the folder of the suite that the drivers' tests of this name run.
const contracts, contractTest = "cloud/cloudtest/", "TestContract"

// testedBy reports whether the file is one of the tests that the mutation runs with. All of the exploration is a test, and so is the
// contract suite to the drivers.
func (m Mutation) testedBy(file string) bool {
	if m.In == Explore {
		return strings.HasPrefix(file, string(Explore)+"/") && strings.HasSuffix(file, ".go")
	}
	if strings.HasPrefix(file, contracts) && strings.HasSuffix(file, ".go") {
		return slices.Contains(m.By, contractTest)
	}
	return path.Dir(file) == string(m.In) && strings.HasSuffix(file, "_test.go")
}
