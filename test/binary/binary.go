// Package binary builds the commands for the tests that run them.
package binary

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// tags leave Go's plugins out of kustomize, with which the C compiler would link the binary and every exported method would stay in it.
const tags = "kustomize_disable_go_plugin_support"

// Build builds a command once for all packages that run it, and returns its path. folder is the command's folder in the module
// ("cmd/muster"). The packages run concurrently, and linking takes longer than most of their tests, so one package at a time builds into
// bin/e2e of the module, and "go build" skips unchanged sources. Packages of one "go test" do not repeat the check, because it takes
// seconds for thousands of packages. Each package runs a hard link of its own, which another build does not change, and which remove
// removes.
func Build(folder string) (file string, remove func(), err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", nil, err
	}
	shared := filepath.Join(root, "bin", "e2e")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return "", nil, err
	}
	lock, err := fileutil.LockFile(filepath.Join(shared, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	target := filepath.Join(shared, path.Base(folder))
	if err := buildOnce(root, folder, target); err != nil {
		return "", nil, err
	}
	if err := removeStale(shared); err != nil {
		return "", nil, err
	}
	own, err := os.MkdirTemp(shared, runPrefix)
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(own, path.Base(folder))
	remove = func() {
		if err := os.RemoveAll(own); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := os.Link(target, file); err != nil {
		remove()
		return "", nil, err
	}
	return file, remove, nil
}

// buildOnce builds a command unless the "go test" that runs this package has had it built for another one.
func buildOnce(root, folder, target string) error {
	run, stamp := thisRun(), target+".run"
	if built, err := os.ReadFile(stamp); err == nil && run != "" && run == string(built) {
		return nil
	}
	// Without symbols for debuggers it is linked in less than half of the time and a third smaller; stack traces stay.
	cmd := exec.Command("go", "build", "-tags="+tags, "-ldflags=-s -w", "-o", target, "./"+folder)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(run), 0o600)
}

// thisRun identifies the "go test" run of this process by its process ID and start time. It is empty if the system does not provide these
// (Linux does), and under another test runner.
func thisRun() string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", os.Getppid()))
	if err != nil {
		return ""
	}
	const goCommand, started = "(go) ", 19
	_, rest, found := strings.Cut(string(stat), goCommand)
	fields := strings.Fields(rest)
	if !found || len(fields) <= started {
		return ""
	}
	return fmt.Sprintf("%d since %s", os.Getppid(), fields[started])
}

const (
	// runPrefix begins the names of the folders with the packages' own links.
	runPrefix = "run-"
	// staleAfter is when such a folder belongs to no run any more: its tests were killed.
	staleAfter = 24 * time.Hour
)

// removeStale removes what tests that were killed have left below the folder of the binary.
func removeStale(shared string) error {
	links, err := filepath.Glob(filepath.Join(shared, runPrefix+"*"))
	if err != nil {
		return err
	}
	for _, link := range links {
		info, err := os.Stat(link)
		if err == nil && time.Since(info.ModTime()) > staleAfter {
			err = os.RemoveAll(link)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// moduleRoot returns the folder with the module's go.mod: the packages that run a command may be at any depth.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", fmt.Errorf("want a module around the tests, go env GOMOD gives %q", file)
	}
	return filepath.Dir(file), nil
}
