// Package infracluster plays, in the local world, the owners of infrastructure clusters such as AWSCluster and AzureCluster: it
// fills in what the simulated cloud holds and says that the network is ready. One that is managed elsewhere is made ready by its
// owner, and one that is not by its provider's own controller; neither exists here, so this package stands in for both.
package infracluster
