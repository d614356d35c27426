package report

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/pool"
)

// grounds are what Ready may say, most important first: refusals come before what is being done, causes before effects.
var grounds = []func(facts) *Condition{groupRefused, templateRefused, needsRefused, groupReady, templateReady, needsReady, instancesReady}

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

// sentence says how many machines there are, and what is first in the way of the rest.
func sentence(f facts, c *Condition) string {
	counted := fmt.Sprintf("%d machines wanted", f.counts.Desired)
	if f.counts.Ready != nil {
		counted = readyOf(*f.counts.Ready, f.counts.Desired)
	}
	if stale := f.counts.UpToDate; stale != nil && *stale < *f.counts.Current {
		counted += fmt.Sprintf(", %d up to date", *stale)
	}
	if c == nil {
		switch roll := f.out.Plan.Rollout; roll.State {
		case pool.RolloutHalted, pool.RolloutPaused, pool.RolloutWaiting:
			counted += "; " + roll.Cause.Message
		}
		counted += hindered(f)
		if text := blocked(f); text != "" {
			counted += "; " + text
		}
		return counted
	}
	waiting := f.out.Plan.Waiting
	switch {
	case c.Type == InstancesReady && len(waiting) == 0:
		return counted
	case len(waiting) > 0 && (c.Type == InstancesReady || c.Reason == scaling):
		return counted + "; " + waiting[0].Message
	}
	return strings.Join([]string{counted, c.Message}, "; ")
}
