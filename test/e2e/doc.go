// Package e2e holds the tests of the built binary, each subject in a package of its own below it: go test gives every package ten
// minutes, and runs several at a time. What they share is in package world, what they see of an AWS account in package account.
package e2e
