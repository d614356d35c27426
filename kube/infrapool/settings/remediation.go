package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/muster-project/muster/pool"
)

// The annotations that have machines replaced for the health of their nodes. Both are read on the infrastructure object and, if that has
// none, on its MachinePool.
const (
	// RemediationAnnotation sets the time for which a node must have been unready before its machine is replaced, as a Go duration.
	RemediationAnnotation = "muster.dev/replace-unhealthy-after"
	// MaxUnhealthyAnnotation limits the number of unhealthy machines above which none is replaced, as a number or a percentage.
	MaxUnhealthyAnnotation = "muster.dev/max-unhealthy"
)

const (
	// minUnready is more than a kubelet takes to restart, and than the node controller waits before it marks a node as gone.
	minUnready = 2 * time.Minute
	// defaultMaxUnhealthy is the share in the ecosystem's examples of MachineHealthChecks.
	defaultMaxUnhealthy = "40%"
)

// readRemediation reads the remediation of the first object that has its annotation. In a pool with Machines a MachineHealthCheck does it.
func (s *Settings) readRemediation(machines bool, objects ...annotated) {
	after, from := nearest(RemediationAnnotation, objects)
	limit, of := nearest(MaxUnhealthyAnnotation, objects)
	if of == nil {
		limit = defaultMaxUnhealthy
	}
	maxUnhealthy, err := numberOrPercent(limit)
	if err != nil {
		s.refuse(*of, MaxUnhealthyAnnotation, limit, "a number or a percentage such as "+defaultMaxUnhealthy)
	}
	if from == nil {
		s.RemediationHint = remediationHint(machines)
		return
	}
	d, wrong := time.ParseDuration(after)
	switch {
	case wrong != nil || d < minUnready:
		s.refuse(*from, RemediationAnnotation, after, fmt.Sprintf("a duration of %s at least, such as 10m", short(minUnready)))
	case machines:
		s.Invalid = append(s.Invalid, fmt.Sprintf(
			"metadata.annotations[%s] of the %s means nothing: every machine of the pool has a Machine, whose health is the matter of a "+
				"MachineHealthCheck",
			RemediationAnnotation, from.kind))
	case err == nil && !skipsRemediation(objects):
		s.Remediation = &pool.Remediation{After: d, MaxUnhealthy: maxUnhealthy}
	}
}

// remediationHint returns what replaces a machine that has no node, if the user has requested nothing.
func remediationHint(machines bool) string {
	if machines {
		return "a MachineHealthCheck has its Machine replaced"
	}
	return "delete it, or set the annotation " + RemediationAnnotation + " on the MachinePool to have such machines replaced"
}

// skipsRemediation reports whether Cluster API's annotation excludes the pool from remediation.
func skipsRemediation(objects []annotated) bool {
	for _, a := range objects {
		if annotations.HasSkipRemediation(a.object) {
			return true
		}
	}
	return false
}

// readBootstrap reads whether the content of bootstrap data replaces machines.
func (s *Settings) readBootstrap(objects ...annotated) {
	switch value, from := nearest(BootstrapRolloutAnnotation, objects); {
	case from == nil || value == "false":
	case value == "true":
		s.BootstrapRolls = true
	default:
		s.refuse(*from, BootstrapRolloutAnnotation, value, "true or false")
	}
}

// nearest returns the value of an annotation on the first object that has it.
func nearest(name string, objects []annotated) (string, *annotated) {
	for k, a := range objects {
		if value, ok := a.object.GetAnnotations()[name]; ok {
			return value, &objects[k]
		}
	}
	return "", nil
}

// numberOrPercent parses a number of machines, or a percentage of them.
func numberOrPercent(text string) (pool.IntOrPercent, error) {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseUint(number, 10, 31)
	if err == nil && percent && n > 100 {
		err = strconv.ErrRange
	}
	return pool.IntOrPercent{Value: int(n), Percent: percent}, err
}

// short formats a duration of whole minutes without its seconds.
func short(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }
