// Package plan says what would become of machine pools, without doing it: which instances would be replaced, in which
// waves, why, the lowest number of Ready machines on the way, and which fields of an edit are the cause. It asks the same pure
// function that the reconciler asks (pool.Decide), over the same observation, and follows it to the end on a cloud that does
// what it is asked for.
package plan
