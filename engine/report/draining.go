package report

// draining says which nodes are being drained, and what keeps their pods; it is absent while none is.
func draining(f facts) *Condition {
	for _, cause := range f.out.Plan.Waiting {
		if cause.Reason == "Draining" || cause.Reason == drainBlocked {
			return &Condition{Draining, True, cause.Reason, cause.Message}
		}
	}
	return nil
}

// drainBlocked is the reason of a drain that something keeps from ending.
const drainBlocked = "DrainBlocked"

// blocked is what keeps a drain from ending, or nothing.
func blocked(f facts) string {
	if c := draining(f); c != nil && c.Reason == drainBlocked {
		return c.Message
	}
	return ""
}
