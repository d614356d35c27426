// Package machines is the infrastructure's side of MachinePool Machines: one infrastructure machine for each instance of a
// pool that has machines of its own, made when the instance is seen and taken away when it is gone. The core controller
// makes a Machine of each. Who deletes a Machine wants exactly its instance to go; and when the pool itself has an instance go,
// its Machine is deleted first, so that hooks, drain and volumes are waited for by the Machine's own controller.
//
// What is to be done is decided by pure functions over what was observed in this pass; nothing is remembered, and every
// write may be repeated.
package machines
