package report

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/pool"
)

// needsReady says whether what the group needs beside its template is there.
func needsReady(f facts) *Condition {
	if f.d.Deleting || f.t.Needs == "" || f.d.Needless && len(f.o.Needs) == 0 {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, NeedsReady)
	}
	if c := needsRefused(f); c != nil {
		return c
	}
	switch {
	case len(f.o.Needs) > 0 && f.d.Held != nil:
		return &Condition{NeedsReady, False, f.d.Held.Reason, f.d.Held.Message}
	case len(f.o.Needs) > 0:
		return &Condition{NeedsReady, False, "NeedMissing", fmt.Sprintf("the %s is being made as the %s needs it: %s", f.t.Needs, f.t.Group, strings.Join(f.o.Needs, ", "))}
	case f.o.Wanted.Content == "":
		return &Condition{NeedsReady, Unknown, "NeedsUnknown", fmt.Sprintf("whether the %s is as the %s needs it is not known", f.t.Needs, f.t.Group)}
	default:
		return &Condition{NeedsReady, True, "AsWanted", fmt.Sprintf("the %s is as the %s needs it", f.t.Needs, f.t.Group)}
	}
}

// needsRefused is the condition while the cloud refuses what the group needs beside its template.
func needsRefused(f facts) *Condition {
	if f.t.Needs == "" {
		return nil
	}
	return refusal(f, NeedsReady, pool.Provide)
}
