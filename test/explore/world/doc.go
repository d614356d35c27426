// Package world runs one machine pool in its own world, in virtual time: a management cluster and a workload cluster in memory, the
// project's own reconcilers for MachinePool and the pool's infrastructure kind over the engine, the real driver on the cloud's own SDK, and
// the simulated cloud. A scenario lists the actions of users, programs and the cloud, and the faults. A run plays the scenario in one
// goroutine, one pass at a time, checks every write with the oracles, and writes a trace. The same scenario yields the same trace, byte for
// byte.
//
// The specifics of a kind of pool are in a Kind, and this package names no kind: package kinds/all lists them.
package world
