// Package metrics exposes the state of pools to Prometheus. What a pass observed of a pool in its cloud is exposed until the next pass, or
// until the object is deleted; the status of MachinePools is read from the cache at each scrape. There is no metric for a single machine,
// so that the number of series grows only with the number of pools.
package metrics

const namespace = "muster"
