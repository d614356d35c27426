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

	"github.com/muster-project/muster/local/pki"
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
		{reason: "a misspelt subcommand of rollouts", args: []string{"rollout", "puase"}, want: `unknown command "puase" for "muster rollout"`},
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

// TestEveryFlagIsItsCommands: no command has flags that libraries register for their own binaries.
func TestEveryFlagIsItsCommands(t *testing.T) {
	cmd := exec.Command(os.Args[0], "tree", "--help")
	cmd.Env = append(os.Environ(), asMuster+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "Global Flags:") || strings.Contains(string(out), "--version") {
		t.Errorf("want the flags of muster tree alone, got %v:\n%s", err, out)
	}
}

// TestHelpIsWhole: a paragraph of a help has no line that begins with a blank, or ends early in the middle of a sentence.
func TestHelpIsWhole(t *testing.T) {
	for _, cmd := range root().Commands() {
		lines := strings.Split(cmd.Long, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "\t") || len(line) > 140 {
				t.Errorf("%s: want lines of at most 140 characters that begin at the margin, found %q", cmd.Name(), line)
			}
			goesOn := i+1 < len(lines) && lines[i+1] != ""
			if goesOn && line != "" && len(line) < 40 {
				t.Errorf("%s: want %q joined with the line below it", cmd.Name(), line)
			}
		}
	}
}

// TestManagementIsNotFound holds that the error names what is missing.
func TestManagementIsNotFound(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	stopped := t.TempDir()
	ca, err := pki.OpenAuthority(t.TempDir(), "ca", "test")
	if err != nil {
		t.Fatal(err)
	}
	config, err := ca.Kubeconfig("https://127.0.0.1:9", "muster", pki.Admin())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"kubeconfig": string(config), "world.json": `{"apiServer": 9}`} {
		if err := os.WriteFile(filepath.Join(stopped, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		reason, variable, want string
		args                   []string
	}{
		{"a folder without a world", "", "no world was started in " + none, []string{"--dir", none}},
		{"a world that does not run", "", "the world in " + stopped + " is not running: start it with", []string{"--dir", stopped}},
		{"a file that is not there", "", "--kubeconfig: " + none + " does not exist", []string{"--kubeconfig", none}},
		{"a variable that names nothing", none, "KUBECONFIG: " + none + " does not exist, or names no cluster", nil},
	} {
		for _, command := range []string{"tree", "doctor", "plan machinepool/x", "adopt machinepool/x", "rollout pause machinepool/x",
			"rollout status machinepool/x", "rollout hold x"} {
			args := append(strings.Fields(command), tc.args...)
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env = append(os.Environ(), asMuster+"=1", "KUBECONFIG="+tc.variable)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), tc.want) {
				t.Errorf("%s: %s: want %q, got %v: %s", tc.reason, command, tc.want, err, out)
			}
		}
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

// TestUpTellsWhatItStarts holds that a start of seconds shows progress, and that Ctrl-C ends it at once.
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
		if lines = append(lines, from.Text()); len(lines) == 3 { // the page, the world, and the first part of it
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	err = cmd.Wait()
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "Page: http://127.0.0.1:") || !strings.HasPrefix(lines[1], "Starting a world in ") ||
		!strings.HasSuffix(lines[2], " ...") {
		t.Errorf("want a line for the page, the world and each part that is started, got %q", lines)
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
