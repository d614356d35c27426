package machinepool

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
)

// What a Node has of a pool is written down on the Node in the annotations that the controller of Machines keeps for the same
// purpose, and in its form. So what the pool's template no longer has is taken off again, what others have put there stays, and a
// Node may change from the one controller to the other.

// nodeMetadata is what a Node shall have.
type nodeMetadata struct {
	// whole says that the pool alone looks after the Node; otherwise its Machine's controller does, and only taints are the pool's.
	whole bool
	// labels and annotations, where the Node is the pool's; annotations hold those of the template, marks whom the Node belongs to.
	labels, annotations, marks map[string]string
	taints                     []clusterv1.MachineTaint
	// machineless says that the pool has no Machines, whose name a Node may still carry from a time when it had.
	machineless bool
}

// nodeMetadata is what the Nodes of a plain pool shall have.
func (p *pass) nodeMetadata(syncLabels, syncAnnotations []*regexp.Regexp) nodeMetadata {
	template := &p.pool.Spec.Template
	marks := map[string]string{
		clusterv1.ClusterNameAnnotation:      p.pool.Spec.ClusterName,
		clusterv1.ClusterNamespaceAnnotation: p.pool.Namespace,
		clusterv1.OwnerKindAnnotation:        nodes.OwnerKindMachinePool,
		clusterv1.OwnerNameAnnotation:        p.pool.Name,
	}
	// The library chooses for a Machine, and adds the Machine's own marks.
	chosen := annotations.GetManagedAnnotations(&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Annotations: template.Annotations}}, syncAnnotations...)
	maps.DeleteFunc(chosen, func(key, _ string) bool { return slices.Contains(keptByControllers, key) })
	return nodeMetadata{whole: true, labels: labels.GetManagedLabels(template.Labels, syncLabels...), annotations: chosen, marks: marks,
		taints: template.Spec.Taints, machineless: len(p.machines) == 0}
}

// keptByControllers are the annotations of Nodes that no template says.
var keptByControllers = []string{
	clusterv1.ClusterNameAnnotation, clusterv1.ClusterNamespaceAnnotation, clusterv1.OwnerKindAnnotation, clusterv1.OwnerNameAnnotation, clusterv1.MachineAnnotation,
	clusterv1.LabelsFromMachineAnnotation, clusterv1.AnnotationsFromMachineAnnotation, clusterv1.TaintsFromMachineAnnotation,
}

// applyTo is the Node with all that it shall have; nil when it has it. The Node itself is the cache's and stays as it is.
func (d nodeMetadata) applyTo(node *corev1.Node) *corev1.Node {
	after := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: node.Labels}}
	wanted, last := map[string]string{}, []string{}
	changed := false
	if d.whole {
		lastLabels := noted(node, clusterv1.LabelsFromMachineAnnotation)
		after.Labels, changed = exchanged(node.Labels, d.labels, lastLabels)
		maps.Copy(wanted, d.annotations)
		maps.Copy(wanted, d.marks)
		last = append(noted(node, clusterv1.AnnotationsFromMachineAnnotation), clusterv1.LabelsFromMachineAnnotation, clusterv1.AnnotationsFromMachineAnnotation)
		noteKeys(wanted, clusterv1.LabelsFromMachineAnnotation, d.labels)
		noteKeys(wanted, clusterv1.AnnotationsFromMachineAnnotation, d.annotations)
		if d.machineless {
			last = append(last, clusterv1.MachineAnnotation)
		}
	}
	taints, note := d.taintsOf(node)
	if note != nil {
		wanted[clusterv1.TaintsFromMachineAnnotation] = *note
	}
	var annotated bool
	after.Annotations, annotated = exchanged(node.Annotations, wanted, last)
	if !changed && !annotated && slices.EqualFunc(node.Spec.Taints, taints, sameTaint) {
		return nil
	}
	whole := node.DeepCopy()
	whole.Labels, whole.Annotations, whole.Spec.Taints = after.Labels, after.Annotations, taints
	return whole
}

// taintsOf are the taints that a Node shall have, and what to write down of them; nil writes nothing down. The taint that keeps
// pods off until a Node is looked after goes in the same write in which the template's taints come: no pod gets in between.
func (d nodeMetadata) taintsOf(node *corev1.Node) (taints []corev1.Taint, note *string) {
	value, noteFound := node.Annotations[clusterv1.TaintsFromMachineAnnotation]
	first := !noteFound && d.first(node)
	taints = slices.Clone(node.Spec.Taints)
	if d.whole {
		taints = slices.DeleteFunc(taints, uninitialized)
	}
	last, now, stays := split(value), []string{}, map[string]bool{}
	for _, t := range d.taints {
		key := taintKey(t)
		stays[key] = true
		if t.Propagation == clusterv1.MachineTaintPropagationAlways {
			now = append(now, key)
		} else if !first {
			continue
		}
		if taint := (corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}); !uninitialized(taint) {
			taints = withTaint(taints, taint)
		}
	}
	taints = slices.DeleteFunc(taints, func(t corev1.Taint) bool {
		key := t.Key + ":" + string(t.Effect)
		return slices.Contains(last, key) && !stays[key]
	})
	if !first && !noteFound && len(now) == 0 {
		return taints, nil
	}
	slices.Sort(now)
	joined := strings.Join(now, ",")
	return taints, &joined
}

// first says that a Node without a note of its taints has never been looked after: taints that are for the beginning alone are
// still to come. A Node of a plain pool that carries the pool's mark was looked after before taints were noted.
func (d nodeMetadata) first(node *corev1.Node) bool {
	return !d.whole || slices.ContainsFunc(node.Spec.Taints, uninitialized) || node.Annotations[clusterv1.OwnerNameAnnotation] != d.marks[clusterv1.OwnerNameAnnotation]
}

func uninitialized(t corev1.Taint) bool { return t.MatchTaint(&clusterv1.NodeUninitializedTaint) }

func sameTaint(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }

// withTaint is a list with a taint in it, in the place of one of its key and effect.
func withTaint(all []corev1.Taint, taint corev1.Taint) []corev1.Taint {
	for i := range all {
		if all[i].MatchTaint(&taint) {
			if all[i].Value != taint.Value {
				all[i] = taint
			}
			return all
		}
	}
	return append(all, taint)
}

// noted are the keys that an annotation of a Node names.
func noted(node *corev1.Node, annotation string) []string { return split(node.Annotations[annotation]) }

func split(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// noteKeys writes down which keys a Node has of the template; nothing when there is none.
func noteKeys(wanted map[string]string, annotation string, have map[string]string) {
	if len(have) > 0 {
		wanted[annotation] = strings.Join(slices.Sorted(maps.Keys(have)), ",")
	}
}

// exchanged is a map with all that is wanted, without what was wanted last and is no more. It is the map itself when that is
// so already.
func exchanged(have, want map[string]string, last []string) (all map[string]string, changed bool) {
	for _, key := range last {
		_, has := have[key]
		_, stays := want[key]
		changed = changed || has && !stays
	}
	for key, value := range want {
		is, has := have[key]
		changed = changed || !has || is != value
	}
	if !changed {
		return have, false
	}
	return withKeys(have, want, last), true
}

// write writes a Node that was put in order. Taints are a list that is replaced as a whole, so the write fails when somebody else
// has changed the Node in between, and is tried again with what they wrote.
func write(ctx context.Context, workload client.Client, node, after *corev1.Node) error {
	patch := client.MergeFromWithOptions(node.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := workload.Patch(ctx, after, patch); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write what Node %s has of its pool: %w", node.Name, err)
	}
	return nil
}
