// Package webhook serves what the schemas of the kinds can't say by themselves: defaults and rules of MachinePools that
// look at more than one value, and the conversion of every kind that is served in more than one version.
package webhook
