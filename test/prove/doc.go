// Package prove explores the policy exhaustively in a small scope. Every state that a small pool can be in, on the way or by a fault, is a
// beginning: each size of its group, each set of machines in every place of their lives and their nodes', with the new template and the old
// one. From each of them it follows the step that pool.Decide plans, with every answer that a cloud may give, and every move that a cloud,
// machines and nodes make by themselves, until nothing new is found. States are told apart without the names of their machines, so that one
// stands for all that differ in nothing else.
//
// What it shows of all of them:
//
//   - no step removes a machine with a node that is not drained, or one that has no reason to go
//   - no step takes more serving machines than the strategy allows, and no size exceeds its surge
//   - no cycle: where steps have effect and machines go on with their lives, every way comes to an end
//   - at each end the pool is as wanted, or the plan reports what it waits for
//
// Random exploration (test/explore) plays the drivers, the Kubernetes edge and the faults around it; here is the policy alone, and all of
// it.
package prove
