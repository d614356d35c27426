package commands

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A command that could not look has another exit code than one that found problems.
func TestDoctorCannotRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		args []string
		want string
	}{
		{"no cluster is found", []string{"--kubeconfig", "no-such-file"}, "no-such-file does not exist"},
		{"there are two forms", []string{"-o", "yaml"}, `want text or json, found "yaml"`},
	} {
		var errs bytes.Buffer
		cmd := root()
		cmd.SetArgs(append([]string{"doctor"}, c.args...))
		cmd.SetErr(&errs)
		var code exitCode
		if err := cmd.ExecuteContext(t.Context()); !errors.As(err, &code) || code != 2 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: want exit code 2 and %q, got %v and %s", c.why, c.want, err, &errs)
		}
	}
}

// TestTreeRequests holds that a request for an unknown object is rejected before anything is read.
func TestTreeRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		args []string
		want string
	}{
		{"a name alone does not say what it is", []string{"workers"}, "want KIND/NAME"},
		{"an object lies in one namespace", []string{"mp/workers", "-A"}, "--all-namespaces"},
		{"there are two forms", []string{"-o", "yaml"}, "want text or json"},
		{"no cluster is found", []string{"--kubeconfig", "no-such-file"}, "no-such-file does not exist"},
	} {
		cmd := root()
		cmd.SetArgs(append([]string{"tree"}, c.args...))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.want, err)
		}
	}
}
