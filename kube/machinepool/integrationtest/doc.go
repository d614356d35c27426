// Package integrationtest holds what a pool with Machines does with cluster-api's own controllers of Machines and health checks,
// on a real API server. It has tests alone.
package integrationtest
