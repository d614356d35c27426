package commands

import (
	"github.com/spf13/cobra"
)

// generateCommand holds what is made for other systems.
func generateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Print what other systems need so that Muster can work with them",
		Args:  cobra.NoArgs,
		// A command that cannot run prints its help for any argument and ends with 0, a misspelt subcommand included.
		RunE: func(cmd *cobra.Command, _ []string) error { return helpOrVersion(cmd, false) },
	}
	cmd.AddCommand(generateIAMCommand())
	return cmd
}
