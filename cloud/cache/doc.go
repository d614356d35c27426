// Package cache is what drivers keep of earlier passes: the last reads of each pool (Pools), look-ups that are made once for each
// specification and shared for a while (Lookups, Resolver), and the size that a group was asked for a moment ago (Asked). All of it
// spares requests and none of it is truth: losing it costs a few reads.
package cache
