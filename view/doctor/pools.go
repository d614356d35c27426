package doctor

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/cloud"
)

const (
	// stuckAfter is the time without Ready after which a pool is a problem. Machines boot, join and drain in minutes.
	stuckAfter = 10 * time.Minute

	// heldLong is the time after which a rollout that waits for users alone is worth a warning: a hold without an end is easily forgotten.
	heldLong = 7 * 24 * time.Hour

	readyCondition, groupCondition, upToDateCondition = "Ready", "GroupReady", "UpToDate"
)

// forgotten are the reasons of a rollout of which only machines are left that users keep, or whose pods they keep, and what they can do.
var forgotten = map[string]string{
	"Held":        "remove the annotation muster.dev/hold from the Nodes or their Machines, or give it an end",
	"Quarantined": "let the pods of the Nodes go: docs/rollouts.md#replace-machines-whose-pods-cant-be-evicted",
}

// pools checks each pool: whether its group is its own, and whether it is Ready.
func pools(f Installation) []Finding {
	var found []Finding
	ready := 0
	for _, p := range f.Pools {
		if !f.ours(p) {
			continue
		}
		one := p.finding(f.Now)
		if one.Severity == OK {
			ready++
			continue
		}
		found = append(found, one)
	}
	if ready > 0 {
		found = append(found, okay("Pools", fmt.Sprintf("%d Ready", ready)))
	}
	return found
}

// ours reports whether Muster runs the kind of a pool.
func (f Installation) ours(p Pool) bool {
	for _, provider := range f.Providers {
		for _, k := range provider.Kinds {
			if k.GroupKind == p.Kind {
				return true
			}
		}
	}
	return false
}

func (p Pool) object() string { return "MachinePool " + p.Namespace + "/" + p.Name }

func (p Pool) finding(now time.Time) Finding {
	f := Finding{Severity: Problem, Object: p.object()}
	look := fmt.Sprintf("kubectl -n %s describe %s/%s", p.Namespace, strings.ToLower(p.Kind.Kind), p.Infrastructure)
	ready, group := meta.FindStatusCondition(p.Conditions, readyCondition), meta.FindStatusCondition(p.Conditions, groupCondition)
	switch {
	case !p.Exists:
		f.Fact, f.Action = fmt.Sprintf("%s %s does not exist", p.Kind.Kind, p.Infrastructure),
			"create it, or correct spec.template.spec.infrastructureRef"
	case group != nil && group.Reason == cloud.ReasonOwnershipConflict && group.Status != metav1.ConditionTrue:
		f.Fact, f.Action = cloud.ReasonOwnershipConflict+": "+group.Message,
			fmt.Sprintf("muster adopt machinepool/%s -n %s --dry-run: docs/migrating.md", p.Name, p.Namespace)
	case p.Paused:
		f.Severity, f.Fact, f.Action = Warning, "is paused",
			"remove spec.paused of the Cluster or the annotation cluster.x-k8s.io/paused when the pool should go on"
	case ready == nil:
		f.Fact, f.Action = "has no condition Ready: no controller has looked at it", "see the findings of manager, controllers and gates"
	case cmp.Or(p.Cause, ready).Status == metav1.ConditionTrue:
		return p.heldLong(f, now)
	default:
		cause := cmp.Or(p.Cause, ready)
		f.Severity, f.Action = p.severity(*cause, now), look
		f.Fact = fmt.Sprintf("%s is %s (%s): %s", cause.Type, cause.Status, cause.Reason, p.Message)
	}
	return f
}

// heldLong completes the finding of a pool that is Ready: its machines may be out of date for long, because users keep them.
func (p Pool) heldLong(f Finding, now time.Time) Finding {
	f.Severity = OK
	c := meta.FindStatusCondition(p.Conditions, upToDateCondition)
	if c == nil || c.Status != metav1.ConditionFalse || forgotten[c.Reason] == "" || now.Sub(c.LastTransitionTime.Time) < heldLong {
		return f
	}
	f.Severity, f.Action = Warning, forgotten[c.Reason]
	f.Fact = fmt.Sprintf("has not been up to date for more than 7 days (%s): %s", c.Reason, c.Message)
	return f
}

// severity returns the severity of a pool that is not Ready. A short time is normal.
func (p Pool) severity(ready metav1.Condition, now time.Time) Severity {
	if now.Sub(ready.LastTransitionTime.Time) < stuckAfter {
		return Warning
	}
	return Problem
}
