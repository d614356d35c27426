package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/pool"
)

// maxNamedMachines bounds the machines that an issue names.
const maxNamedMachines = 3

// scaleSetIssues returns why the scale set failed; none if it did not. It reads the scale set's instance view and the last operation that
// is remembered. The answers are kept: they do not change with time.
func (r *reader) scaleSetIssues(ctx context.Context) []pool.Cause {
	is := r.memory.set.is
	if !gaveUp(stateOf(is)) {
		return nil
	}
	etag := ptr.Deref(is.Etag, "")
	if known := r.memory.issues; !known.at.IsZero() && known.etag == etag && r.now.Sub(known.at) < issuesPeriod {
		return known.issues
	}
	issues, complete := r.setReader().viewIssues(ctx, is)
	failures, answered := r.memory.operations.issues(ctx, r.c, r.now)
	issues = unique(append(issues, failures...))
	if len(issues) == 0 {
		issues = []pool.Cause{{Reason: reasonFailed,
			Message: fmt.Sprintf("Azure says of scale set %s that its last operation has failed, and not why", r.t.name)}}
	}
	if complete && answered {
		r.memory.issues = issuesRead{issues: issues, etag: etag, at: r.now}
	}
	return issues
}

// reasonFailed is the reason of a scale set that failed without a cause from Azure.
const reasonFailed = "ScaleSetFailed"

// mergeIssues returns the issues of a scale set and of its machines, without those that an issue of a machine repeats in more detail.
func mergeIssues(ofSet, ofMachines []pool.Cause) []pool.Cause {
	var out []pool.Cause
	for _, c := range ofSet {
		better := slices.ContainsFunc(ofMachines, func(m pool.Cause) bool {
			return c.Reason == reasonFailed || strings.HasSuffix(m.Message, c.Message)
		})
		if !better {
			out = append(out, c)
		}
	}
	return append(out, ofMachines...)
}

// gaveUp reports whether the last operation on the scale set ended without success.
func gaveUp(state string) bool { return state == stateFailed || state == stateCanceled }

// machineIssues returns why machines failed, in Azure's words: one issue for those with the same cause.
func (r setRead) machineIssues(spot bool) []pool.Cause {
	var causes []pool.Cause
	of := map[pool.Cause][]string{}
	for _, m := range r.machines {
		for _, cause := range m.failures(spot) {
			if of[cause] == nil {
				causes = append(causes, cause)
			}
			of[cause] = append(of[cause], m.id)
		}
	}
	for k, cause := range causes {
		causes[k].Message = named(of[cause]) + ": " + cause.Message
	}
	return causes
}

// failures returns why a machine failed.
func (m machine) failures(spot bool) []pool.Cause {
	if m.state() != pool.Failed {
		return nil
	}
	var list []pool.Cause
	for _, status := range m.statuses {
		if cause, ok := session.StatusIssue(status); ok {
			list = append(list, cause)
		}
	}
	switch {
	case len(list) > 0:
		return unique(list)
	case m.power == powerDeallocated && spot:
		return []pool.Cause{{Reason: "SpotEvicted",
			Message: "deallocated, as Azure does with a spot machine whose capacity it takes back; it is replaced"}}
	case !gaveUp(m.provisioning):
		return []pool.Cause{{Reason: "NotRunning", Message: "its power state is " + m.power}}
	default:
		return []pool.Cause{{Reason: "ProvisioningFailed",
			Message: "its provisioning state is " + m.provisioning + ", and Azure does not say why"}}
	}
}

// named returns machines for a message, not all of them if there are many.
func named(ids []string) string {
	what := "machine "
	if len(ids) > 1 {
		what = "machines "
	}
	if len(ids) <= maxNamedMachines {
		return what + strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s%s and %d more", what, strings.Join(ids[:maxNamedMachines], ", "), len(ids)-maxNamedMachines)
}
