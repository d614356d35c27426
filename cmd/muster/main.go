// Command muster is what a person types: a world of its own with API servers and simulated clouds, kubectl for it, and the
// simulated clouds alone.
package main

import "github.com/muster-project/muster/cmd/muster/commands"

// release is the version that a release build sets through the linker; empty in any other build.
var release string

func main() { commands.Main(release, append(childCommands(), kubectlCommand())...) }
