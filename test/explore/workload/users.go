package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/memapi"
)

// Users changes nodes as users do.
type Users struct {
	cluster *Cluster
	// cordoned are the nodes that they have cordoned.
	cordoned map[string]bool
}

// Cordon has a user cordon the n-th node, and returns it; nil if there is none.
func (u *Users) Cordon(n int) *corev1.Node {
	c := u.cluster
	var list []*corev1.Node
	for _, m := range c.running() {
		if node := c.node(m); node != nil && m.joined && !node.Spec.Unschedulable {
			list = append(list, node)
		}
	}
	if len(list) == 0 {
		return nil
	}
	node := list[n%len(list)]
	node.Spec.Unschedulable = true
	u.cordoned[node.Name] = true
	c.env.Must(c.User.Update(c.env.Context(), node), "cordon node %s", node.Name)
	return node
}

// Uncordon has users take back their cordons, except where a drain has begun meanwhile, and reports whether there was one to take
// back.
func (u *Users) Uncordon() bool {
	c := u.cluster
	uncordoned := false
	for _, m := range c.running() {
		node := c.node(m)
		if node == nil || !u.cordoned[node.Name] || node.Annotations[nodes.DrainStartedAnnotation] != "" ||
			!c.DrainStarted(m.ID).IsZero() {
			continue
		}
		delete(u.cordoned, node.Name)
		node.Spec.Unschedulable, uncordoned = false, true
		c.env.Must(c.User.Update(c.env.Context(), node), "uncordon node %s", node.Name)
	}
	c.App.house()
	return uncordoned
}

// UncordonRestored has a user take back the cordons of Machines whose deletion was not in the backup: their controller knows of no drain.
func (u *Users) UncordonRestored() {
	c := u.cluster
	for _, m := range c.running() {
		node := c.node(m)
		if node == nil || !node.Spec.Unschedulable || node.Annotations[nodes.DrainStartedAnnotation] != "" || u.cordoned[node.Name] {
			continue
		}
		node.Spec.Unschedulable = false
		c.env.Must(c.User.Update(c.env.Context(), node), "uncordon node %s", node.Name)
	}
}

// Lifts reports whether a write has taken back the cordon of a user.
func (u *Users) Lifts(op memapi.Op) bool {
	node := &corev1.Node{}
	return op.Kind == "Node" && u.cordoned[op.Key.Name] && u.cluster.User.Get(u.cluster.env.Context(), op.Key, node) == nil &&
		!node.Spec.Unschedulable
}

// Mark asks for the n-th node to go first, as a user does by an annotation or as the cluster-autoscaler does by a taint.
func (u *Users) Mark(n int) {
	var list []*corev1.Node
	for _, m := range u.cluster.running() {
		if node := u.cluster.node(m); node != nil && m.joined {
			list = append(list, node)
		}
	}
	if len(list) == 0 {
		return
	}
	node := list[n%len(list)]
	if u.cluster.seed.Chance("taint", node.Name) < 0.5 {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Value: "1",
			Effect: corev1.TaintEffectNoSchedule})
	} else {
		annotateForDeletion(node)
	}
	u.marks(node)
}

// MarkNode asks for a node to go first, as a user does by an annotation.
func (u *Users) MarkNode(node *corev1.Node) {
	annotateForDeletion(node)
	u.marks(node)
}

func annotateForDeletion(node *corev1.Node) {
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, clusterv1.DeleteMachineAnnotation, "yes")
}

// marks writes a node that was marked, and notes when that was.
func (u *Users) marks(node *corev1.Node) {
	c := u.cluster
	c.env.Must(c.User.Update(c.env.Context(), node), "mark node %s", node.Name)
	c.by[c.MachineOf(node.Name)].marked = time.Now()
}
