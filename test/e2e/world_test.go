// Package e2e holds tests of the built binaries: they type what a person types, and look at what a person would see.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// startLimit bounds the start of a world; it takes some ten seconds alone, and much longer beside a build.
	startLimit = 3 * time.Minute
	// waitLimit bounds every other wait; it is only reached when something is wrong.
	waitLimit = 3 * time.Minute
	// stopLimit bounds the clean end of a world.
	stopLimit = time.Minute
)

// muster is the built binary.
var muster string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(built(m))
}

// built builds the binary once for all tests, and runs them.
func built(m *testing.M) int {
	if testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "muster-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	muster = filepath.Join(dir, "muster")
	build := exec.Command("go", "build", "-o", muster, "../../cmd/muster")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build cmd/muster:", err)
		return 1
	}
	return m.Run()
}

// world is one "muster up", or a "muster sim", that runs.
type world struct {
	t   *testing.T
	dir string
	// kubeconfig of the management cluster, and endpoint of the first simulated cloud, as "muster up" printed them.
	kubeconfig, endpoint string

	cmd    *exec.Cmd
	out    *output
	ended  chan struct{}
	result error
}

// output collects what a process prints, and lets wait for a text in it.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newOutput() *output { return &output{changed: make(chan struct{}, 1)} }

// Write takes what the process prints.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

// String is everything that was printed so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs "muster up" on dir and returns once it has printed how to reach it. The world is stopped with the test. Unless args
// say which pools it has, it has the built-in AWSMachinePool alone.
func start(t *testing.T, dir string, args ...string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a world: left out with -short")
	}
	if len(args) == 0 {
		args = []string{"--pools", "capa-mp-0"}
	}
	w := run(t, dir, append([]string{"up", "--dir", dir}, args...)...)
	w.kubeconfig = w.printed(`export KUBECONFIG=(\S+)`)
	w.endpoint = w.printed(`(?:AWS_ENDPOINT_URL|AZURE_RESOURCE_MANAGER_ENDPOINT)=(\S+)`)
	return w
}

// run starts the binary and has it stopped with the test.
func run(t *testing.T, dir string, args ...string) *world {
	t.Helper()
	w := &world{t: t, dir: dir, out: newOutput(), ended: make(chan struct{})}
	w.cmd = exec.Command(muster, args...)
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.out
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C for the test is none for the world: Cleanup ends it
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		w.result = w.cmd.Wait()
		close(w.ended)
	}()
	t.Cleanup(func() {
		w.stop()
		if t.Failed() {
			t.Logf("muster %s printed:\n%s\n%s", args[0], w.out, logTails(dir))
		}
	})
	return w
}

// printed waits until the world has printed a match, and gives its first group.
func (w *world) printed(pattern string) string {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	for {
		if m := re.FindStringSubmatch(w.out.String()); m != nil {
			return m[1]
		}
		select {
		case <-w.out.changed:
		case <-w.ended:
			w.t.Fatalf("muster ended (%v) before it printed %s:\n%s", w.result, pattern, w.out)
		case <-limit.C:
			w.t.Fatalf("muster has not printed %s within %v:\n%s", pattern, startLimit, w.out)
		}
	}
}

// stop asks the world to end, as Ctrl-C does, and waits until it has.
func (w *world) stop() {
	w.t.Helper()
	w.signal(syscall.SIGINT)
	select {
	case <-w.ended:
	case <-time.After(stopLimit):
		w.t.Errorf("muster has not ended within %v after an interrupt", stopLimit)
		w.signal(syscall.SIGKILL)
		<-w.ended
	}
}

// kill ends the supervisor at once, as a crash would.
func (w *world) kill() {
	w.signal(syscall.SIGKILL)
	<-w.ended
}

// killChild ends one of the world's processes at once, where the system tells which it is (Linux).
func (w *world) killChild(name string) {
	w.t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, path := range paths {
		args, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(args), "\x00"+name+"\x00") || !strings.Contains(string(args), w.dir+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		return
	}
	w.t.Skipf("no process %s of this world is found below /proc", name)
}

func (w *world) signal(s syscall.Signal) {
	if err := w.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		w.t.Error(err)
	}
}

