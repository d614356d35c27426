package webhook

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/skew"
)

// rules returns the violations that depend on the pool alone, neither on its previous state nor on other objects.
func rules(pool *clusterv1.MachinePool) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	template := spec.Child("template")
	machine := &pool.Spec.Template.Spec
	if pool.Spec.Replicas != nil && *pool.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(spec.Child("replicas"), *pool.Spec.Replicas, "must be zero or more"))
	}
	if machine.ClusterName != pool.Spec.ClusterName {
		errs = append(errs, field.Invalid(template.Child("spec", "clusterName"), machine.ClusterName,
			fmt.Sprintf("must be that of spec.clusterName, %q", pool.Spec.ClusterName)))
	}
	errs = append(errs, versionRule(template.Child("spec", "version"), machine.Version)...)
	errs = append(errs, referenceRules(template.Child("spec"), machine)...)
	errs = append(errs, taintRules(template.Child("spec", "taints"), machine.Taints)...)
	errs = append(errs, pool.Spec.Template.Validate(template.Child("metadata"))...)
	return append(errs, annotationRules(field.NewPath("metadata", "annotations"), pool)...)
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

// reference is a field of a pool that refers to an object of a provider, and what it may refer to.
type reference struct {
	path *field.Path
	to   clusterv1.ContractVersionedObjectReference
	role contract.Role
}

// references of a pool's template. path is that of its specification.
func references(path *field.Path, machine *clusterv1.MachineSpec) []reference {
	return []reference{
		{path: path.Child("bootstrap", "configRef"), to: machine.Bootstrap.ConfigRef, role: contract.BootstrapConfig()},
		{path: path.Child("infrastructureRef"), to: machine.InfrastructureRef, role: contract.InfraMachinePool()},
	}
}

// referenceRules validates the pool's references. The controller makes the pool the owner of those objects, and deletes them with it.
func referenceRules(path *field.Path, machine *clusterv1.MachineSpec) field.ErrorList {
	var errs field.ErrorList
	if !machine.Bootstrap.ConfigRef.IsDefined() && machine.Bootstrap.DataSecretName == nil {
		errs = append(errs, field.Required(path.Child("bootstrap"),
			"set configRef, or dataSecretName (to \"\" where machines need no bootstrap data)"))
	}
	if name := machine.Bootstrap.DataSecretName; name != nil {
		if text := contract.CredentialsText(*name, machine.ClusterName); text != "" {
			errs = append(errs, field.Invalid(path.Child("bootstrap", "dataSecretName"), *name, text))
		}
	}
	for _, ref := range references(path, machine) {
		if !ref.to.IsDefined() {
			continue
		}
		if err := ref.role.Names(ref.to.GroupKind()); err != nil {
			errs = append(errs, field.Invalid(ref.path, ref.to.Kind, err.Error()))
		}
	}
	return errs
}

// annotationRules hold the annotations that mean something for the specification.
func annotationRules(path *field.Path, pool *clusterv1.MachinePool) field.ErrorList {
	var errs field.ErrorList
	if value, ok := pool.Annotations[skew.Annotation]; ok && value != skew.Skip {
		errs = append(errs, field.NotSupported(path.Key(skew.Annotation), value, []string{skew.Skip}))
	}
	b, problem := autoscalerBounds(pool)
	switch {
	case problem != nil:
		errs = append(errs, problem)
	case b != nil && b.max < b.min:
		errs = append(errs, field.Invalid(path.Key(clusterv1.AutoscalerMinSizeAnnotation), b.min,
			fmt.Sprintf("must not be above that of %s, %d", clusterv1.AutoscalerMaxSizeAnnotation, b.max)))
	}
	return errs
}
