// Package e2e holds the tests of the built binary. Files are named by what they test: those of a cloud follow its pools, with groups that
// other providers have made; the others follow AWSMachinePools from creation to deletion, and what users write and the worlds that they
// start: classes, wrong input, commands, crashes. The tests run side by side, each in a world of its own, so that one computes while others
// wait. They are one package, because each package links a test binary of its own. What they share is in package world, what they see of an
// AWS account in account.
package e2e
