// Package children are the processes that a local world consists of, each of which its supervisor starts and keeps alive: the API servers,
// the simulated clouds and the controllers.
package children

import (
	"context"

	"github.com/muster-project/muster/local/world"
)

// Process is one of them.
type Process struct {
	// Name is the subcommand that runs it.
	Name string
	// Run runs it with the arguments that the supervisor gives it. It returns when the process fails, when ctx ends, or when standard input
	// ends.
	Run func(ctx context.Context, args []string) error
}

// All returns all processes. A binary that a world is started from runs the one that its first argument names.
func All() []Process {
	return []Process{{world.APIServersChild, apiServers}, {world.CloudsChild, simulatedClouds}, {world.ControllersChild, runControllers}}
}
