package webhook

import (
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/equality"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// warningsOf returns warnings of what is allowed and most likely not meant, whichever client changes it. The writes of controllers,
// which can do nothing about it, are no occasion.
func warningsOf(old, pool *clusterv1.MachinePool) admission.Warnings {
	all := append(sizeWarnings(old, pool), namespaceWarnings(old, pool)...)
	if old != nil {
		all = append(all, changeWarnings(old, pool)...)
	}
	machine := &pool.Spec.Template.Spec
	if machine.ProviderID != "" && (old == nil || old.Spec.Template.Spec.ProviderID != machine.ProviderID) {
		all = append(all, "spec.template.spec.providerID: has no effect: the instances of a pool are listed in spec.providerIDList, by its "+
			"controller")
	}
	domains := pool.Spec.FailureDomains
	if old != nil && slices.Equal(old.Spec.FailureDomains, domains) {
		return all
	}
	for i, name := range domains {
		if slices.Contains(domains[:i], name) {
			all = append(all, fmt.Sprintf("spec.failureDomains[%d]: %s is listed twice, which counts once", i, name))
		}
	}
	return all
}

// sizeWarnings are of an autoscaler that will not do what is expected of it.
func sizeWarnings(old, pool *clusterv1.MachinePool) admission.Warnings {
	was := &clusterv1.MachinePool{}
	if old != nil {
		was = old
	}
	const minSize, maxSize = clusterv1.AutoscalerMinSizeAnnotation, clusterv1.AutoscalerMaxSizeAnnotation
	bounds := was.Annotations[minSize] != pool.Annotations[minSize] || was.Annotations[maxSize] != pool.Annotations[maxSize]
	_, hasMin := pool.Annotations[minSize]
	_, hasMax := pool.Annotations[maxSize]
	switch {
	case bounds && hasMin != hasMax:
		return admission.Warnings{fmt.Sprintf("metadata.annotations: %s and %s count as a pair alone, so that no autoscaler touches the pool",
			minSize, maxSize)}
	case bounds || !equality.Semantic.DeepEqual(was.Spec.Replicas, pool.Spec.Replicas):
		return boundsWarnings(pool)
	}
	return nil
}

func boundsWarnings(pool *clusterv1.MachinePool) admission.Warnings {
	b, problem := autoscalerBounds(pool)
	replicas := pool.Spec.Replicas
	switch {
	case problem != nil || b == nil || b.max < b.min:
		return nil
	case b.max == 0:
		return admission.Warnings{fmt.Sprintf("metadata.annotations[%s]: with 0 no autoscaler touches the pool",
			clusterv1.AutoscalerMaxSizeAnnotation)}
	case replicas != nil && (*replicas < b.min || *replicas > b.max):
		return admission.Warnings{fmt.Sprintf("spec.replicas: %d is outside of the autoscaler's %d to %d, so that it will not touch the pool",
			*replicas, b.min, b.max)}
	}
	return nil
}

// changeWarnings are of changes that bring other machines than one may think.
func changeWarnings(old, pool *clusterv1.MachinePool) admission.Warnings {
	var all admission.Warnings
	was, is := &old.Spec.Template.Spec, &pool.Spec.Template.Spec
	before, err := semver.ParseTolerant(was.Version)
	after, errAfter := semver.ParseTolerant(is.Version)
	if err == nil && errAfter == nil && after.LT(before) {
		all = append(all, fmt.Sprintf("spec.template.spec.version: %s is older than %s, which it was: new machines get an older kubelet",
			is.Version, was.Version))
	}
	from, to := was.Bootstrap.ConfigRef, is.Bootstrap.ConfigRef
	if from.IsDefined() && to.IsDefined() && from.GroupKind() != to.GroupKind() {
		all = append(all, fmt.Sprintf("spec.template.spec.bootstrap.configRef: was a %s: new machines are set up by another bootstrap "+
			"provider, that of %s", from.GroupKind(), to.GroupKind()))
	}
	return all
}
