// Package driverkit is the scaffold that every driver is built on: how a call of Observe or Start runs (Pass), the table of steps (Steps),
// the ownership check (Ownership), the group as it was read (Reusable, NotYetShown, Existing), drift field by field (Differing, Changed),
// secondary reads that the cloud may deny (Refusal), what a cloud says of a failure (KindsByCode, Describe, WithoutLinks), and errors as
// causes (CauseOf, FailureOf).
package driverkit
