// Package explore runs whole passes of the engine over the real drivers, with the clouds' own SDKs, against the simulated
// clouds, in virtual time: edits by users, faults of the cloud, changes by hand, restarts of the manager and absences of
// the workload cluster are drawn from a seed, and the oracles of package oracle watch every write. One seed gives one
// trace, byte for byte, so that a failure is replayed by its seed:
//
//	go test ./test/explore -run Replay -v -seed 123
//
// Everything here is a test; there is no code for other packages.
package explore
