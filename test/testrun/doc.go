// Package testrun sets up the processes of tests: which tests run, and how often garbage is collected.
package testrun
