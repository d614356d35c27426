// Package infracluster stands in, in the local world, for the controllers of infrastructure clusters: it fills in what the simulated
// cloud holds and reports that the network is ready. One that is managed elsewhere is made ready by its owner, and one that is not by
// its provider's own controller; neither exists here, so this package stands in for both.
package infracluster
