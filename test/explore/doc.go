// Package explore plays thousands of seeded scenarios, and golden ones with an end of the manager at every effect, in the worlds of package
// world, of each of the kinds of pools in kinds, and has every write watched by the oracles of package oracle. docs/exploration.md tells
// how to run it and how to replay a failure:
//
//	go test ./test/explore -run Replay -v -seed 123
//
// Everything here is a test; there is no code for other packages.
package explore
