package oracle

import "fmt"

// Pass is one pass after everything has come to rest.
type Pass struct {
	// Writes are the names of the writes that it sent, to the cloud or to nodes.
	Writes []string
	// Status is everything that it reported: conditions, counts, events.
	Status string
}

// Quiet finds passes at rest that wrote something, or whose status differs from that of the previous pass.
func Quiet(passes []Pass) []string {
	var wrong []string
	for k, p := range passes {
		if len(p.Writes) > 0 {
			wrong = append(wrong, fmt.Sprintf("pass %d at rest wrote %v", k+1, p.Writes))
		}
		if k > 0 && p.Status != passes[k-1].Status {
			wrong = append(wrong, fmt.Sprintf("pass %d at rest said %q, the pass before it %q", k+1, p.Status, passes[k-1].Status))
		}
	}
	return wrong
}
