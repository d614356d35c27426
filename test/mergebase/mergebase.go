// Package mergebase finds the commit that the code under test comes from, and builds tests as they are there.
package mergebase

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Variable is the environment variable that names the base commit. A workflow sets it where the history does not show which commits are
// new.
const Variable = "MUSTER_BASE"

// push bounds the time between the commits of one push to the default branch. A clone of that branch does not record where the push began.
const push = 4 * time.Hour

// Commit returns the base of the repository at root: the commit that Variable names, or the one where the branch left the default branch of
// its remote. On that branch itself, and without a remote, it is the newest commit that is more than four hours older than HEAD, or else
// the oldest one.
func Commit(ctx context.Context, root string) (string, error) {
	head, err := Git(ctx, root, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	if named := os.Getenv(Variable); strings.Trim(named, "0") != "" { // a new branch has a hash of zeros before its first push
		return Git(ctx, root, "rev-parse", "--verify", named+"^{commit}")
	}
	if base, err := Git(ctx, root, "merge-base", "HEAD", "origin/HEAD"); err == nil && base != head {
		return base, nil
	}
	return beforePush(ctx, root, head)
}

// beforePush returns the newest ancestor of head that does not belong to the same push.
func beforePush(ctx context.Context, root, head string) (string, error) {
	text, err := Git(ctx, root, "log", "--first-parent", "--format=%H %ct", head)
	if err != nil {
		return "", err
	}
	var newest int64
	var base string
	for k, line := range strings.Split(text, "\n") {
		var seconds int64
		if _, err := fmt.Sscanf(line, "%s %d", &base, &seconds); err != nil {
			return "", fmt.Errorf("read the commits before %s: want a hash and a time, got %q: %w", head, line, err)
		}
		if k == 0 {
			newest = seconds
		}
		if time.Duration(newest-seconds)*time.Second > push {
			break
		}
	}
	if base == head {
		return "", fmt.Errorf("%s has no commit before it", head)
	}
	return base, nil
}

// Git returns the trimmed output of git in the folder root.
func Git(ctx context.Context, root string, args ...string) (string, error) {
	out, err := run(ctx, root, "git", args...)
	return strings.TrimSpace(out), err
}

// BuildTest compiles the tests of a package as they are at a commit of the repository at root. It keeps sources and binary in the folder
// cache, where a second call for the same commit finds them. The binary runs in the folder of the package in these sources, which is
// returned with it.
func BuildTest(ctx context.Context, root, commit, cache, pkg string) (binary, folder string, err error) {
	source := filepath.Join(cache, commit)
	folder = filepath.Join(source, filepath.FromSlash(pkg))
	binary = filepath.Join(cache, commit+"-"+strings.ReplaceAll(pkg, "/", "-")+".test")
	if _, err := os.Stat(binary); err == nil {
		return binary, folder, nil
	}
	if err := checkOut(ctx, root, commit, source); err != nil {
		return "", "", err
	}
	if _, err := run(ctx, source, "go", "test", "-c", "-o", binary, "./"+pkg); err != nil {
		return "", "", err
	}
	return binary, folder, nil
}

// checkOut puts the sources of a commit into a folder, unless they are there.
func checkOut(ctx context.Context, root, commit, folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	repository, err := Git(ctx, root, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	partial := folder + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("clear the folder for the sources of %s: %w", commit, err)
	}
	if _, err := Git(ctx, root, "clone", "--quiet", "--shared", "--no-checkout", repository, partial); err != nil {
		return err
	}
	if _, err := Git(ctx, partial, "checkout", "--quiet", "--detach", commit); err != nil {
		return err
	}
	if err := os.Rename(partial, folder); err != nil {
		return fmt.Errorf("keep the sources of %s: %w", commit, err)
	}
	return nil
}

// run returns the output of a command in a folder. An error has the first line of its messages.
func run(ctx context.Context, folder, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, messages bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &messages
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(messages.String(), "\n")
		return "", fmt.Errorf("%s %s: %w %s", name, args[0], err, first)
	}
	return out.String(), nil
}
