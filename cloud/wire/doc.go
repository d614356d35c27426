// Package wire is the one HTTP transport that every driver talks through. It keeps the documented rate budgets of the
// clouds on this side of the wire, so that a fleet of pools never gets an account throttled, bounds every call in time,
// and counts what was sent. It never waits and never tries again: a call that can't be sent now fails now, and says when.
package wire
