package commands

import (
	"github.com/spf13/cobra"
)

// generateCommand holds the subcommands that generate files for other systems.
func generateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Print documents that other systems need to work with Muster",
		Args:  cobra.NoArgs,
		// A command that cannot run prints its help for any argument and ends with 0, a misspelt subcommand included.
		RunE: func(cmd *cobra.Command, _ []string) error { return helpOrVersion(cmd, false) },
	}
	cmd.AddCommand(generateIAMCommand())
	return cmd
}
