package main

import (
	"github.com/spf13/cobra"

	"github.com/muster-project/muster/local/children"
)

// childCommands returns the processes that a world consists of. "muster up" starts them from this same binary and keeps them
// alive; they are not for users.
func childCommands() []*cobra.Command {
	var all []*cobra.Command
	for _, p := range children.All() {
		all = append(all, &cobra.Command{
			Use:                p.Name,
			Hidden:             true,
			DisableFlagParsing: true, // the flags are between "muster up" and its child
			RunE:               func(cmd *cobra.Command, args []string) error { return p.Run(cmd.Context(), args) },
		})
	}
	return all
}
