package report

import "fmt"

// deleting reports the progress of the deletion.
func deleting(f facts) *Condition {
	if !f.d.Deleting {
		return nil
	}
	c := &Condition{Deleting, True, "Deleting", ""}
	switch {
	case f.out.Plan.DeletionComplete:
		c.Reason, c.Message = "Gone", "nothing of the pool is left in the cloud"
	case f.out.Err != nil:
		c.Reason, c.Message = reason(f.out.Err), f.out.Err.Error()
	case len(f.out.Plan.Waiting) > 0:
		c.Reason, c.Message = f.out.Plan.Waiting[0].Reason, f.out.Plan.Waiting[0].Message
	case f.out.Plan.Step != nil:
		c.Reason, c.Message = string(f.out.Plan.Step.Kind), f.out.Plan.Step.Cause.Message
	case f.d.CreateBlocked != nil:
		c.Reason, c.Message = f.d.CreateBlocked.Reason, f.d.CreateBlocked.Message
	default:
		c.Message = fmt.Sprintf("the %s is being deleted", f.t.Group)
	}
	return c
}
