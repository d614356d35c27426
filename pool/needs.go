package pool

import (
	"fmt"
	"strings"
)

// provideStep makes what the group needs beside its template: before the group, and again where somebody took it away.
func provideStep(d Desired, o Observed, t Traits) *Step {
	if len(o.MissingPrerequisites) == 0 || d.CreateBlocked != nil {
		return nil
	}
	return &Step{Kind: EnsurePrerequisites, Fields: o.MissingPrerequisites,
		Cause: Cause{"PrerequisiteMissing", fmt.Sprintf("something that the %s needs is missing or not as it should be", t.Group)}}
}

// cleanUpStep deletes what of ours is left when the group has gone.
func cleanUpStep(o Observed, t Traits) *Step {
	if len(o.Leftovers) == 0 {
		return nil
	}
	return &Step{Kind: CleanUp, Fields: o.Leftovers,
		Cause: Cause{"PoolDeleted", fmt.Sprintf("the pool is being deleted, and its %s is there no more", t.Group)}}
}

// listed puts names into a sentence.
func listed(names []string) string { return strings.Join(names, ", ") }
