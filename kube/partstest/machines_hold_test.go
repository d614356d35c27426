package partstest

import (
	"context"
	"testing"
	"time"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oneNode has the Node of the first instance, with a hold of its own.
type oneNode struct {
	engine.Nodes
	node pool.Node
}

func (n oneNode) Find(context.Context, []string) (map[string]pool.Node, error) {
	return map[string]pool.Node{"aws://i-1": n.node}, nil
}

func (n oneNode) FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	return n.Find(ctx, keys)
}

// TestHoldOfAMachine holds that a user can keep a machine by its Machine as well as by its Node, and that the longer of two holds counts.
func TestHoldOfAMachine(t *testing.T) {
	t.Parallel()
	soon, late := now.Add(time.Hour), now.Add(2*time.Hour)
	held := func(value string) func(*clusterv1.Machine) {
		return func(m *clusterv1.Machine) { m.Annotations = map[string]string{nodes.HoldAnnotation: value} }
	}
	for _, c := range []struct {
		why     string
		machine func(*clusterv1.Machine)
		node    pool.Node
		held    bool
		until   time.Time
	}{
		{"no hold", func(*clusterv1.Machine) {}, pool.Node{}, false, time.Time{}},
		{"its Machine is kept", held(""), pool.Node{}, true, time.Time{}},
		{"for a time", held(soon.Format(time.RFC3339)), pool.Node{}, true, soon},
		{"its Node is kept", func(*clusterv1.Machine) {}, pool.Node{Held: true, HeldUntil: soon}, true, soon},
		{"the Machine for longer", held(late.Format(time.RFC3339)), pool.Node{Held: true, HeldUntil: soon}, true, late},
		{"the Node for longer", held(soon.Format(time.RFC3339)), pool.Node{Held: true, HeldUntil: late}, true, late},
		{"the Machine without an end", held(""), pool.Node{Held: true, HeldUntil: late}, true, time.Time{}},
		{"the Node without an end", held(soon.Format(time.RFC3339)), pool.Node{Held: true}, true, time.Time{}},
	} {
		known := machines.BuildIndex(kind, "u-p", []client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1", c.machine)})
		evaluated := known.Evaluate(kind, true, true, now)
		n := machines.Nodes{Nodes: oneNode{node: c.node}, Known: known, Holds: evaluated.Holds}
		for _, find := range []func(context.Context, []string) (map[string]pool.Node, error){n.Find, n.FindUncached} {
			found, err := find(t.Context(), []string{"aws://i-1"})
			if got := found["aws://i-1"]; err != nil || got.Held != c.held || !got.HeldUntil.Equal(c.until) || len(found) != 1 {
				t.Errorf("%s: want held %t until %s, got %+v, %v", c.why, c.held, c.until, found, err)
			}
		}
	}
}
