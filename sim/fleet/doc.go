// Package fleet implements what the simulated clouds with groups of machines have in common: the choice of a zone with capacity for the
// next machine, the faults of machines, the selection of machines to remove, and power at the MachineHost. The simulator of a cloud has its
// own documents, states, policies and errors.
package fleet
