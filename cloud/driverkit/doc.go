// Package driverkit is the frame that every driver is built on: a driver made of a table (Driver, Kind, Steps), what it remembers of pools
// (Memories), the ownership check (Ownership), the group as it was read (Reusable, NotYetShown, Existing), drift field by field (Differing,
// Changed), reads that an observation can do without (Tolerance, Refusal), and errors as causes (CauseOf, FailureOf).
package driverkit
