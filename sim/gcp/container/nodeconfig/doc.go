// Package nodeconfig is what the simulated GKE makes of the description of a node pool: the defaults that it adds, the checks it makes, and
// what an update changes. It holds no state.
package nodeconfig
