package main

import (
	"github.com/spf13/cobra"
)

// generateCommand holds what is made for other systems.
func generateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Print what other systems need so that Muster can work with them",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(generateIAMCommand())
	return cmd
}
