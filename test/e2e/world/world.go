// Package world starts worlds of the built binary for the tests in test/e2e. The tests type what a person types, and look at what a person
// would see.
package world

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// StartLimit bounds the start of a world. It takes some ten seconds on an idle machine, and much longer during a build.
	StartLimit = 3 * time.Minute
	// WaitLimit bounds every other wait; it is only reached when something is wrong.
	WaitLimit = 3 * time.Minute
	// stopLimit bounds the clean end of a world.
	stopLimit = time.Minute
)

// World is one "muster up", or a "muster sim", that runs.
type World struct {
	// T is the test that fails when something is wrong with the world.
	T *testing.T
	// Dir is the folder that keeps the world.
	Dir string
	// Kubeconfig of the management cluster, and endpoint of the first simulated cloud, as "muster up" printed them.
	Kubeconfig, Endpoint string

	*process
	readers *readers
}

// process is the supervisor of a world.
type process struct {
	cmd    *exec.Cmd
	out    *output
	ended  chan struct{}
	result error
}

// Start runs "muster up" on dir and returns once it has printed how to reach the world, which is stopped with the test. Unless args select
// pools, it has only the built-in AWSMachinePool.
func Start(t *testing.T, dir string, args ...string) *World {
	t.Helper()
	NeedsBinary(t)
	return StartOf(t, Binary, dir, args...)
}

// StartOf is Start with another binary, such as that of an earlier release.
func StartOf(t *testing.T, binary, dir string, args ...string) *World {
	t.Helper()
	if len(args) == 0 {
		args = []string{"--pools", "capa-mp-0"}
	}
	w := run(t, binary, dir, append([]string{"up", "--dir", dir}, args...)...)
	w.Kubeconfig = w.Printed(`export KUBECONFIG=(\S+)`)
	w.Endpoint = w.Printed(`(?:AWS_ENDPOINT_URL|AZURE_RESOURCE_MANAGER_ENDPOINT|MUSTER_GCP_ENDPOINT|MUSTER_SCALEWAY_ENDPOINT)=(\S+)`)
	return w
}

// Run starts the binary and has it stopped with the test.
func Run(t *testing.T, dir string, args ...string) *World {
	t.Helper()
	return run(t, Binary, dir, args...)
}

func run(t *testing.T, binary, dir string, args ...string) *World {
	t.Helper()
	w := &World{T: t, Dir: dir, process: &process{out: newOutput(), ended: make(chan struct{})}, readers: &readers{}}
	w.cmd = exec.Command(binary, args...)
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.out
	w.cmd.SysProcAttr = apart()
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w.result = w.cmd.Wait()
		close(w.ended)
	}()
	t.Cleanup(func() {
		w.Stop()
		if t.Failed() {
			t.Logf("muster %s printed:\n%s\n%s", args[0], w.out, logTails(dir))
		}
	})
	return w
}

// In gives the world to a subtest.
func (w *World) In(t *testing.T) *World {
	sub := *w
	sub.T = t
	return &sub
}

// Printed waits until the world has printed a match, and gives its first group.
func (w *World) Printed(pattern string) string {
	w.T.Helper()
	re := regexp.MustCompile(pattern)
	limit := time.NewTimer(StartLimit)
	defer limit.Stop()
	for {
		if m := re.FindStringSubmatch(w.out.String()); m != nil {
			return m[1]
		}
		select {
		case <-w.out.changed:
		case <-w.ended:
			w.T.Fatalf("muster ended (%v) before it printed %s:\n%s", w.result, pattern, w.out)
		case <-limit.C:
			w.T.Fatalf("muster has not printed %s within %v:\n%s", pattern, StartLimit, w.out)
		}
	}
}

// Stop asks the world to end, as Ctrl-C does, and waits until it has.
func (w *World) Stop() {
	w.T.Helper()
	w.signal(syscall.SIGINT)
	select {
	case <-w.ended:
	case <-time.After(stopLimit):
		w.T.Errorf("muster has not ended within %v after an interrupt", stopLimit)
		w.signal(syscall.SIGKILL)
		<-w.ended
	}
}

// Kill ends the supervisor at once, as a crash would.
func (w *World) Kill() {
	w.signal(syscall.SIGKILL)
	<-w.ended
}

// KillChild kills one of the world's processes, if the system shows which it is (Linux).
func (w *World) KillChild(name string) {
	w.T.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		w.T.Fatal(err)
	}
	for _, path := range paths {
		args, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(args), "\x00"+name+"\x00") || !strings.Contains(string(args), w.Dir+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			w.T.Fatal(err)
		}
		return
	}
	w.T.Skipf("no process %s of this world is found below /proc", name)
}

func (w *World) signal(s syscall.Signal) {
	if err := w.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.T.Error(err)
	}
}

// logTails returns the end of each log of a world, and of each machine's console, for a test that failed.
func logTails(dir string) string {
	const most, mostOfConsole = 4000, 800
	var all strings.Builder
	for pattern, most := range map[string]int{filepath.Join(dir, "logs", "*.log"): most,
		filepath.Join(dir, "sim", "machines", "*", "console.log"): mostOfConsole} {
		paths, _ := filepath.Glob(pattern) // the pattern is right
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			fmt.Fprintf(&all, "--- %s\n%s\n", strings.TrimPrefix(path, dir), text[max(0, len(text)-most):])
		}
	}
	return all.String()
}
