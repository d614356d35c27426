// Package machinesync writes the Machines of a MachinePool: it creates a Machine for each infrastructure machine, keeps its metadata and
// spec in line with the pool's template, deletes Machines that a MachineHealthCheck has marked or that represent nothing any more, and
// deletes all of them with the pool. It waits for nothing: what it writes wakes the pool again.
package machinesync
