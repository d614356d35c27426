// Package machines is the infrastructure's side of MachinePool Machines: one infrastructure machine for each instance of a pool with
// Machines, created when the instance is observed and deleted when it is gone. The core controller creates a Machine for each. A user who
// deletes a Machine requests the removal of exactly its instance; and when the pool removes an instance, its Machine is deleted first, so
// that the Machine's own controller waits for hooks, drain and volumes.
//
// Pure functions decide over what was observed in this pass; nothing is remembered, and every write may be repeated.
package machines
