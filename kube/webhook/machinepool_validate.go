package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// poolValidator refuses MachinePools that could never be followed.
type poolValidator struct{}

// ValidateCreate refuses a new pool that breaks a rule.
func (poolValidator) ValidateCreate(_ context.Context, pool *clusterv1.MachinePool) (admission.Warnings, error) {
	return warningsOf(nil, pool), refuse(pool, rules(pool))
}

// ValidateUpdate refuses a change that breaks a rule. What was broken before and is left as it is does not count, so that
// a pool which an older rule let in can still be changed; and a pool that is being deleted is not kept by its own faults.
func (poolValidator) ValidateUpdate(_ context.Context, old, pool *clusterv1.MachinePool) (admission.Warnings, error) {
	if !pool.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	before := rules(old)
	errs := slices.DeleteFunc(rules(pool), func(e *field.Error) bool {
		return slices.ContainsFunc(before, func(b *field.Error) bool { return b.Error() == e.Error() })
	})
	return warningsOf(old, pool), refuse(pool, append(errs, changes(old, pool)...))
}

// ValidateDelete lets every deletion pass.
func (poolValidator) ValidateDelete(context.Context, *clusterv1.MachinePool) (admission.Warnings, error) {
	return nil, nil
}

func refuse(pool *clusterv1.MachinePool, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(clusterv1.GroupVersion.WithKind("MachinePool").GroupKind(), pool.Name, errs)
}

// rules are what a pool must be, whatever it was.
func rules(pool *clusterv1.MachinePool) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	template := spec.Child("template")
	machine := &pool.Spec.Template.Spec
	if pool.Spec.Replicas != nil && *pool.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(spec.Child("replicas"), *pool.Spec.Replicas, "must be zero or more"))
	}
	if !machine.Bootstrap.ConfigRef.IsDefined() && machine.Bootstrap.DataSecretName == nil {
		errs = append(errs, field.Required(template.Child("spec", "bootstrap"),
			"set configRef, or dataSecretName (to \"\" where machines need no bootstrap data)"))
	}
	if machine.ClusterName != pool.Spec.ClusterName {
		errs = append(errs, field.Invalid(template.Child("spec", "clusterName"), machine.ClusterName,
			fmt.Sprintf("must be that of spec.clusterName, %q", pool.Spec.ClusterName)))
	}
	errs = append(errs, versionRule(template.Child("spec", "version"), machine.Version)...)
	if len(machine.Taints) > 0 {
		errs = append(errs, field.Forbidden(template.Child("spec", "taints"),
			"taints of machine pools are not implemented: set them in the bootstrap configuration"))
	}
	errs = append(errs, pool.Spec.Template.Validate(template.Child("metadata"))...)
	return append(errs, boundsRule(field.NewPath("metadata", "annotations"), pool)...)
}

func versionRule(path *field.Path, version string) field.ErrorList {
	if version == "" {
		return nil
	}
	if _, err := semver.Parse(strings.TrimPrefix(version, "v")); err != nil || !strings.HasPrefix(version, "v") {
		return field.ErrorList{field.Invalid(path, version, "must be a semantic version with a leading v, such as v1.36.0")}
	}
	return nil
}

// boundsRule holds the annotations of an autoscaler to what an autoscaler can work with.
func boundsRule(path *field.Path, pool *clusterv1.MachinePool) field.ErrorList {
	b, err := autoscalerBounds(pool)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, pool.Annotations[clusterv1.AutoscalerMinSizeAnnotation]+".."+
			pool.Annotations[clusterv1.AutoscalerMaxSizeAnnotation], err.Error())}
	case b != nil && (b.least < 0 || b.most < b.least):
		return field.ErrorList{field.Invalid(path.Key(clusterv1.AutoscalerMinSizeAnnotation), b.least,
			fmt.Sprintf("must be zero or more, and not above that of %s, %d", clusterv1.AutoscalerMaxSizeAnnotation, b.most))}
	}
	return nil
}

// changes are what a pool must stay. Its machines belong to its cluster and live in its infrastructure object: under
// another one they would be left behind, running and unseen.
func changes(old, pool *clusterv1.MachinePool) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if old.Spec.ClusterName != pool.Spec.ClusterName {
		errs = append(errs, field.Forbidden(spec.Child("clusterName"),
			fmt.Sprintf("is immutable: it is %q; make a new MachinePool for another cluster", old.Spec.ClusterName)))
	}
	was, is := old.Spec.Template.Spec.InfrastructureRef, pool.Spec.Template.Spec.InfrastructureRef
	if was.IsDefined() && was != is {
		errs = append(errs, field.Forbidden(spec.Child("template", "spec", "infrastructureRef"),
			fmt.Sprintf("is immutable: it is %s %s, where the pool's machines are; change that object, or make a new MachinePool", was.Kind, was.Name)))
	}
	return errs
}

// warningsOf tells of what is allowed and most likely not meant.
func warningsOf(old, pool *clusterv1.MachinePool) admission.Warnings {
	b, err := autoscalerBounds(pool)
	replicas := pool.Spec.Replicas
	if err != nil || b == nil || replicas == nil || (*replicas >= b.least && *replicas <= b.most) {
		return nil
	}
	if old != nil && old.Spec.Replicas != nil && *old.Spec.Replicas == *replicas {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("spec.replicas: %d is outside of the autoscaler's %d to %d, so that it will not touch the pool", *replicas, b.least, b.most)}
}
