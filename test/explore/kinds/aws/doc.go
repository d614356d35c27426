// Package aws provides the simulated account of AWS for the exploration of its kinds of pools: its resources, the description of requests,
// out-of-band actions, and launch templates, which both kinds use.
package aws
