package explore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/test/mergebase"
)

// rotates is true if the commit selects the scenarios, and not a flag.
var rotates bool

// cacheVariable names the folder in which a run of CI keeps the exploration of the merge base, and the list of what was found and not
// caused. Without it every violation fails its test.
const cacheVariable = "MUSTER_BASE_CACHE"

// foundFile is the list in that folder, a line each.
const foundFile = "found-not-caused"

// findings are the violations of one test whose scenarios the commit chose. A defect that the merge base has too is reported and fails no
// test: the next commit plays other scenarios, and the branch did not bring it.
type findings struct {
	// run and seed are the flags by which the binary of the merge base plays the same, replay is the command for people.
	run    string
	seed   uint64
	replay string
	texts  []string
}

// findingsOf returns no findings yet of a test that plays what the first seed chooses.
func findingsOf(t *testing.T) *findings {
	t.Helper()
	parts := strings.Split(t.Name(), "/")
	for k, part := range parts {
		parts[k] = "^" + regexp.QuoteMeta(part) + "$"
	}
	run := strings.Join(parts, "/")
	replay := fmt.Sprintf("go test ./test/explore -run '%s' -seed %d", run, *first)
	if *extras {
		replay += " -extra"
	}
	return &findings{run: run, seed: *first, replay: replay}
}

func (f *findings) add(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

// report fails the test if there are findings, unless the merge base has them too.
func (f *findings) report(t *testing.T) {
	t.Helper()
	if len(f.texts) == 0 {
		return
	}
	text := strings.Join(f.texts, "\n")
	cache := os.Getenv(cacheVariable)
	if !rotates || cache == "" {
		t.Errorf("%s\nreplay with: %s", text, f.replay)
		return
	}
	older, err := onBase.fails(t.Context(), cache, f)
	switch {
	case err != nil:
		t.Errorf("%s\nreplay with: %s\nwhether the merge base has it is not known: %v", text, f.replay, err)
	case !older:
		t.Errorf("%s\nreplay with: %s\nthe merge base passes", text, f.replay)
	default:
		first, _, _ := strings.Cut(f.texts[0], "\n")
		t.Logf("found, not caused, for the merge base fails too: %s\nreplay with: %s", text, f.replay)
		if err := note(cache, fmt.Sprintf("found, not caused: %s; replay with: %s", first, f.replay)); err != nil {
			t.Error(err)
		}
	}
}

// note adds a line to the list of what was found.
func note(cache, line string) error {
	file, err := os.OpenFile(filepath.Join(cache, foundFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("note what was found: %w", err)
	}
	if _, err := fmt.Fprintln(file, line); err != nil {
		_ = file.Close()
		return fmt.Errorf("note what was found: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("note what was found: %w", err)
	}
	return nil
}

// onBase is the exploration of the merge base. It is built when it is first needed, and plays one finding at a time.
var onBase base

// basePatience bounds a run of the merge base's exploration, mostJudged how many there are: what fails more often is no old defect.
const (
	basePatience = 3 * time.Minute
	maxReplays   = 8
)

type base struct {
	sync.Mutex
	binary, folder string
	replays        int
}

// fails reports whether the exploration of the merge base fails where this one did. It is an error if it can't be built or does not know
// the test.
func (b *base) fails(ctx context.Context, cache string, f *findings) (bool, error) {
	b.Lock()
	defer b.Unlock()
	if b.replays++; b.replays > maxReplays {
		return false, fmt.Errorf("more than %d findings", maxReplays)
	}
	const root = "../.."
	if b.binary == "" {
		commit, err := mergebase.Commit(ctx, root)
		if err != nil {
			return false, err
		}
		if b.binary, b.folder, err = mergebase.BuildTest(ctx, root, commit, cache, "test/explore"); err != nil {
			return false, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, basePatience)
	defer cancel()
	args := []string{"-test.v", "-test.run", f.run, "-seed", strconv.FormatUint(f.seed, 10)}
	if *kind != "" {
		args = append(args, "-kind", *kind)
	}
	if *extras {
		args = append(args, "-extra")
	}
	cmd := exec.CommandContext(ctx, b.binary, args...)
	cmd.Dir = b.folder
	out, err := cmd.CombinedOutput()
	return failed(string(out), err)
}

// failed reads the output of the merge base's exploration.
func failed(out string, err error) (bool, error) {
	switch {
	case strings.Contains(out, "--- FAIL: "):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("run the exploration of the merge base: %w\n%s", err, out[max(0, len(out)-2000):])
	case !strings.Contains(out, "--- PASS: "):
		return false, fmt.Errorf("the exploration of the merge base has no such test")
	}
	return false, nil
}

func TestFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, out string
		err         error
		want, known bool
	}{
		{"the merge base fails too", "=== RUN TestReplay\n--- FAIL: TestReplay (0.10s)\nFAIL\n", &exec.ExitError{}, true, true},
		{"the branch brought it", "--- PASS: TestReplay (0.10s)\nPASS\n", nil, false, true},
		{"the merge base lacks the test", "testing: warning: no tests to run\nPASS\n", nil, false, false},
		{"the test is left out there", "--- SKIP: TestReplay (0.00s)\nPASS\n", nil, false, false},
		{"a panic of the binary tells nothing", "panic: nil map\n", &exec.ExitError{}, false, false},
	} {
		got, err := failed(c.out, c.err)
		if got != c.want || (err == nil) != c.known {
			t.Errorf("%s: want %t, known: %t, got %t, %v", c.reason, c.want, c.known, got, err)
		}
	}
}

// TestFindingsOf holds that a test is named so that the merge base's binary runs this one alone, whatever its name has in it.
func TestFindingsOf(t *testing.T) {
	t.Run("aks: a (b)", func(t *testing.T) {
		if got, want := findingsOf(t).run, `^TestFindingsOf$/^aks:_a_\(b\)$`; got != want {
			t.Errorf("want %s, got %s", want, got)
		}
	})
}
