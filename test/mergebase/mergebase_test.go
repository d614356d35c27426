package mergebase

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository makes a repository with a commit at each of the given ages, the oldest first, and returns its folder and their hashes.
func repository(t *testing.T, ages ...time.Duration) (root string, commits []string) {
	t.Helper()
	root = t.TempDir()
	git(t, root, "init", "--quiet", "--initial-branch=main")
	git(t, root, "config", "user.name", "a")
	git(t, root, "config", "user.email", "a@localhost")
	git(t, root, "config", "commit.gpgsign", "false")
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for k, age := range ages {
		t.Setenv("GIT_COMMITTER_DATE", now.Add(-age).Format(time.RFC3339))
		text := fmt.Appendf(nil, "package a\n\nconst N = %d\n", k)
		for name, content := range map[string][]byte{"a.go": text, "go.mod": []byte("module example\n"),
			"a_test.go": []byte("package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Log(N) }\n")} {
			if err := os.WriteFile(filepath.Join(root, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git(t, root, "add", "-A")
		git(t, root, "commit", "--quiet", "-m", fmt.Sprint(k))
		commits = append(commits, git(t, root, "rev-parse", "HEAD"))
	}
	return root, commits
}

func git(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := Git(t.Context(), root, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCommit(t *testing.T) {
	for _, c := range []struct {
		reason string
		ages   []time.Duration
		// set names the base in the environment, branch makes a branch of that many of the newest commits.
		set, branch, want int
		err               string
	}{
		{"the push before, not the last commit", []time.Duration{9 * time.Hour, 5 * time.Hour, time.Hour, 0}, -1, 0, 1, ""},
		{"a push alone", []time.Duration{2 * time.Hour, time.Hour, 0}, -1, 0, 0, ""},
		{"a workflow names it", []time.Duration{9 * time.Hour, time.Hour, 0}, 1, 0, 1, ""},
		{"a branch left the default branch", []time.Duration{9 * time.Hour, 8 * time.Hour, 7 * time.Hour, 0}, -1, 2, 1, ""},
		{"nothing before", []time.Duration{0}, -1, 0, 0, "has no commit before it"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			root, commits := repository(t, c.ages...)
			t.Setenv(Variable, "")
			if c.set >= 0 {
				t.Setenv(Variable, commits[c.set])
			}
			if c.branch > 0 {
				git(t, root, "update-ref", "refs/remotes/origin/HEAD", commits[len(commits)-1-c.branch])
			}
			got, err := Commit(t.Context(), root)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("want an error with %q, got %v", c.err, err)
				}
				return
			}
			if err != nil || got != commits[c.want] {
				t.Errorf("want commit %d of %v, got %s, %v", c.want, commits, got, err)
			}
		})
	}
}

// The binary is of the sources of the base, and is built once.
func TestBuildTest(t *testing.T) {
	root, commits := repository(t, time.Hour, 0)
	cache := t.TempDir()
	binary, folder, err := BuildTest(t.Context(), root, commits[0], cache, ".")
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(t.Context(), folder, binary, "-test.v")
	if err != nil || !strings.Contains(out, "a_test.go:5: 0") {
		t.Errorf("want the test of the first commit to run, got %q, %v", out, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if again, _, err := BuildTest(t.Context(), root, commits[0], cache, "."); err != nil || again != binary {
		t.Errorf("want the binary that is there, got %q, %v", again, err)
	}
}
