// Package metrics tells Prometheus what the controllers know of pools. What a pass saw of a pool in its cloud is told until
// the next pass, or until the object is gone; what MachinePools say of themselves is read from the cache whenever somebody asks.
// There is no metric for a single machine, so that their number grows with the pools alone.
package metrics

const namespace = "muster"
