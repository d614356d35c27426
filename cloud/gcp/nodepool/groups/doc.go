// Package groups reads and changes the instance groups that a GKE node pool keeps its machines in: ordinary managed instance groups of
// Compute Engine, one for each zone, and two while a blue-green upgrade runs. It knows nothing of node pools.
package groups
