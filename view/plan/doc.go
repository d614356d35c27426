// Package plan forecasts the effects of an edit on machine pools without applying it: which instances would be replaced, in which waves,
// why, the lowest number of Ready machines on the way, and which fields of an edit are the cause. It runs the reconciler's own pure
// function (pool.Decide) over the same observation, and simulates its steps on a cloud that performs every request.
package plan
