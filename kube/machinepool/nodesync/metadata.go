package nodesync

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/labels"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/nodes"
)

// Metadata is the metadata and the taints that a Node has to have. What a Node has from its pool is recorded on the Node, in the
// annotations that the Machine controller uses for the same purpose and in its format. So what the template no longer has is removed again,
// what other clients have added stays, and a Node can change from one controller to the other.
type Metadata struct {
	// whole is true if the pool alone manages the Node; otherwise the Machine controller does, and the pool sets only the taints.
	whole bool
	// labels and annotations are those of the template, marks the annotations that name the owner.
	labels, annotations, marks map[string]string
	taints                     []clusterv1.MachineTaint
	// machineless is true if the pool has no Machines. A Node may still have the name of one from before.
	machineless bool
}

// OfPool returns the metadata for Nodes without a Machine. syncLabels and syncAnnotations select labels and annotations of the template
// in addition to those that all Nodes get.
func OfPool(pool *clusterv1.MachinePool, machineless bool, syncLabels, syncAnnotations []*regexp.Regexp) Metadata {
	template := &pool.Spec.Template
	marks := map[string]string{
		clusterv1.ClusterNameAnnotation:      pool.Spec.ClusterName,
		clusterv1.ClusterNamespaceAnnotation: pool.Namespace,
		clusterv1.OwnerKindAnnotation:        nodes.OwnerKindMachinePool,
		clusterv1.OwnerNameAnnotation:        pool.Name,
	}
	// The library selects annotations of a Machine, and adds the Machine's own marks.
	source := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Annotations: template.Annotations}}
	selected := annotations.GetManagedAnnotations(source, syncAnnotations...)
	maps.DeleteFunc(selected, func(key, _ string) bool { return slices.Contains(reserved, key) })
	return Metadata{whole: true, labels: labels.GetManagedLabels(template.Labels, syncLabels...), annotations: selected, marks: marks,
		taints: template.Spec.Taints, machineless: machineless}
}

// OfMachine returns what the pool sets on a Node that has a Machine: the taints. The Machine controller sets labels and annotations.
func OfMachine(machine *clusterv1.Machine) Metadata { return Metadata{taints: machine.Spec.Taints} }

// reserved are the annotations of Nodes that a template cannot set.
var reserved = []string{
	clusterv1.ClusterNameAnnotation, clusterv1.ClusterNamespaceAnnotation, clusterv1.OwnerKindAnnotation, clusterv1.OwnerNameAnnotation,
	clusterv1.MachineAnnotation,
	clusterv1.LabelsFromMachineAnnotation, clusterv1.AnnotationsFromMachineAnnotation, clusterv1.TaintsFromMachineAnnotation,
}

// Apply returns the Node with the metadata, nil if it already has it. The Node itself belongs to the cache and is not changed.
func (d Metadata) Apply(node *corev1.Node) *corev1.Node {
	after := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: node.Labels}}
	wanted, last := map[string]string{}, []string{}
	relabelled := false
	if d.whole {
		after.Labels, relabelled = replace(node.Labels, d.labels, recorded(node, clusterv1.LabelsFromMachineAnnotation))
		maps.Copy(wanted, d.annotations)
		maps.Copy(wanted, d.marks)
		last = append(recorded(node, clusterv1.AnnotationsFromMachineAnnotation), clusterv1.LabelsFromMachineAnnotation,
			clusterv1.AnnotationsFromMachineAnnotation)
		recordKeys(wanted, clusterv1.LabelsFromMachineAnnotation, d.labels)
		recordKeys(wanted, clusterv1.AnnotationsFromMachineAnnotation, d.annotations)
		if d.machineless {
			last = append(last, clusterv1.MachineAnnotation)
		}
	}
	taints, record := d.taintsOf(node)
	if record != nil {
		wanted[clusterv1.TaintsFromMachineAnnotation] = *record
	}
	var annotated bool
	after.Annotations, annotated = replace(node.Annotations, wanted, last)
	if !relabelled && !annotated && slices.EqualFunc(node.Spec.Taints, taints, sameTaint) {
		return nil
	}
	whole := node.DeepCopy()
	whole.Labels, whole.Annotations, whole.Spec.Taints = after.Labels, after.Annotations, taints
	return whole
}

// taintsOf returns the taints that a Node has to have, and the record of those that come from the template; nil records nothing. The
// uninitialized taint is removed in the write that adds the taints of the template, so that no pod is scheduled in between.
func (d Metadata) taintsOf(node *corev1.Node) (taints []corev1.Taint, record *string) {
	value, found := node.Annotations[clusterv1.TaintsFromMachineAnnotation]
	first := !found && d.first(node)
	taints = slices.Clone(node.Spec.Taints)
	if d.whole {
		taints = slices.DeleteFunc(taints, uninitialized)
	}
	last, now, stays := split(value), []string{}, map[string]bool{}
	for _, t := range d.taints {
		key := members.TaintKey(t)
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
	if !first && !found && len(now) == 0 {
		return taints, nil
	}
	slices.Sort(now)
	joined := strings.Join(now, ",")
	return taints, &joined
}

// first reports whether a Node without a record of its taints has never been synchronized, so that taints with the propagation
// OnInitialization are still to be added. A Node without a Machine that names the pool as its owner was synchronized before taints were
// recorded.
func (d Metadata) first(node *corev1.Node) bool {
	return !d.whole || slices.ContainsFunc(node.Spec.Taints, uninitialized) ||
		node.Annotations[clusterv1.OwnerNameAnnotation] != d.marks[clusterv1.OwnerNameAnnotation]
}

func uninitialized(t corev1.Taint) bool { return t.MatchTaint(&clusterv1.NodeUninitializedTaint) }

func sameTaint(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }

// withTaint returns the taints with one added, or replacing the one with its key and effect.
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

// recorded returns the keys that an annotation of a Node lists.
func recorded(node *corev1.Node, annotation string) []string {
	return split(node.Annotations[annotation])
}

func split(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// recordKeys records which keys a Node has from the template; nothing if there is none.
func recordKeys(wanted map[string]string, annotation string, have map[string]string) {
	if len(have) > 0 {
		wanted[annotation] = strings.Join(slices.Sorted(maps.Keys(have)), ",")
	}
}

// replace returns a map with all wanted entries, without those that were wanted last and no longer are. It returns the map itself if that
// changes nothing.
func replace(have, want map[string]string, last []string) (all map[string]string, changed bool) {
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
	return members.MergeMap(have, want, last), true
}
