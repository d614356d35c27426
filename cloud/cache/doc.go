// Package cache holds the results of earlier passes for drivers: the last reads of each pool (Pools), look-ups that are made once for each
// specification and shared for a while (Lookups, Resolver), and the size that was requested of a group a moment ago (RequestedSize). All of
// it saves requests and none of it is authoritative: losing it costs a few reads.
package cache
