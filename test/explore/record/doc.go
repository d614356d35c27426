// Package record holds the observations of an explored scenario: its trace, the time since which each machine serves, the outcome of a
// plan, the counts of requests to the cloud, and the previous statuses of objects. It does not depend on package world.
package record
