package gcp_test

import (
	"net/http"
	"testing"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp"
)

// cordons is a machine host with a Ready node for each machine that is on, known by the machine's name, and notes which nodes are closed.
type cordons struct {
	host
	closed map[string]bool
}

func (c *cordons) Ready(id string) bool    { _, on := c.on[id]; return on }
func (c *cordons) Drain(string, bool) bool { return true }
func (c *cordons) Mark(string, sim.Marks)  {}
func (c *cordons) Unregister(_ string)     {}
func (c *cordons) Cordon(id string, closed bool) {
	if m, on := c.on[id]; on {
		c.closed[m.Hostname] = closed
	}
}

// TestRepairedNodeTakesPods holds that a node which GKE has repaired is open to pods: it comes back under its name.
func TestRepairedNodeTakesPods(t *testing.T) {
	h := &cordons{host{on: map[string]sim.Machine{}}, map[string]bool{}}
	inBubble(t, gcp.Options{Speed: 1, MachineHost: h}, func(w *world) {
		w.do(http.MethodPost, clusters, doc{"cluster": doc{"name": "c", "initialClusterVersion": newer,
			"nodePools": []any{doc{"name": "p", "initialNodeCount": 2}}}})
		w.settled("c")
		sick := w.pool("p").Machines[0]
		if err := w.GKE.Repair("c/p", sick.Name); err != nil {
			t.Fatal(err)
		}
		check(w, "nodes closed at first", 1, h.count())
		w.settled("c")
		for _, m := range w.pool("p").Machines {
			if m.Name == sick.Name && m.UID == sick.UID {
				t.Errorf("want %s created anew, got the same machine", m.Name)
			}
		}
		check(w, "nodes closed at the end", 0, h.count())
	})
}

// count returns how many nodes are closed.
func (c *cordons) count() int {
	n := 0
	for _, closed := range c.closed {
		if closed {
			n++
		}
	}
	return n
}
