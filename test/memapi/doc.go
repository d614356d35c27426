// Package memapi is a Kubernetes API server in memory, for the exploration of controllers in virtual time. Package served puts it behind
// HTTPS for machines that join.
//
// controller-runtime's fake client is some fifty times too slow for thousands of scenarios a minute (every read goes through JSON and a
// tracker that lists to find) and has no caches: it always returns the newest state, while the defects of controllers lie in the view of a
// process between a write and its watch event. Here a Server holds the objects and a log of all changes, and each simulated process has a
// Cache that applies this log when and as far as the exploration decides.
//
// The semantics are the real server's where controllers can see them: resource versions and conflicts, UIDs, generations,
// finalizers and deletion in two phases, graceful deletion of pods, preconditions, the status subresource, merge patches
// and strategic merge patches, times of whole seconds, writes that change nothing. Each has a test. What differs is little,
// and named: a status write never changes metadata, the served versions of a kind are not converted into each other, an
// object that was sent is replaced by the reply instead of merged with it, and there are no defaults, no validation
// beyond metadata, no webhooks and no garbage collection: the exploration runs those that it needs. Server-side apply, JSON
// patches, dry runs and watches are refused.
//
// Everything is deterministic: no goroutine, no randomness, no map order, and no clock but Options.Now. Requests may come from several
// goroutines; these then determine the order in which they are served. The log is kept for good, so a Server lives as long as one scenario.
package memapi
