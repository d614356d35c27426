// Command muster is the command line tool of the project: it runs a local world with API servers and simulated clouds, kubectl for that
// world, and the simulated clouds alone.
package main

import "github.com/muster-project/muster/cmd/muster/commands"

// release is the version that a release build sets through the linker; empty in any other build.
var release string

func main() { commands.Main(release, append(childCommands(), kubectlCommand())...) }
