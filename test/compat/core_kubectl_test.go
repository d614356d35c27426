package compat

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl runs the built muster's kubectl, with a manifest unless that is empty, and returns its output and its complaints: warnings, and
// the error with which it ended.
func kubectl(t *testing.T, manifest string, args ...string) (out, complaints string) {
	t.Helper()
	admin(t) // which says whether there is a server
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"kubectl", "--kubeconfig", file, "--cache-dir", filepath.Join(scratch, "kubectl")}, args...)
	if manifest != "" {
		args = append(args, "-f", "-")
	}
	var printed, complained bytes.Buffer
	command := exec.CommandContext(t.Context(), muster, args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(manifest), &printed, &complained
	if err := command.Run(); err != nil && complained.Len() == 0 {
		t.Fatalf("muster %s: %v", strings.Join(args, " "), err)
	}
	return printed.String(), complained.String()
}
