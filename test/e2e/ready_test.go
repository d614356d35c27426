package e2e

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// TestUntilReady runs the first command of every user: a world starts, becomes ready, and leaves nothing behind.
func TestUntilReady(t *testing.T) {
	t.Parallel()
	untilReady(t, nil, `(?m)^capa-mp-0 +capa +2 +2 +2/2 +2 `, `(?m)^eks-mmp-0 +eks +2 +2 +2/2 +2 `)
}

// TestLongUntilReady is TestUntilReady with all clouds.
func TestLongUntilReady(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	untilReady(t, []string{"--clouds", "aws,azure,gcp"}, `(?m)^capa-mp-0 +capa +2 +2 +2/2 +2 `, `(?m)^eks-mmp-0 +eks +2 +2 +2/2 +2 `,
		`(?m)^capz-mp-0 +capz +2 +2 +2/2 +2 `, `(?m)^capz-flex-0 +capz-flex +2 +2 +2/2 +2 `,
		`(?m)^aks-pool0 +aks +2 +2 +2/2 +2 `, `(?m)^aks-pool1 +aks +2 +2 +2/2 +2 `, `(?m)^aks-aso-pool0 +aks-aso +2 +2 +2/2 +2 `,
		`(?m)^capg-mp-0 +capg +2 +2 +2/2 +2 `, `(?m)^capg-mp-1 +capg +2 +2 +2/2 +2 `, `(?m)^capg-gke-mp-0 +capg-gke +2 +2 +2/2 +2 `)
}

// untilReady runs "muster up --until-ready", which prints a table that the expressions match.
func untilReady(t *testing.T, args []string, wants ...string) {
	t.Helper()
	world.NeedsBinary(t)
	temp := t.TempDir()
	mark := "MUSTER_E2E_MARK=" + t.Name()
	ctx, cancel := context.WithTimeout(t.Context(), world.StartLimit+world.WaitLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, world.Binary, append([]string{"up", "--until-ready", "--timeout", "5m"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "HOME="+t.TempDir(), mark)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("want exit code 0, got %v\n%s", err, out)
	}
	for _, want := range wants {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("want a table with a match of %s, got\n%s", want, out)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("want the temporary folder gone, found %v %v", left, err)
	}
	if left := processesWith(t, mark); len(left) > 0 {
		t.Errorf("want no process left, found %v", left)
	}
}

// processesWith lists the processes whose environment contains a text, if the system shows it (Linux).
func processesWith(t *testing.T, mark string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(environ), mark) {
			found = append(found, filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}

// TestUpRefuses holds the errors of "muster up" that come before it starts anything.
func TestUpRefuses(t *testing.T) {
	t.Parallel()
	world.NeedsBinary(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		reason, manifest string
		args             []string
		want             string
	}{
		{reason: "a port that a user listens on", args: []string{"--port", port, "--timeout", "1m"},
			want: "want port " + port + " for the API server, found it taken"},
		{reason: "a variable without a value", manifest: "a: ${NO_SUCH_VARIABLE_A} ${NO_SUCH_VARIABLE_B}",
			want: "no value for NO_SUCH_VARIABLE_A, NO_SUCH_VARIABLE_B in standard input: set them in the environment"},
		{reason: "broken YAML", manifest: "kind: A\napiVersion: v1\nmetadata: {name: a}\n---\na: b: c",
			want: "standard input: document 2: yaml: "},
		{reason: "a file that is not there", args: []string{"-f", "no-such-file.yaml"}, want: "no-such-file.yaml: no such file"},
		{reason: "a cloud without a simulator", args: []string{"--clouds", "moon"},
			want: `--clouds: "moon" is not simulated: choose from aws, azure, gcp`},
		{reason: "a pool that is not built in", args: []string{"--pools", "aks-mp-0"},
			want: `--pools: "aks-mp-0" is not built in on aws: choose from capa-mp-0, eks-mmp-0`},
		{reason: "a speed that is none", args: []string{"--speed", "0"}, want: "--speed: wanted a number above 0, found 0"},
		{reason: "a feature gate that there is not", args: []string{"--feature-gates", "NoSuchGate=true"},
			want: "unrecognized feature gate: NoSuchGate"},
		{reason: "an unknown flag", args: []string{"--no-such-flag"}, want: "unknown flag: --no-such-flag"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			args := append([]string{"up", "--until-ready", "--timeout", "1s"}, tc.args...)
			if tc.manifest != "" {
				args = append(args, "-f", "-")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, world.Binary, args...)
			cmd.Stdin = strings.NewReader(tc.manifest)
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("want exit code 1, got %v", err)
			}
			if !strings.Contains(string(out), tc.want) {
				t.Errorf("want %q, got\n%s", tc.want, out)
			}
		})
	}
}
