package compat

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// stopped is what kubectl ends with where it would end the process.
type stopped struct{ message string }

// kubectl runs kubectl itself, on a manifest where there is one, and gives what it prints, and what it complains of: warnings,
// and the error that it ended with. Its handlers are the process's, so that tests which use it are not parallel.
func kubectl(t *testing.T, manifest string, args ...string) (out, complaints string) {
	t.Helper()
	admin(t) // which says whether there is a server
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if manifest != "" {
		path := filepath.Join(t.TempDir(), "manifest.yaml")
		if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-f", path)
	}
	var printed, complained bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &printed, ErrOut: &complained}
	args = append([]string{"--kubeconfig", file, "--cache-dir", t.TempDir()}, args...)
	flags := genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(300).WithDiscoveryQPS(50).WithWarningPrinter(streams)
	command := cmd.NewDefaultKubectlCommandWithArgs(cmd.KubectlOptions{Arguments: append([]string{"kubectl"}, args...), ConfigFlags: flags, IOStreams: streams})
	command.SetArgs(args)
	command.SetOut(&printed)
	command.SetErr(&complained)
	cmdutil.BehaviorOnFatal(func(message string, _ int) { panic(stopped{message}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	func() {
		defer func() {
			if end, ok := recover().(stopped); ok {
				complained.WriteString(end.message)
			}
		}()
		if err := command.ExecuteContext(t.Context()); err != nil {
			complained.WriteString(err.Error())
		}
	}()
	return printed.String(), complained.String()
}
