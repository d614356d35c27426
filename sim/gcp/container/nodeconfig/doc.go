// Package nodeconfig processes the descriptions of node pools for the simulated GKE: it adds defaults, validates them, and computes the
// changes of an update. It has no state.
package nodeconfig
