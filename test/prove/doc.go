// Package prove explores the policy exhaustively in a small scope. The initial states are all states that a small pool can have, normally
// or after a fault: each size of its group, each set of machines in every phase of their and their nodes' lives, with the new template and
// the old one. From each of them it follows the step that pool.Decide plans, with every possible response of a cloud, and every move that a
// cloud, machines and nodes make by themselves, until no new state is found. States are identified without the names of their machines, so
// that one represents all that differ only in these.
//
// The properties that hold for all of them:
//
//   - no step removes a machine with a node that is not drained, or one that has no reason to go
//   - no step takes more serving machines than the strategy allows, and no size exceeds its surge
//   - no cycle: where steps have effect and machines go on with their lives, every way comes to an end
//   - at each end the pool is as wanted, or the plan reports what it waits for
//
// Random exploration (test/explore) plays the drivers, the Kubernetes edge and the faults around it; here is the policy alone, and all of
// it.
package prove
