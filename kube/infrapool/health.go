package infrapool

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/muster-project/muster/pool"
)

// The annotations by which people have machines replaced for the health of their nodes. Both are read on the infrastructure object
// and, where that says nothing, on its MachinePool.
const (
	// HealAnnotation is how long a node must have been unready for its machine to be replaced, as a Go duration.
	HealAnnotation = "muster.dev/replace-unhealthy-after"
	// MaxUnhealthyAnnotation is how many machines may be unhealthy for one of them to be replaced, as a number or a percentage.
	MaxUnhealthyAnnotation = "muster.dev/max-unhealthy"
)

const (
	// healLeast is more than a kubelet takes to start again, and than the node controller waits before it says that a node is gone.
	healLeast = 2 * time.Minute
	// maxUnhealthy is the share of MachineHealthChecks in the ecosystem's examples.
	maxUnhealthy = "40%"
)

// heal reads what is asked for the health of nodes: the nearest object that says something counts. In a pool with Machines that is
// the matter of MachineHealthChecks.
func (s *settings) heal(machines bool, objects ...annotated) {
	after, from := nearest(HealAnnotation, objects)
	limit, of := nearest(MaxUnhealthyAnnotation, objects)
	if of == nil {
		limit = maxUnhealthy
	}
	most, err := unhealthy(limit)
	if err != nil {
		s.refuse(*of, MaxUnhealthyAnnotation, limit, "a number or a percentage such as "+maxUnhealthy)
	}
	if from == nil {
		s.healHint = healHint(machines)
		return
	}
	d, wrong := time.ParseDuration(after)
	switch {
	case wrong != nil || d < healLeast:
		s.refuse(*from, HealAnnotation, after, fmt.Sprintf("a duration of %s at least, such as 10m", short(healLeast)))
	case machines:
		s.invalid = append(s.invalid, fmt.Sprintf("metadata.annotations[%s] of the %s means nothing: every machine of the pool has a Machine, whose health is the matter of a MachineHealthCheck",
			HealAnnotation, from.kind))
	case err == nil && !skipsRemediation(objects):
		s.healing = &pool.Remediation{After: d, MaxUnhealthy: most}
	}
}

// healHint says what replaces a machine that has no node, where the user has asked for nothing.
func healHint(machines bool) string {
	if machines {
		return "a MachineHealthCheck has its Machine replaced"
	}
	return "delete it, or set the annotation " + HealAnnotation + " on the MachinePool to have such machines replaced"
}

// skipsRemediation says that somebody looks into the pool.
func skipsRemediation(objects []annotated) bool {
	for _, a := range objects {
		if annotations.HasSkipRemediation(a.object) {
			return true
		}
	}
	return false
}

// bootstrap reads whether the content of bootstrap data replaces machines.
func (s *settings) bootstrap(objects ...annotated) {
	switch value, from := nearest(BootstrapRolloutAnnotation, objects); {
	case from == nil || value == "false":
	case value == "true":
		s.bootstrapRolls = true
	default:
		s.refuse(*from, BootstrapRolloutAnnotation, value, "true or false")
	}
}

// nearest is an annotation's value on the first object that has it.
func nearest(name string, objects []annotated) (string, *annotated) {
	for k, a := range objects {
		if value, ok := a.object.GetAnnotations()[name]; ok {
			return value, &objects[k]
		}
	}
	return "", nil
}

// unhealthy is a number of machines, or a share of them.
func unhealthy(text string) (pool.IntOrPercent, error) {
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseUint(number, 10, 31)
	if err == nil && percent && n > 100 {
		err = strconv.ErrRange
	}
	return pool.IntOrPercent{Value: int(n), Percent: percent}, err
}

// short is a duration of whole minutes as people write it.
func short(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }
