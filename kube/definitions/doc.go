// Package definitions compares the CustomResourceDefinitions of a management cluster with those that this build comes with. The
// installation of another provider has kinds of the same names and replaces them: fields are pruned then, versions are not served, and
// objects are converted by a program that does not know their fields. A kind whose definition differs so is not run.
package definitions
