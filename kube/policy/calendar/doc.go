// Package calendar computes when voluntary removals may begin, from the windows and exclusions of rollout policies.
//
// A policy is compiled into a Schedule once. Combine makes a Calendar from the schedules of all policies that select a pool. Calendar.At is
// a pure function of a time and a reason: it reads no clock and starts no timer, so that a decision can be repeated by any process.
//
// The semantics:
//
//   - A policy is open if any of its windows that admits the reason is open. Windows that touch or overlap are one. A policy without
//     windows is open. A calendar is open if all of its policies are open and no exclusion applies.
//   - A window starts when the clock of its zone first reaches or passes its start on one of its days: after the gap if the clock skips the
//     start, and once, the first time, if the clock shows it twice. Its duration is elapsed time. It belongs to the day on which it starts.
//   - An exclusion between two dates begins with the first day in its zone and ends with the last day, which is excluded as a whole.
//     Between two moments it ends at the second one.
//   - Intervals contain their beginning and not their end.
package calendar
