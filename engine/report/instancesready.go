package report

import "fmt"

// instancesReady reports whether as many nodes are Ready as the pool wants.
func instancesReady(f facts) *Condition {
	if f.d.Deleting {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, InstancesReady)
	}
	if f.counts.Ready == nil {
		return &Condition{InstancesReady, Unknown, "ConnectionDown", f.o.NodesUnknownText() + ", so nothing is known about its nodes"}
	}
	text := readyOf(*f.counts.Ready, f.counts.Desired)
	if *f.counts.Ready >= f.counts.Desired {
		return &Condition{InstancesReady, True, "AllReady", text}
	}
	c := &Condition{InstancesReady, False, "NotAllReady", text}
	if len(f.out.Plan.Waiting) > 0 {
		first := f.out.Plan.Waiting[0]
		c.Reason, c.Message = first.Reason, text+"; "+first.Message
	}
	return c
}

// readyOf counts in words; while machines are on their way out there are more than the pool wants.
func readyOf(ready, desired int) string {
	if ready > desired {
		return fmt.Sprintf("%d machines are Ready, %d are wanted", ready, desired)
	}
	return fmt.Sprintf("%d of %d machines are Ready", ready, desired)
}
