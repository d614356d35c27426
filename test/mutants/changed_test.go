package mutants

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/mergebase"
)

// The limits of TestMutantsOfChangedFiles, which keep verify short: the number of mutations, and the time in which they begin once they are
// built. The others are listed.
const (
	mostChanged     = 12
	patienceChanged = 2 * time.Minute
)

// TestMutantsOfChangedFiles runs the mutations whose source or tests the branch changes. Those of cheap binaries run in TestLongMutants.
func TestMutantsOfChangedFiles(t *testing.T) {
	if !*changed {
		t.Skip("make mutants-changed runs it")
	}
	base, files, err := changedFiles(t.Context())
	if err != nil {
		t.Skipf("no mutation runs, for what the branch changes is not known: %v", err)
	}
	beyond := slices.DeleteFunc(Table(), func(m Mutation) bool { return slices.Contains(cheap, m.In) })
	run, rest := Changed(beyond, files, mostChanged)
	t.Logf("%d files differ from %s, with %d mutations in them or noticed by them; run: %s", len(files), base, len(run)+len(rest), names(run))
	if len(run) == 0 {
		return
	}
	_, late := runAll(t, run, patienceChanged)
	if rest = append(late, rest...); len(rest) > 0 {
		t.Logf("%d were left out, beyond %d mutations or %s; make mutants runs them: %s", len(rest), mostChanged, patienceChanged, names(rest))
	}
}

// changedFiles returns the files, from the root of the module, that differ from the commit that the branch comes from, and that commit.
// It fails without git, outside a repository, and where the history does not reach that commit.
func changedFiles(ctx context.Context) (base string, files []string, err error) {
	switch prefix, err := mergebase.Git(ctx, root, "rev-parse", "--show-prefix"); {
	case err != nil:
		return "", nil, err
	case prefix != "":
		return "", nil, fmt.Errorf("want the root of a repository, got folder %q of one", prefix)
	}
	if base, err = mergebase.Commit(ctx, root); err != nil {
		return "", nil, err
	}
	tracked, err := mergebase.Git(ctx, root, "diff", "--name-only", base)
	if err != nil {
		return "", nil, err
	}
	untracked, err := mergebase.Git(ctx, root, "ls-files", "--others", "--exclude-standard")
	return base, strings.Fields(tracked + "\n" + untracked), err
}

// names returns the quoted names of mutations, with commas between them.
func names(table []Mutation) string {
	var quoted []string
	for _, m := range table {
		quoted = append(quoted, fmt.Sprintf("%q", m.Name))
	}
	return strings.Join(quoted, ", ")
}

// TestChanged holds which mutations a change selects, and in which order.
func TestChanged(t *testing.T) {
	t.Parallel()
	table := []Mutation{
		{Name: "a1", File: "cloud/a/a.go", In: Explore},
		{Name: "a2", File: "cloud/a/a.go", In: "cloud/a"},
		{Name: "a3", File: "cloud/a/a.go", In: "cloud/a"},
		{Name: "b1", File: "cloud/b/b.go", In: "cloud/b", InOtherFiles: []EditIn{{File: "cloud/b/c.go"}}},
		{Name: "b2", File: "cloud/b/b.go", In: Explore},
		{Name: "c1", File: "cloud/c/c.go", In: "cloud/c", By: []string{"TestContract"}},
	}
	for _, c := range []struct {
		reason     string
		files      []string
		limit      int
		want, left string
	}{
		{"nothing changed", nil, 9, "", ""},
		{"the file of a row", []string{"cloud/b/b.go"}, 9, `"b1", "b2"`, ""},
		{"the other file of a row", []string{"cloud/b/c.go"}, 9, `"b1"`, ""},
		{"a file without a row", []string{"cloud/b/d.go", "cloud/a.go", "docs/a.md"}, 9, "", ""},
		{"tests of the package that runs it, not of the one that it is made in", []string{"cloud/a/x_test.go"}, 9, `"a2", "a3"`, ""},
		{"tests of a package below", []string{"cloud/a/below/x_test.go"}, 9, "", ""},
		{"what is in the exploration and no test file", []string{"test/explore/oracle/removal.go"}, 9, `"a1", "b2"`, ""},
		{"the suite that a driver's test runs", []string{"cloud/cloudtest/steps.go"}, 9, `"c1"`, ""},
		{"data of the exploration", []string{"test/explore/doc.md"}, 9, "", ""},
		{"a file and its tests: one run each", []string{"cloud/a/x_test.go", "cloud/a/a.go"}, 9, `"a1", "a2", "a3"`, ""},
		{"files take turns", []string{"cloud/a/a.go", "cloud/b/b.go"}, 9, `"a1", "b1", "a2", "b2", "a3"`, ""},
		{"sources before tests", []string{"cloud/a/x_test.go", "cloud/b/b.go"}, 3, `"b1", "b2", "a2"`, `"a3"`},
		{"beyond the limit", []string{"cloud/a/a.go", "cloud/b/b.go"}, 2, `"a1", "b1"`, `"a2", "b2", "a3"`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			run, rest := Changed(table, c.files, c.limit)
			if names(run) != c.want || names(rest) != c.left {
				t.Errorf("want %s to run and %s left, got %s and %s", c.want, c.left, names(run), names(rest))
			}
		})
	}
}
