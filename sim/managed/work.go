package managed

import "time"

// Watch is how often a cloud looks at what goes on, in life.
const Watch = 5 * time.Second

// Work is what goes on with a pool. The zero Work is a pool at rest.
type Work struct {
	// Op is the operation that runs, "" for none. Next is when it is looked at again, Until when it has to be done.
	Op          string
	Next, Until time.Time
	// Leaving are the machines that drain before they go.
	Leaving Departures
}

// Look takes what goes on a step further if its time has come, and returns when it has to be looked at again; the zero time means never.
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
