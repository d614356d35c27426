package nodes

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
)

// ByProviderKeys returns the Nodes with the given provider keys, by key. A key without a Node is left out. Of several Nodes with one key
// the youngest is returned: a machine that registers again leaves its older Node behind. The Nodes are shared with the cache and must not
// be changed. One indexed look-up is made per key.
func ByProviderKeys(ctx context.Context, r client.Reader, keys []string) (map[string]*corev1.Node, error) {
	found := make(map[string]*corev1.Node, len(keys))
	for _, key := range keys {
		if key == "" {
			continue
		}
		list, err := indexed(ctx, r, ProviderKeyField, key)
		if err != nil {
			return nil, err
		}
		if node := youngest(list); node != nil {
			found[key] = node
		}
	}
	return found, nil
}

// nodesPerPage bounds one page of a list of all nodes.
const nodesPerPage = 500

// LiveByProviderKeys is ByProviderKeys with the Nodes read from the API server itself, page by page: all of them, for a provider
// ID is no field to select by. It is for the moment before something happens that a cache which is behind must not decide.
func LiveByProviderKeys(ctx context.Context, live client.Reader, keys []string) (map[string]*corev1.Node, error) {
	wanted := make(map[string]bool, len(keys))
	for _, key := range keys {
		wanted[key] = key != ""
	}
	found := map[string]*corev1.Node{}
	for page := (&corev1.NodeList{}); ; {
		next := client.Continue(page.Continue)
		page = &corev1.NodeList{}
		if err := live.List(ctx, page, client.Limit(nodesPerPage), next); err != nil {
			return nil, fmt.Errorf("read all nodes of the workload cluster: %w", err)
		}
		for i := range page.Items {
			node := &page.Items[i]
			if key := cloud.ProviderKey(node.Spec.ProviderID); wanted[key] {
				found[key] = younger(found[key], node)
			}
		}
		if page.Continue == "" {
			return found, nil
		}
	}
}

// ClaimedBy are the Nodes that are annotated to belong to a MachinePool, whether or not their instance is still in its
// list. The Nodes are shared with the cache and must not be changed.
func ClaimedBy(ctx context.Context, r client.Reader, pool client.ObjectKey) ([]corev1.Node, error) {
	return indexed(ctx, r, OwnerField, PoolClaim(pool))
}

func indexed(ctx context.Context, r client.Reader, field, value string) ([]corev1.Node, error) {
	list := &corev1.NodeList{}
	if err := r.List(ctx, list, client.MatchingFields{field: value}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("look up nodes with %s %q: %w", field, value, err)
	}
	return list.Items, nil
}

func youngest(list []corev1.Node) *corev1.Node {
	var best *corev1.Node
	for i := range list {
		best = younger(best, &list[i])
	}
	return best
}

// younger returns the Node that counts of two with the same key; the first may be nil. Two of one age are distinguished by
// name, so that all pick the same.
func younger(a, b *corev1.Node) *corev1.Node {
	if a == nil || a.CreationTimestamp.Before(&b.CreationTimestamp) || (a.CreationTimestamp.Equal(&b.CreationTimestamp) && b.Name > a.Name) {
		return b
	}
	return a
}

// toBeDeletedTaint marks a node that the cluster-autoscaler is about to remove. Mere candidates have another taint.
const toBeDeletedTaint = "ToBeDeletedByClusterAutoscaler"

// Marked reports whether a Node is marked to go before others: by a user, with the annotation cluster.x-k8s.io/delete-machine, or by the
// cluster-autoscaler, with its taint.
func Marked(node *corev1.Node) bool {
	if _, ok := node.Annotations[clusterv1.DeleteMachineAnnotation]; ok {
		return true
	}
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == toBeDeletedTaint })
}

// HoldAnnotation on a Node, or on its Machine, keeps the machine from being replaced while it serves: empty without an end, else until a
// time (RFC 3339). A value that is neither counts as one without an end.
const HoldAnnotation = "muster.dev/hold"

// PreserveAnnotation on a Node keeps its machine for diagnosis when it has failed: empty, or until a time (RFC 3339). One machine of a pool
// is kept at a time, for a day at most.
const PreserveAnnotation = "muster.dev/preserve"

// Held reports whether a user keeps the machine of a Node or of a Machine, and until when; zero is without an end.
func Held(o client.Object) (held bool, until time.Time) { return markedUntil(o, HoldAnnotation) }

// Preserved reports whether a user wants to look at the machine of a Node if it fails, and until when; zero is without an end.
func Preserved(node *corev1.Node) (preserved bool, until time.Time) {
	return markedUntil(node, PreserveAnnotation)
}

// markedUntil reports whether an object has an annotation, and the time that is its value, if it is one.
func markedUntil(o client.Object, annotation string) (marked bool, until time.Time) {
	value, marked := o.GetAnnotations()[annotation]
	until, _ = time.Parse(time.RFC3339, value)
	return marked, until
}

// Ready reports whether a Node's Ready condition is true, and the time of the condition's last transition. A Node without the condition is
// not ready since its creation.
func Ready(node *corev1.Node) (bool, time.Time) {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return false, node.CreationTimestamp.Time
}
