// Package arm is the core of the simulated Azure: what all resource providers of a subscription share. It has ARM's errors, requests
// and answers, routes, long-running operations, the clock and the numbering, locations, and the resources that others refer to.
//
// Dependencies between the resource providers run one way: containerservice uses compute; both use arm. Each provider has one Service
// value, which embeds the Core and holds the provider's tables.
package arm
