package oracle

import (
	"fmt"
	"time"
)

// Closure is the state of the policies of a pool during a pass. The zero Closure is that of a pool without any, or one that is open.
type Closure struct {
	// Closed is true if no window was open, or an exclusion was in force, from the beginning of the pass to the write.
	Closed bool
	// Since is when that began, and Grace for how long what began before may end.
	Since time.Time
	Grace time.Duration
}

// OutsideWindows finds replacements of machines that serve which begin outside of the windows or inside an exclusion of the pool's
// policies. Within the grace a machine may go for which another was launched before.
func OutsideWindows(w Write) []string {
	if !w.Closure.Closed {
		return nil
	}
	g, _ := ours(w.Before, w.Desired.Owner)
	var wrong []string
	for _, m := range w.begins() {
		if w.At.Before(w.Closure.Since.Add(w.Closure.Grace)) && w.succeeded(g) {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s begins to replace instance %s, %s after the policies closed", w.Call, m.ID,
			w.At.Sub(w.Closure.Since)))
	}
	return wrong
}

// succeeded reports whether more machines exist than are wanted, beside those that are drained.
func (w Write) succeeded(g Group) bool {
	n := 0
	for _, m := range g.Staying() {
		if w.Nodes[m.ID].DrainStarted.IsZero() {
			n++
		}
	}
	return n > w.desiredSize(g)
}
