// Package sweep shares reads among the pools of one account, region and service. A pool asks for one key (its group's name) with the
// freshness that its pass needs. The answer comes from an earlier call if that is fresh enough; otherwise from one call for all keys that
// were requested at the same time, filled up with keys that other pools will request next. The cost of idle pools approaches zero as a
// fleet grows. A call that fails makes the keys that it was to read unknown, never gone.
package sweep
