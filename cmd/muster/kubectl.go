package main

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/muster-project/muster/cmd/muster/commands"
)

// kubectlCommand is kubectl itself, so that nothing else need be installed.
func kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "kubectl ...",
		Short:              "Run kubectl with all its commands and flags",
		DisableFlagParsing: true, // every argument is kubectl's
		RunE:               func(_ *cobra.Command, args []string) error { return kubectl(args) },
		ValidArgsFunction:  completeKubectl,
	}
}

// completeKubectl returns what kubectl's own completion returns for these arguments. The output of that is a line for each completion, and
// the directive for the shell as the last one.
func completeKubectl(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	arguments := slices.Concat([]string{"kubectl", cobra.ShellCompRequestCmd}, args, []string{typed})
	var out bytes.Buffer
	command := kubectlRoot(arguments, genericiooptions.IOStreams{In: os.Stdin, Out: &out, ErrOut: io.Discard})
	command.SetOut(&out)
	command.SetErr(io.Discard)
	if err := command.Execute(); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := len(lines) - 1
	directive, err := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return lines[:last], cobra.ShellCompDirective(directive)
}

// kubectlRoot returns kubectl's own command for these arguments, the first of which is its name.
func kubectlRoot(arguments []string, streams genericiooptions.IOStreams) *cobra.Command {
	// The figures are kubectl's own: discovery of a server with many kinds takes a burst of requests.
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50).
		WithWarningPrinter(streams)
	command := cmd.NewDefaultKubectlCommandWithArgs(cmd.KubectlOptions{Arguments: arguments, ConfigFlags: flags, IOStreams: streams})
	command.SetArgs(arguments[1:])
	return command
}

// kubectl runs kubectl with these arguments, as its own main function does. Where it fails it ends the process with kubectl's exit
// code. Plugins are left out: they are other people's commands, and a misspelt word should not look for one.
func kubectl(args []string) error {
	// main catches the first signal for commands that end cleanly by their context. kubectl knows nothing of that context: without
	// this its first Ctrl-C would be lost.
	signal.Reset(commands.EndSignals...)
	setKubectlVersion()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	arguments := append([]string{"kubectl"}, args...)
	// This comes before the flags are parsed, because kubectl logs while it builds its commands. Parsing reports an invalid level.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(arguments))
	if err := cli.RunNoErrOutput(kubectlRoot(arguments, streams)); err != nil {
		cmdutil.CheckErr(err) // prints the error as kubectl does and ends the process with its code
	}
	return nil
}
