// Package commands are muster's own commands: a world with API servers and simulated clouds, the simulated clouds alone, and the views.
// One file a subcommand. Command muster adds kubectl, which takes the C compiler to link: tests of these commands do without it.
package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers/all"
)

// EndSignals end a command: Ctrl-C, what a service manager sends, and the end of a terminal.
var EndSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// Main runs the command of the process, one of this package or of others, and exits on failure. version is that of a release build.
func Main(version string, others ...*cobra.Command) {
	release = version
	// The first signal asks for a clean end; the second one finds the default action again and ends at once.
	ctx, stop := signal.NotifyContext(context.Background(), EndSignals...)
	context.AfterFunc(ctx, stop)
	err := run(ctx, others)
	stop()
	var code exitCode
	switch {
	case err == nil:
	case errors.As(err, &code):
		os.Exit(int(code))
	default:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run runs the command that the process was started with. A provider that commands can't be made from is refused before they are.
func run(ctx context.Context, others []*cobra.Command) error {
	if err := all.Check(); err != nil {
		return err
	}
	// cobra gives the flags of this set to every command, among them a --version that a Kubernetes library registers for its own binaries.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
	cmd := root()
	cmd.AddCommand(others...)
	addCompletion(cmd)
	cmd.SetArgs(asPlugin(cmd, os.Args[0], os.Args[1:]))
	return cmd.ExecuteContext(ctx)
}

// exitCode ends the command with this code and without a message, because the output is complete.
type exitCode int

// Error names the code.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// root returns the command that holds all others.
func root() *cobra.Command {
	version := false
	cmd := &cobra.Command{
		Use:   "muster",
		Short: "Run machine pools on every cloud, and a local world to try them",
		Long: `Muster runs Cluster API machine pools on every cloud from one engine.

"muster up" starts a local world: real API servers, simulated clouds whose machines boot and join, and the controllers. It
needs no other installation and no cloud account. "muster kubectl" is kubectl.`,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return helpOrVersion(cmd, version) },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.Flags().BoolVar(&version, "version", false, "Print the output of \"muster version\".")
	cmd.AddCommand(upCommand(), planCommand(), rolloutCommand(), treeCommand(), adoptCommand(), doctorCommand(), generateCommand(),
		simCommand(), versionCommand())
	return cmd
}
