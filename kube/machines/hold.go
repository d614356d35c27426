package machines

import (
	"context"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// onHold reports whether a hook holds the deletion of a Machine.
func onHold(m *clusterv1.Machine) bool {
	_, ok := m.Annotations[HoldAnnotation]
	return ok
}

// hooked reports whether a hook of another client holds the deletion of a Machine.
func (m *Machine) hooked() bool {
	for name := range m.Object.Annotations {
		if name != HoldAnnotation && (strings.HasPrefix(name, clusterv1.PreDrainDeleteHookAnnotationPrefix) ||
			strings.HasPrefix(name, clusterv1.PreTerminateDeleteHookAnnotationPrefix)) {
			return true
		}
	}
	return false
}

// waitsFor returns the provider key of the instance whose infrastructure machine a held deletion of the Machine waits for; empty if there
// is none.
func (m *Machine) waitsFor() string {
	if !m.Deleting || !m.Held || m.Detached {
		return ""
	}
	return cloud.ProviderKey(m.Object.Spec.ProviderID)
}

// held adds the instances whose removal is requested by Machines that wait for their infrastructure machines.
func (k Index) held(out Consequences, guarded bool, now time.Time) {
	for _, m := range k.Alone {
		key := m.waitsFor()
		if key == "" {
			continue
		}
		out.DeletionRequested[key] = *m.cause()
		if guarded {
			out.Guards[key] = pool.Guard{Requested: true, WaitReasons: m.waits(now)}
		}
	}
}

// hold notes that a user keeps the instance of an infrastructure machine, by an annotation of its Machine.
func (c *Consequences) hold(i Infra) {
	if i.Machine == nil {
		return
	}
	held, until := nodes.Held(i.Machine.Object)
	if !held {
		return
	}
	if c.Holds == nil {
		c.Holds = map[string]time.Time{}
	}
	c.Holds[i.Key] = until
}

// Find returns the nodes, of which those of Machines that users keep are held as well.
func (n Nodes) Find(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := n.Nodes.Find(ctx, keys)
	return n.held(found), err
}

// FindUncached does the same as Find, with the nodes read from the API server.
func (n Nodes) FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := n.Nodes.FindUncached(ctx, keys)
	return n.held(found), err
}

// held adds the holds of Machines to nodes. Of two holds the longer one counts.
func (n Nodes) held(found map[string]pool.Node) map[string]pool.Node {
	for key, until := range n.Holds {
		node, ok := found[key]
		switch {
		case !ok:
			continue
		case !node.Held, !node.HeldUntil.IsZero() && (until.IsZero() || until.After(node.HeldUntil)):
			node.Held, node.HeldUntil, node.HeldBy = true, until, ""
		}
		found[key] = node
	}
	return found
}
