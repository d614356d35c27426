// Package awscluster plays the owner of AWSCluster objects in the local world: it fills in what the simulated account
// holds and says that the network is ready. An AWSCluster that is managed elsewhere is made ready by its owner, and one
// that is not by the AWS provider's own controller; neither exists here, so this package stands in for both.
package awscluster
