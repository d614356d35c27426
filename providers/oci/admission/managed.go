package admission

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/webhook/checks"
)

type managedValidator struct{ reader client.Reader }

// ValidateCreate refuses a version that the MachinePool does not have.
func (v *managedValidator) ValidateCreate(ctx context.Context, p *ociv1.OCIManagedMachinePool) (admission.Warnings, error) {
	pools, err := checks.MachinePools(ctx, v.reader, p.Namespace, ociv1.OCIManagedMachinePoolKind, p.Name)
	if err != nil {
		return nil, err
	}
	if text := otherVersion(p, pools); text != "" {
		return nil, apierrors.NewInvalid(ociv1.GroupVersion.WithKind(ociv1.OCIManagedMachinePoolKind).GroupKind(), p.Name,
			field.ErrorList{field.Invalid(field.NewPath("spec", "version"), *p.Spec.Version, text)})
	}
	return append(managedWarnings(p), sizeWarnings(pools)...), nil
}

// ValidateUpdate warns of a change by a user. Controllers are not warned. Another version than that of the MachinePool is not refused,
// because an upgrade changes both objects in either order, and tools check the new state of each against the old state of the other. The
// controller changes no node pool before they agree.
func (v *managedValidator) ValidateUpdate(ctx context.Context, old, p *ociv1.OCIManagedMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(managedUserSpec(old), managedUserSpec(p)) {
		return nil, nil
	}
	pools, err := checks.MachinePools(ctx, v.reader, p.Namespace, ociv1.OCIManagedMachinePoolKind, p.Name)
	if err != nil {
		return nil, err
	}
	list := append(managedWarnings(p), sizeWarnings(pools)...)
	if text := otherVersion(p, pools); text != "" {
		list = append(list, "spec.version: "+text)
	}
	if image := p.Spec.Image(); image != "" && image == old.Spec.Image() && ptr.Deref(old.Spec.Version, "") != ptr.Deref(p.Spec.Version, "") {
		list = append(list, "spec.nodeSourceViaImage.imageId: stays while spec.version changes: an image of OKE has the kubelet of one "+
			"version; name another, or none")
	}
	return list, nil
}

// ValidateDelete lets every deletion pass.
func (*managedValidator) ValidateDelete(context.Context, *ociv1.OCIManagedMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// managedUserSpec returns the specification without the fields that controllers write.
func managedUserSpec(p *ociv1.OCIManagedMachinePool) *ociv1.OCIManagedMachinePoolSpec {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.ID, spec.ProviderIDList = nil, nil, nil
	return spec
}

// otherVersion describes a version that differs from that of the MachinePool; empty if there is none, or one of both names none.
func otherVersion(p *ociv1.OCIManagedMachinePool, pools []*clusterv1.MachinePool) string {
	own := ptr.Deref(p.Spec.Version, "")
	for _, mp := range pools {
		if of := mp.Spec.Template.Spec.Version; !ociv1.SameVersion(own, of) {
			return fmt.Sprintf("spec.template.spec.version of MachinePool %s is %s: set both to the same version, or remove this one", mp.Name, of)
		}
	}
	return ""
}

// sizeWarnings are of MachinePools whose size another client owns by an annotation without a value, which templates of the ecosystem's
// provider have. It counts like any other value but false in Cluster API.
func sizeWarnings(pools []*clusterv1.MachinePool) (list admission.Warnings) {
	for _, mp := range pools {
		if by, ok := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; ok && by == "" {
			list = append(list, fmt.Sprintf("MachinePool %s has the annotation %s with an empty value, by which an autoscaler owns its size: "+
				"spec.replicas has no effect after creation and follows the node pool. Remove the annotation to have it set by spec.replicas",
				mp.Name, clusterv1.ReplicasManagedByAnnotation))
		}
	}
	return list
}

// managedWarnings returns the texts for settings of node pools without effect and for harmful ones.
func managedWarnings(p *ociv1.OCIManagedMachinePool) admission.Warnings {
	spec := &p.Spec
	var list checks.Warnings
	list.When(spec.NodeShapeConfig != nil && !flexible(spec.NodeShape),
		"spec.nodeShapeConfig: has no effect with shape %s, which has one size", spec.NodeShape)
	list.When(set(spec.Version) && spec.Image() == "", "spec.nodeSourceViaImage.imageId: is empty: nodes get the newest image of OKE for "+
		"version %s and the architecture of the shape, which stays until one of these changes", ptr.Deref(spec.Version, ""))
	if e := spec.NodeEvictionNodePoolSettings; e != nil {
		list.When(zeroDuration(ptr.Deref(e.EvictionGraceDuration, "")), "spec.nodeEvictionNodePoolSettings.evictionGraceDuration: with %s OKE "+
			"deletes nodes without a drain. Muster drains those that it removes itself", ptr.Deref(e.EvictionGraceDuration, ""))
	}
	if c := spec.NodePoolCyclingDetails; c != nil {
		const at = "spec.nodePoolCyclingDetails."
		list.When(!spec.Cycled() && c.MaximumSurge != nil, at+"maximumSurge: has no effect without isNodeCyclingEnabled")
		list.When(!spec.Cycled() && c.MaximumUnavailable != nil, at+"maximumUnavailable: has no effect without isNodeCyclingEnabled")
		list.When(!spec.Cycled() && len(c.CycleModes) > 0, at+"cycleModes: has no effect without isNodeCyclingEnabled")
	}
	if n := spec.NodePoolNodeConfig; n != nil && n.NodePoolPodNetworkOptionDetails != nil {
		pods := n.NodePoolPodNetworkOptionDetails
		list.When(pods.CNIType == ociv1.CNIFlannel && !equality.Semantic.DeepEqual(pods.VCNIPNativePodNetworkOptions,
			ociv1.VCNIPNativePodNetworkOptions{}), "spec.nodePoolNodeConfig.nodePoolPodNetworkOptionDetails.vcnIpNativePodNetworkOptions: has "+
			"no effect with cniType %s", ociv1.CNIFlannel)
	}
	return admission.Warnings(list)
}

// zeroDuration reports whether a duration, whose form the schema holds, is one of nothing: PT0M.
func zeroDuration(text string) bool { return text != "" && strings.Trim(text, "PTHMS0") == "" }
