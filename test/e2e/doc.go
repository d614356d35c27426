// Package e2e holds the tests of the built binary. Packages aws, azure and gcp follow the pools of a cloud, with those that other tools
// have made, package pools AWSMachinePools from creation to deletion, package manifests what users write and the worlds that they start:
// classes, wrong input, commands, crashes. The tests of a package run side by side, each in a world of its own, so that one computes while
// another waits. A new subject is a file in one of the packages; a package of its own pays once they would take longer than five minutes.
// What they share is in package world, what they see of an AWS account in account.
package e2e
