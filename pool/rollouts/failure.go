package rollouts

// Trial is a rollout as far as its failure is concerned.
type Trial struct {
	Verdict
	// Template is the ID of a rollout of the wanted template without a restart, Last that of the last one that ended; empty for none.
	Template, Last string
	// Halted is why no machine is replaced any more; zero while the rollout goes on.
	Halted Cause
	// RollsBack is true if a failure has the pool go back, Aborted if a user requests that. Retried is the ID of the rollout that a user has
	// tried again: it goes back once.
	RollsBack, Aborted bool
	Retried            string
}

// Failure returns why the pool should return to the last template whose rollout ended; empty if it should not. Machines that are replaced
// for another reason than their template have none to return to.
func (t Trial) Failure() string {
	switch {
	case t.Record.ID == "" || t.Record.Ended || t.Template == t.Last:
		return ""
	case t.Aborted:
		return "a user aborted it"
	case !t.RollsBack || t.Halted == Cause{} || t.Retried == t.Record.ID:
		return ""
	case t.State == Halted && !t.Failed:
		return "" // it may pass
	}
	return t.Halted.Message
}
