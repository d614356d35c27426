package report

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/pool"
)

// needsReady reports whether the prerequisites of the group exist.
func needsReady(f facts) *Condition {
	if f.d.Deleting || f.t.Prerequisites == "" || f.d.NoPrerequisites && len(f.o.MissingPrerequisites) == 0 {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, PrerequisitesReady)
	}
	if c := needsRefused(f); c != nil {
		return c
	}
	switch {
	case len(f.o.MissingPrerequisites) > 0 && f.d.CreateBlocked != nil:
		return &Condition{PrerequisitesReady, False, f.d.CreateBlocked.Reason, f.d.CreateBlocked.Message}
	case len(f.o.MissingPrerequisites) > 0:
		return &Condition{PrerequisitesReady, False, "PrerequisiteMissing",
			fmt.Sprintf("the %s is being updated: %s", f.t.Prerequisites, strings.Join(f.o.MissingPrerequisites, ", "))}
	case f.o.Wanted.Content == "":
		return &Condition{PrerequisitesReady, Unknown, "PrerequisitesUnknown",
			fmt.Sprintf("whether the %s is up to date is not known", f.t.Prerequisites)}
	default:
		return &Condition{PrerequisitesReady, True, "UpToDate", fmt.Sprintf("the %s is up to date", f.t.Prerequisites)}
	}
}

// needsRefused returns the condition while the cloud rejects the prerequisites of the group.
func needsRefused(f facts) *Condition {
	if f.t.Prerequisites == "" {
		return nil
	}
	return refusal(f, PrerequisitesReady, pool.EnsurePrerequisites)
}
