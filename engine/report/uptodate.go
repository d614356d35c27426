package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
)

// upToDate reports whether every instance was launched from the wanted template, and how far it is from there.
func upToDate(f facts) *Condition {
	if f.d.Deleting {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, UpToDate)
	}
	if f.o.Group == nil {
		return &Condition{UpToDate, Unknown, "GroupMissing", fmt.Sprintf("there is no %s, so no machine to compare", f.t.Group)}
	}
	if f.counts.UpToDate == nil {
		return &Condition{UpToDate, Unknown, "TemplateUnknown", fmt.Sprintf("the inputs of the %s are not known", f.t.Template) + rollout(f)}
	}
	text := fmt.Sprintf("%d of %d machines were launched from the wanted %s", *f.counts.UpToDate, *f.counts.Current, f.t.Template)
	if c := held(f); c != nil {
		c.Message = text + "; " + c.Message + rollout(f)
		return c
	}
	return progress(f, text)
}

// progress returns the condition while the cloud refuses nothing: what the rollout does or waits for, or else whether all are up to date.
// Its message begins with the text.
func progress(f facts, text string) *Condition {
	switch roll := f.out.Plan.Rollout; {
	case roll.State != pool.RolloutDone && roll.State != "":
		return &Condition{UpToDate, False, roll.Cause.Reason, text + "; " + roll.Cause.Message + hindered(f)}
	case len(f.out.Plan.InPlace) > 0:
		first := f.out.Plan.InPlace[0].Cause
		return &Condition{UpToDate, False, first.Reason, fmt.Sprintf("%s; %d of them to change in place: %s", text, len(f.out.Plan.InPlace),
			first.Message)}
	case *f.counts.UpToDate == *f.counts.Current && f.o.ProviderRolloutUnknown != nil:
		return &Condition{UpToDate, Unknown, f.o.ProviderRolloutUnknown.Reason, text + "; " + f.o.ProviderRolloutUnknown.Message}
	case *f.counts.UpToDate == *f.counts.Current:
		return current(f, text)
	case f.d.SkipModel:
		why := skipped(f.d)
		return &Condition{UpToDate, False, why.Reason, text + "; " + why.Message}
	default:
		return &Condition{UpToDate, False, "TemplateUnknown", text + unread(f.o.Issues)}
	}
}

// rollout returns the sentence on a rollout that is added to another cause: what it does or waits for.
func rollout(f facts) string {
	if roll := f.out.Plan.Rollout; roll.Cause.Message != "" {
		return "; " + roll.Cause.Message
	}
	return ""
}

// unreadLimit bounds how many issues are named.
const unreadLimit = 3

// unread are the cloud's words where it is not known what machines were launched from. One of the issues is the read that was refused, and
// which one a driver does not say: the first ones are named.
func unread(issues []pool.Cause) string {
	text := ""
	for _, issue := range issues[:min(len(issues), unreadLimit)] {
		text += "; " + issue.Message
	}
	return text
}

// current returns the condition while all machines are as current as possible: a version that the control plane does not serve yet is
// still to come.
func current(f facts, text string) *Condition {
	waits := func(issue pool.Cause) bool { return issue.Reason == pool.ControlPlaneUpgradePending }
	if at := slices.IndexFunc(f.o.Issues, waits); at >= 0 {
		return &Condition{UpToDate, False, pool.ControlPlaneUpgradePending, text + "; " + f.o.Issues[at].Message}
	}
	return &Condition{UpToDate, True, "AllUpToDate", text}
}

// held is the cloud's refusal of what would bring machines up to date, where there is something to do.
func held(f facts) *Condition {
	switch done := f.out.Plan.Rollout.State == pool.RolloutDone; {
	case !done:
		return refusal(f, UpToDate, pool.StartProviderRollout, pool.CancelProviderRollout, pool.Replace, pool.EnterStandby)
	case len(f.out.Plan.InPlace) > 0:
		return refusal(f, UpToDate, pool.Apply)
	}
	return nil
}

// skipped says why a changed template replaces no machine.
func skipped(d pool.Desired) pool.Cause {
	if d.SkipModelCause.Reason != "" {
		return d.SkipModelCause
	}
	return pool.Cause{Reason: "ModelReconciliationSkipped", Message: "a changed template replaces none (SkipMachinePoolModelReconciliation)"}
}

// hindered are the cloud's own words on why a rollout that goes on does not get on, where they are not said already: machines
// that it needs are not launched.
func hindered(f facts) string {
	roll := f.out.Plan.Rollout
	if roll.State != pool.RolloutInProgress || len(f.o.Issues) == 0 || strings.Contains(roll.Cause.Message, f.o.Issues[0].Message) {
		return ""
	}
	return "; " + f.o.Issues[0].Message
}
