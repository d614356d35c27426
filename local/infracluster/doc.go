// Package infracluster replaces the controllers of infrastructure clusters in the local world: it fills in the resources of the simulated
// cloud and reports the network as ready. An externally managed infrastructure cluster is normally made ready by its owner, any other by
// its provider's controller. The local world has neither, so this package handles both.
package infracluster
