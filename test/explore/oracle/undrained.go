package oracle

import "fmt"

// Undrained finds instances that a write of ours removed although pods still ran on them. Machines that never joined have
// nothing to lose, and a drain whose time is up has been waited for.
func Undrained(w Write) []string {
	var wrong []string
	for _, m := range gone(w) {
		n := w.Nodes[m.ID]
		switch {
		case !n.Joined:
		case n.DrainStarted.IsZero():
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s, whose node was never drained", w.Call, m.ID))
		case n.Pods == 0:
		case w.Wanted.DrainTimeout > 0 && w.At.Sub(n.DrainStarted) >= w.Wanted.DrainTimeout:
		default:
			wrong = append(wrong, fmt.Sprintf("%s removed instance %s while %d pods still ran there, %s after its drain began",
				w.Call, m.ID, n.Pods, w.At.Sub(n.DrainStarted)))
		}
	}
	return wrong
}
