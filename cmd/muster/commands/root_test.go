package commands

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// asMuster, set in the environment of this test's binary, makes it run as muster itself.
const asMuster = "MUSTER_TEST_AS_MUSTER"

func TestMain(m *testing.M) {
	if os.Getenv(asMuster) != "" {
		Main("")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestUnknownCommandsFail(t *testing.T) {
	for _, tc := range []struct {
		reason string
		args   []string
		want   string
	}{
		{reason: "a misspelt command", args: []string{"bogus"}, want: `unknown command "bogus" for "muster"`},
		{reason: "a misspelt subcommand", args: []string{"generate", "foo"}, want: `unknown command "foo" for "muster generate"`},
		{reason: "no command prints help", args: nil},
		{reason: "no subcommand prints help", args: []string{"generate"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var out bytes.Buffer
			cmd := root()
			cmd.SetArgs(append([]string{}, tc.args...))
			cmd.SetOut(&out)
			err := cmd.Execute()
			if tc.want == "" && (err != nil || !strings.Contains(out.String(), "Usage:")) {
				t.Fatalf("want help and no error, got %v and\n%s", err, out.String())
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Fatalf("want the error %q, got %v", tc.want, err)
			}
		})
	}
}

func TestVersionFlag(t *testing.T) {
	var out bytes.Buffer
	cmd := root()
	cmd.SetArgs([]string{"--version"})
	cmd.SetOut(&out)
	info, _ := debug.ReadBuildInfo()
	if err := cmd.Execute(); err != nil || out.String() != versionOf(info).text() {
		t.Fatalf("want what \"muster version\" prints, got %v and\n%s", err, out.String())
	}
}

func TestHelpListsCompletion(t *testing.T) {
	var out bytes.Buffer
	cmd := root()
	cmd.SetArgs([]string{"--help"})
	cmd.SetOut(&out)
	if err := cmd.Execute(); err != nil || !strings.Contains(out.String(), "\n  completion ") {
		t.Fatalf("want the command completion in the help, got %v and\n%s", err, out.String())
	}
}

// TestUpTellsWhatItStarts: a start of seconds shows that it goes on, and Ctrl-C ends it at once.
func TestUpTellsWhatItStarts(t *testing.T) {
	cmd := exec.Command(os.Args[0], "up", "--dir", filepath.Join(t.TempDir(), "world"))
	cmd.Env = append(os.Environ(), asMuster+"=1", "HOME="+t.TempDir())
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer last.Stop()
	var lines []string
	for from := bufio.NewScanner(out); from.Scan(); {
		if lines = append(lines, from.Text()); len(lines) == 2 { // the world, and the first part of it
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	err = cmd.Wait()
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "Starting a world in ") || !strings.HasSuffix(lines[1], " ...") {
		t.Errorf("want a line for the world and for each part that is started, got %q", lines)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(failure.String(), "interrupted before the world was up") {
		t.Errorf("want it ended by the first signal with exit code 1 and the reason, got %v: %s", err, failure.String())
	}
}

func TestQuoted(t *testing.T) {
	for _, tc := range []struct{ reason, word, want string }{
		{"nothing to quote", "/tmp/muster-1/kubeconfig", "/tmp/muster-1/kubeconfig"},
		{"a blank", "/my world/kubeconfig", "'/my world/kubeconfig'"},
		{"a quote", "/it's/kubeconfig", `'/it'\''s/kubeconfig'`},
		{"a shell's own sign", "/a$b/kubeconfig", "'/a$b/kubeconfig'"},
	} {
		if got := quoted(tc.word); got != tc.want {
			t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
		}
	}
}
