// Package managed simulates node pools of managed Kubernetes: nodes that become Ready, are cordoned and drained, and pools that are scaled
// and upgraded. A simulated cloud keeps its documents, the names of states, the errors and the machines; it describes these as Machines and
// applies the results of this package's functions.
package managed
