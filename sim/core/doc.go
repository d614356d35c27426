// Package core is what every simulated cloud is built on, whatever its protocol: the state on disk with its clock and numbering, the tables
// that services keep it in, how an operation is run, the faults that are played before and after its effect, the log of requests, and what
// the simulator's owner sees.
package core
