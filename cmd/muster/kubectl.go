package main

import (
	"os"
	"os/signal"

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
	}
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
	// Before the flags are parsed, since kubectl logs while its commands are built. An unreadable level is told then.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(arguments))
	// The figures are kubectl's own: discovery of a server with many kinds takes a burst of requests.
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50).
		WithWarningPrinter(streams)
	command := cmd.NewDefaultKubectlCommandWithArgs(cmd.KubectlOptions{Arguments: arguments, ConfigFlags: flags, IOStreams: streams})
	command.SetArgs(args)
	if err := cli.RunNoErrOutput(command); err != nil {
		cmdutil.CheckErr(err) // prints the error as kubectl does and ends the process with its code
	}
	return nil
}
