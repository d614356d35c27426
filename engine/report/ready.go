package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
)

// grounds are the sources of Ready, most important first: refusals before steps in progress, causes before effects.
var grounds = []func(facts) *Condition{groupRefused, templateRefused, needsRefused, otherRefused, rolloutHalted, groupReady, templateReady,
	needsReady, instancesReady}

// ready is the summary of the others in one sentence: what, how many, waiting for what.
func ready(f facts) *Condition {
	if f.d.Deleting {
		return &Condition{Ready, False, "Deleting", deleting(f).Message}
	}
	if !f.out.Seen {
		return unseen(f, Ready)
	}
	for _, check := range grounds {
		c := check(f)
		if c == nil || c.Status == True {
			continue
		}
		return &Condition{Ready, c.Status, c.Reason, sentence(f, c)}
	}
	return &Condition{Ready, True, "AllReady", sentence(f, nil)}
}

// stepsInOrder are the steps of which a refusal is reported by Ready, most important first.
var stepsInOrder = slices.Concat(groupSteps, []pool.StepKind{
	pool.PutTemplate, pool.EnsurePrerequisites, pool.StartProviderRollout, pool.CancelProviderRollout, pool.Drain, pool.Undrain, pool.Renew,
	pool.Apply, pool.DefaultTemplate, pool.PruneTemplates, pool.DeleteTemplates, pool.CleanUp,
})

// otherRefused is the condition while a step is refused that neither the group nor its template or prerequisites need: one of a rollout, a
// drain, a change in place.
func otherRefused(f facts) *Condition {
	for _, kind := range stepsInOrder {
		if err := f.out.Refused[kind]; lasting(kind, err) {
			return &Condition{Ready, False, reason(err), err.Error()}
		}
	}
	return nil
}

// rolloutHalted is the condition while new machines do not become Ready: no more are replaced until a user changes something.
func rolloutHalted(f facts) *Condition {
	if roll := f.out.Plan.Rollout; roll.State == pool.RolloutHalted {
		return &Condition{Ready, False, roll.Cause.Reason, roll.Cause.Message}
	}
	return nil
}

// sentence reports the number of machines, the first obstacle of the others, and all other problems: one cause hides no other.
func sentence(f facts, c *Condition) string {
	text := fmt.Sprintf("%d machines wanted", f.counts.Desired)
	if f.counts.Ready != nil {
		text = readyOf(*f.counts.Ready, f.counts.Desired)
	}
	if stale := f.counts.UpToDate; stale != nil && *stale < *f.counts.Current {
		text += fmt.Sprintf(", %d up to date", *stale)
	}
	for _, more := range append([]string{first(f, c)}, others(f, c)...) {
		if more != "" && !strings.Contains(text, more) {
			text += "; " + more
		}
	}
	return text
}

// first returns the obstacle that the condition names from which Ready has its reason.
func first(f facts, c *Condition) string {
	waiting := f.out.Plan.Waiting
	switch {
	case c == nil || c.Type == InstancesReady && len(waiting) == 0:
		return ""
	case len(waiting) > 0 && (c.Type == InstancesReady || c.Reason == scaling):
		return waiting[0].Message
	}
	return c.Message
}

// others returns the further obstacles: refused steps, a rollout that does not continue, a drain that does not end.
func others(f facts, c *Condition) []string {
	var list []string
	if refused := f.out.Plan.Refused; refused != nil {
		list = append(list, refused.Message)
	}
	if g := f.o.Group; g != nil && g.Failed != nil {
		list = append(list, g.Failed.Message)
	}
	for _, kind := range stepsInOrder {
		if err := f.out.Refused[kind]; lasting(kind, err) {
			list = append(list, err.Error())
		}
	}
	switch roll := f.out.Plan.Rollout; {
	case roll.State == pool.RolloutHalted, roll.State == pool.RolloutWaiting && roll.Cause.Reason == rolloutFailed,
		c == nil && (roll.State == pool.RolloutPaused || roll.State == pool.RolloutWaiting):
		list = append(list, roll.Cause.Message)
	}
	return append(list, strings.TrimPrefix(hindered(f), "; "), blocked(f))
}

// rolloutFailed is the reason of a rollout of the cloud's own that failed and is begun again after a pause.
const rolloutFailed = "ProviderRolloutFailed"
