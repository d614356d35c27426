package policy

import (
	"errors"
	"strings"
	"time"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy/calendar"
	"github.com/muster-project/muster/pool/rollouts"
)

// The reasons for which policies hold back a pool.
const (
	// ReasonOutsideWindow is that of a policy none of whose windows is open.
	ReasonOutsideWindow = "OutsideWindow"
	// ReasonExcluded is that of an exclusion.
	ReasonExcluded = "Excluded"
	// ReasonPolicyInvalid is that of a policy that can't be used.
	ReasonPolicyInvalid = musterv1.ReasonPolicyInvalid
	// ReasonPolicyNeverOpens is that of policies that are never open at the same time.
	ReasonPolicyNeverOpens = musterv1.ReasonPolicyNeverOpens
)

// Budget is a budget of a policy.
type Budget struct {
	Policy *Policy
	musterv1.RolloutBudget
}

// Gate is a gate of a policy.
type Gate struct {
	Policy *Policy
	musterv1.RolloutGate
}

// Effective merges the policies of one pool. It is a value: it depends on the policies alone, and holds neither a clock nor a client. The
// zero value restricts nothing.
type Effective struct {
	// Policies that select the pool: those of the operator first, then by name.
	Policies []*Policy
	// Calendar is open when all policies are.
	Calendar *calendar.Calendar
	// Budgets and Gates are those of all policies. All of them apply.
	Budgets []Budget
	Gates   []Gate
	// MaxAge is the smallest; 0 if no policy sets one. Jitter is its jitter in percent.
	MaxAge time.Duration
	Jitter int
	// Settle is the longest.
	Settle time.Duration
	// OnFailure is Halt if a policy sets it, else what the others set.
	OnFailure musterv1.RolloutFailureAction
	// Invalid holds back every voluntary removal, because a policy can't be used.
	Invalid rollouts.Cause
}

// Merge returns the effect of policies, which are those that select a pool, in their order.
func Merge(policies []*Policy) Effective {
	e := Effective{Policies: policies}
	var schedules []*calendar.Schedule
	for _, p := range policies {
		if p.invalid != nil {
			if e.Invalid.Reason == "" {
				e.Invalid = rollouts.Cause{Reason: ReasonPolicyInvalid, Message: p.String() + " can't be used, so that it holds back all rollouts: " +
					"correct spec." + faultOf(p.invalid)}
			}
			continue
		}
		schedules = append(schedules, p.schedule)
		e.add(p)
	}
	if len(schedules) > 0 {
		e.Calendar = calendar.Combine(schedules...)
	}
	return e
}

// add takes over what a policy asks for, as far as it is stricter.
func (e *Effective) add(p *Policy) {
	for _, b := range p.Spec.Budgets {
		e.Budgets = append(e.Budgets, Budget{p, b})
	}
	for _, g := range p.Spec.Gates {
		e.Gates = append(e.Gates, Gate{p, g})
	}
	if p.maxAge > 0 && (e.MaxAge == 0 || p.maxAge < e.MaxAge) {
		e.MaxAge, e.Jitter = p.maxAge, p.jitter
	}
	if e.OnFailure != musterv1.FailureHalt && p.Spec.OnFailure != "" {
		e.OnFailure = p.Spec.OnFailure
	}
	if p.Spec.Settle != nil {
		e.Settle = max(e.Settle, p.Spec.Settle.Duration)
	}
}

// faultOf returns the first fault of a policy.
func faultOf(err error) string {
	var errs calendar.Errors
	if errors.As(err, &errs) && len(errs) > 0 {
		return errs[0].Error()
	}
	return err.Error()
}

// Limits returns what the policies allow at a time, without budgets and gates. It is computed from its arguments alone.
func (e Effective) Limits(now time.Time) rollouts.Limits {
	l := rollouts.Limits{Settle: e.Settle, MaxAge: e.MaxAge, Jitter: e.Jitter, RollsBack: e.OnFailure == musterv1.FailureRollback}
	if e.Invalid.Reason == "" && e.Calendar == nil {
		return l
	}
	for _, r := range calendar.Reasons() {
		d := e.Calendar.At(now, r)
		if e.Invalid.Reason != "" {
			d = calendar.Decision{}
		}
		l.Changes = earlier(l.Changes, d.Until)
		if d.Open {
			continue
		}
		if l.Closed == nil {
			l.Closed = map[rollouts.Reason]rollouts.Closure{}
		}
		l.Closed[rollouts.Reason(r.String())] = rollouts.Closure{Cause: e.cause(d, r), GraceUntil: d.GraceUntil}
		l.OpensAt = earlier(l.OpensAt, d.Until)
	}
	return l
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// cause returns why the policies hold back a reason. Its message has no time that changes while it lasts.
func (e Effective) cause(d calendar.Decision, r calendar.Reason) rollouts.Cause {
	c := d.Closer
	switch {
	case e.Invalid.Reason != "":
		return e.Invalid
	case c.Kind == calendar.Excluded && c.Why != "":
		return rollouts.Cause{Reason: ReasonExcluded, Message: c.Policy + " excludes " + c.Text + ": " + c.Why}
	case c.Kind == calendar.Excluded:
		return rollouts.Cause{Reason: ReasonExcluded, Message: c.Policy + " excludes " + c.Text}
	case c.Index < 0:
		return rollouts.Cause{Reason: ReasonOutsideWindow, Message: c.Policy + " has no window for reason " + r.String()}
	case d.Until.IsZero():
		return rollouts.Cause{Reason: ReasonPolicyNeverOpens, Message: "the policies are never open at the same time for reason " + r.String() +
			": change the windows or exclusions of " + e.names()}
	}
	return rollouts.Cause{Reason: ReasonOutsideWindow, Message: "outside of the windows of " + c.Policy + "; its next window is " + c.Text}
}

// names lists the policies.
func (e Effective) names() string {
	var list []string
	for _, p := range e.Policies {
		list = append(list, p.String())
	}
	return strings.Join(list, ", ")
}
