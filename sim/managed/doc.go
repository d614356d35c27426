// Package managed is how clouds run node pools of managed Kubernetes: nodes that become Ready, are cordoned and drained, and pools that are
// brought to their size and upgraded. A simulated cloud keeps its documents, the names of states, the errors and the machines; it describes
// these as Machines and carries out what the functions of this package return.
package managed
