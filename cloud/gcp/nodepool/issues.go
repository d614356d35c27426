package nodepool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// issues returns why machines do not launch or are not as wanted, in the words of GKE and Compute Engine where they have any.
func (w desired) issues(read poolRead) []pool.Cause {
	var out []pool.Cause
	for _, err := range read.unread {
		out = append(out, driverkit.CauseOf(err))
	}
	if read.pool.Status != statusError && !read.complete() {
		out = append(out, conditionsOf(read.pool)...)
	}
	out = append(out, read.groupIssues()...)
	out = append(out, machineIssues(read.machines())...)
	if last := w.last.outcome; last != nil && last.failed != nil && !read.complete() {
		out = append(out, driverkit.FailureOf(last.failed))
	}
	out = append(out, w.versionIssues()...)
	return slices.Compact(out)
}

// conditionsOf are the conditions of a node pool that is not well.
func conditionsOf(is *container.NodePool) []pool.Cause {
	var out []pool.Cause
	for _, c := range is.Conditions {
		out = append(out, driverkit.FailureOf(session.ErrorOf(codeOf(c), c.Message)))
	}
	if len(out) == 0 && is.Status == statusDegraded {
		out = append(out, pool.Cause{Reason: "NodePoolDegraded", Message: cmp.Or(session.Clean(is.StatusMessage),
			"the node pool runs with an error that GKE does not name")})
	}
	return out
}

// failureOf is why a node pool may not be usable.
func failureOf(is *container.NodePool) *pool.Cause {
	if words := conditionsOf(is); len(words) > 0 {
		return &words[0]
	}
	return &pool.Cause{Reason: "NodePoolError", Message: cmp.Or(session.Clean(is.StatusMessage),
		"the node pool is in an error that GKE does not name")}
}

// groupIssues are those of instance groups that the node pool names and Compute Engine does not have. While GKE is at work, or an upgrade
// or the creation has stopped, GKE has not made them yet or has deleted them itself.
func (r poolRead) groupIssues() []pool.Cause {
	if r.busy() != nil || r.paused() || r.pool.Status == statusError {
		return nil
	}
	var out []pool.Cause
	for _, g := range r.groups {
		if g.Missing() {
			out = append(out, pool.Cause{Reason: codeMissing, Message: missingGroup(g) + ": no machine of it counts"})
		}
	}
	return out
}

// codeMissing is the code of an instance group that Compute Engine does not have.
const codeMissing = "InstanceGroupMissing"

// missingGroup tells of an instance group that Compute Engine does not have.
func missingGroup(g groups.Group) string {
	return fmt.Sprintf("the node pool names instance group %s in zone %s, which Compute Engine does not have", g.Name, g.Zone)
}

// machineIssues are why machines do not come: of each error one, with the zone.
func machineIssues(machines []groups.Instance) []pool.Cause {
	var out []pool.Cause
	for _, m := range machines {
		if m.Failure == nil {
			continue
		}
		issue := driverkit.FailureOf(m.Failure)
		if !strings.Contains(issue.Message, m.Zone) {
			issue.Message += " (zone " + m.Zone + ")"
		}
		if !slices.Contains(out, issue) {
			out = append(out, issue)
		}
	}
	slices.SortFunc(out, func(a, b pool.Cause) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return out
}

// versionIssues are those of the version: what it waits for, and one that is newer than the wanted one.
func (w desired) versionIssues() []pool.Cause {
	var out []pool.Cause
	if w.upgrade.Path.WaitsForControlPlane {
		out = append(out, pool.Cause{Reason: pool.ControlPlaneUpgradePending,
			Message: fmt.Sprintf("nodes run Kubernetes %s, and %s waits for the control plane",
				w.launched.version, w.kubernetes)})
	}
	if current := w.launched.version; w.kubernetes.Known() && !w.reverts && w.kubernetes.Compare(current) < 0 {
		out = append(out, pool.Cause{Reason: "NewerVersion", Message: fmt.Sprintf(
			"the node pool runs Kubernetes %s, %s asks for %s: the newer version is kept", current, fieldVersion, w.kubernetes)})
	}
	return out
}
