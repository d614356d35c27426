// Package world is one machine pool in a world of its own, in virtual time: a management cluster and a workload cluster in
// memory, the project's own reconcilers for MachinePool and the pool's infrastructure kind over the engine, the real driver on
// the cloud's own SDK, and the simulated cloud. A scenario says what users, programs, the cloud and bad luck do to it; a run
// plays the scenario in one goroutine, one pass at a time, watches every write with the oracles, and writes down a trace. The
// same scenario gives the same trace, byte for byte.
//
// What is of one kind of pool alone is behind a Kind, and no kind is named here: package kinds/all lists them.
package world
