// Package policy selects the rollout policies of a pool and merges them. All policies that select a pool apply, and the strictest wins:
// windows intersect, every exclusion closes, every budget and gate counts, the longest settling time and the smallest age apply.
// A policy can therefore only restrict what others allow; a tenant's policy never loosens the operator's.
//
// Whatever can't be evaluated closes: a policy with an unknown time zone, or one that the manager may not read, holds back all voluntary
// removals instead of none.
package policy
