package managed

import "time"

// Watch is the interval at which a cloud advances the work on a pool, as in the real cloud.
const Watch = 5 * time.Second

// Work is the running work on a pool. The zero Work is a pool at rest.
type Work struct {
	// Op is the running operation, "" for none. Next is the time of its next step, Until its deadline.
	Op          string
	Next, Until time.Time
	// Leaving are the machines that drain before they go.
	Leaving Departures
}

// Look runs the next step if its time has come, and returns the time of the one after it; the zero time means never.
func (n *Nodes) Look(w *Work, step func()) time.Time {
	if w.Op != "" && !w.Next.After(n.state.Now) {
		w.Next = n.state.Now.Add(n.state.Life(Watch))
		step()
	}
	if w.Op == "" {
		return time.Time{}
	}
	return w.Next
}

// Stay ends the departures among the machines: their nodes take pods again.
func (n *Nodes) Stay(machines []Machine, leaving Departures) {
	for _, m := range machines {
		if leaving[m.Key] != nil {
			n.Uncordon(m.UID)
			delete(leaving, m.Key)
		}
	}
}
