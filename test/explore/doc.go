// Package explore plays thousands of seeded scenarios, and golden ones with an end of the manager at every effect, in the worlds of package
// world, for each kind of pool in kinds. The oracles of package oracle check every write. docs/exploration.md describes how to run it and
// how to replay a failure:
//
//	go test ./test/explore -run Replay -v -seed 123
//
// Everything here is a test; there is no code for other packages.
package explore
