package commands

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/muster-project/muster/local/world"
)

// childCommands are the processes that a world consists of. "muster up" starts them from this same binary and keeps them
// alive; they are not for users.
func childCommands() []*cobra.Command {
	child := func(name string, run func(context.Context, []string) error) *cobra.Command {
		return &cobra.Command{
			Use:                name,
			Hidden:             true,
			DisableFlagParsing: true, // the flags are between "muster up" and its child
			RunE:               func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
		}
	}
	return []*cobra.Command{
		child("apiservers", world.RunAPIServers), child("clouds", world.RunClouds), child("controllers", world.RunControllers),
	}
}
