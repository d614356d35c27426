// Package admission admits ScalewayManagedMachinePools: it warns of what has no effect or does harm, and refuses what one object does not
// show. Its webhooks are installed with the controller of the kind.
package admission

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/webhook/checks"
	"github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
)

// ValidatePath is the path that is served, in the form of the ecosystem's.
const ValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1alpha2-scalewaymanagedmachinepool"

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1alpha2-scalewaymanagedmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=scalewaymanagedmachinepools,versions=v1alpha2,name=validation.scalewaymanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// Validator warns of ScalewayManagedMachinePools, and refuses those whose MachinePool asks for more than their largest size. The reader
// finds that.
func Validator(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
	return admission.WithValidator[*scalewayv1.ScalewayManagedMachinePool](scheme, &validator{reader: reader})
}

type validator struct{ reader client.Reader }

// ValidateCreate refuses a pool that the replicas of its MachinePool do not fit into.
func (v *validator) ValidateCreate(ctx context.Context, p *scalewayv1.ScalewayManagedMachinePool) (admission.Warnings, error) {
	if err := v.fits(ctx, p); err != nil {
		return nil, err
	}
	return warnings(p), nil
}

// ValidateUpdate refuses bounds that the replicas do not fit into, and warns of a change by a user. Controllers are not warned.
func (v *validator) ValidateUpdate(ctx context.Context, old, p *scalewayv1.ScalewayManagedMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(requestOf(old), requestOf(p)) {
		return nil, nil
	}
	if !equality.Semantic.DeepEqual(old.Spec.Scaling, p.Spec.Scaling) {
		if err := v.fits(ctx, p); err != nil {
			return nil, err
		}
	}
	return warnings(p), nil
}

// ValidateDelete lets every deletion pass.
func (*validator) ValidateDelete(context.Context, *scalewayv1.ScalewayManagedMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// request holds the parts of an object that users write.
type request struct {
	Spec        *scalewayv1.ScalewayManagedMachinePoolSpec
	Remediation string
}

// requestOf returns the parts of an object that users write, without the fields that controllers write.
func requestOf(p *scalewayv1.ScalewayManagedMachinePool) request {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.ProviderIDList = "", nil
	return request{spec, p.Annotations[settings.RemediationAnnotation]}
}

// fits returns an error if the MachinePool of the object asks for more replicas than the largest size of Kapsule's autoscaler. The size of
// a pool that follows the autoscaler's is never refused.
func (v *validator) fits(ctx context.Context, p *scalewayv1.ScalewayManagedMachinePool) error {
	if !p.Spec.Autoscaled() || p.Spec.Scaling.MaxSize == nil {
		return nil
	}
	pools, err := checks.MachinePools(ctx, v.reader, p.Namespace, scalewayv1.ScalewayManagedMachinePoolKind, p.Name)
	if err != nil {
		return err
	}
	for _, mp := range pools {
		if _, follows := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; follows || mp.Spec.Replicas == nil {
			continue
		}
		if limit := *p.Spec.Scaling.MaxSize; *mp.Spec.Replicas > limit {
			return apierrors.NewInvalid(scalewayv1.GroupVersion.WithKind(scalewayv1.ScalewayManagedMachinePoolKind).GroupKind(), p.Name,
				field.ErrorList{field.Invalid(field.NewPath("spec", "scaling", "maxSize"), limit, fmt.Sprintf(
					"spec.replicas of MachinePool %s is %d: lower it to %d or less, or raise maxSize", mp.Name, *mp.Spec.Replicas, limit))})
		}
	}
	return nil
}

// warnings are of what has no effect, or does harm.
func warnings(p *scalewayv1.ScalewayManagedMachinePool) (list admission.Warnings) {
	spec := &p.Spec
	add := func(holds bool, text string) {
		if holds {
			list = append(list, text)
		}
	}
	unused := spec.Scaling != nil && !spec.Autoscaled() && !spec.External()
	add(unused && spec.Scaling.MinSize != nil, "spec.scaling.minSize: has no effect without spec.scaling.autoscaling")
	add(unused && spec.Scaling.MaxSize != nil, "spec.scaling.maxSize: has no effect without spec.scaling.autoscaling")
	add(spec.External() && spec.Scaling != nil, "spec.scaling: has no effect with node type external: machines join by themselves")
	add(spec.External() && spec.Autohealed(), "spec.autohealing: has no effect with node type external: Scaleway does not run the machines")
	surge, _ := spec.Upgrade()
	add(surge == 0, "spec.upgradePolicy: with maxSurge 0 Kapsule deletes a node before its replacement runs")
	after, err := time.ParseDuration(p.Annotations[settings.RemediationAnnotation])
	add(spec.Autohealed() && err == nil && after < scalewaymanaged.AutohealingDelay, fmt.Sprintf(
		"metadata.annotations[%s]: Muster waits for %s, because spec.autohealing has Scaleway replace nodes that are not ready for 30 minutes",
		settings.RemediationAnnotation, scalewaymanaged.AutohealingDelay))
	return list
}
