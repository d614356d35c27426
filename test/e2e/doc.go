// Package e2e holds the tests of the built binary. Files are named by their subject: those of a cloud follow its pools, including groups
// that other providers have created; the others follow AWSMachinePools from creation to deletion, and test classes, invalid input, commands
// and crashes. The tests run concurrently, each in its own world, so that one computes while others wait. They are in one package, because
// each package links a test binary. Package world holds the shared parts, package account the view of an AWS account.
package e2e