// kubectl runs "muster kubectl" against the management cluster and fails the test when it fails.
func (w *world) kubectl(args ...string) string {
	w.t.Helper()
	out, err := w.try("", append([]string{"--kubeconfig", w.kubeconfig}, args...)...)
	if err != nil {
		w.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// apply applies manifests with kubectl.
func (w *world) apply(manifests string) {
	w.t.Helper()
	if out, err := w.try(manifests, "--kubeconfig", w.kubeconfig, "apply", "-f", "-"); err != nil {
		w.t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}

// workload runs "muster kubectl" against a workload cluster of namespace default.
func (w *world) workload(cluster string, args ...string) string {
	w.t.Helper()
	out, err := w.try("", append([]string{"--kubeconfig", w.clusterKubeconfig(cluster)}, args...)...)
	if err != nil {
		w.t.Fatalf("kubectl %s on the workload cluster: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// applyTo applies manifests to a workload cluster of namespace default.
func (w *world) applyTo(cluster, manifests string) {
	w.t.Helper()
	if out, err := w.try(manifests, "--kubeconfig", w.clusterKubeconfig(cluster), "apply", "-f", "-"); err != nil {
		w.t.Fatalf("kubectl apply on the workload cluster: %v\n%s", err, out)
	}
}

func (w *world) clusterKubeconfig(cluster string) string {
	return filepath.Join(w.dir, "clusters", "default-"+cluster+".kubeconfig")
}

// try runs kubectl and gives what it printed.
func (w *world) try(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, muster, append([]string{"kubectl"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// wait waits until a field of an object has a value, through kubectl wait, which watches.
func (w *world) wait(object, jsonpath, value string) {
	w.t.Helper()
	args := []string{"wait", object, "--for=jsonpath=" + jsonpath + "=" + value, "--timeout", waitLimit.String()}
	if out, err := w.try("", append([]string{"--kubeconfig", w.kubeconfig}, args...)...); err != nil {
		have, _ := w.try("", "--kubeconfig", w.kubeconfig, "get", object, "-o", "yaml")
		w.t.Fatalf("%s: want %s to become %s: %v\n%s\nit is\n%s", object, jsonpath, value, err, out, have)
	}
}

// ready waits until a pool has that many ready machines and no other.
func (w *world) ready(pool string, replicas int) {
	w.t.Helper()
	n := strconv.Itoa(replicas)
	w.wait("machinepool/"+pool, "{.status.readyReplicas}", n)
	w.wait("machinepool/"+pool, "{.status.replicas}", n)
	w.wait("awsmachinepool/"+pool, `{.status.conditions[?(@.type=="Ready")].status}`, "True")
}

// calls are what the simulated AWS was asked since the last reset.
type calls struct {
	Total    int                       `json:"total"`
	Mutating int                       `json:"mutating"`
	Counts   map[string]map[string]int `json:"counts"`
}

// String lists the calls that were counted.
func (c calls) String() string {
	text, _ := json.Marshal(c.Counts) // a map of numbers can't fail
	return fmt.Sprintf("%d calls, %d of them writes: %s", c.Total, c.Mutating, text)
}

// calls asks the simulator.
func (w *world) calls() calls {
	w.t.Helper()
	var c calls
	w.admin(http.MethodGet, "calls", "", &c)
	return c
}

// forgetCalls begins to count anew.
func (w *world) forgetCalls() {
	w.t.Helper()
	w.admin(http.MethodDelete, "calls", "", nil)
}

// admin speaks with the simulator as its owner.
func (w *world) admin(method, path, body string, into any) {
	w.t.Helper()
	if err := w.tryAdmin(method, path, body, into); err != nil {
		w.t.Fatal(err)
	}
}

// tryAdmin is admin for a simulator that may be away.
func (w *world) tryAdmin(method, path, body string, into any) error {
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.endpoint+"/_sim/"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %w %s", method, path, resp.Status, err, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s %s: %w in %s", method, path, err, text)
	}
	return nil
}

// eventually tries until what is wanted is there, for what can't be watched: a cloud.
func (w *world) eventually(what string, try func() error) {
	w.t.Helper()
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit.C:
			w.t.Fatalf("want %s: %v", what, err)
		}
	}
}

// logTails is the end of each log of a world, and of each machine's console, for a test that failed.
func logTails(dir string) string {
	const most, mostOfConsole = 4000, 800
	var all strings.Builder
	for pattern, most := range map[string]int{filepath.Join(dir, "logs", "*.log"): most, filepath.Join(dir, "sim", "machines", "*", "console.log"): mostOfConsole} {
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
