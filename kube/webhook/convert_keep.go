package webhook

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapconversion "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"
	coreconversion "sigs.k8s.io/cluster-api/core/webhooks/conversion"
	conversionutil "sigs.k8s.io/cluster-api/util/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// converter makes the converter of one kind.
type converter func(*runtime.Scheme) (conversion.Converter, error)

// keeping is cluster-api's converter of a kind for which the older version can't say something that its converter does not
// put back: what was set aside when the object was read in the older version is looked at once more. Every write through
// the older version, by whomever and of whatever, would otherwise lose it.
func keeping[H, S client.Object](hub H, older S, toOlder func(context.Context, H, S) error, toHub func(context.Context, S, H) error,
	keep func(aside, dst H, src S)) converter {
	return conversion.NewHubSpokeConverter(hub, conversion.NewSpokeConverter(older, toOlder, func(ctx context.Context, src S, dst H) error {
		// Cluster API's converter removes the annotation, and returns an error if it is invalid.
		aside, ok := hub.DeepCopyObject().(H)
		ok = ok && json.Unmarshal([]byte(src.GetAnnotations()[conversionutil.DataAnnotation]), aside) == nil
		if err := toHub(ctx, src, dst); err != nil || !ok {
			return err
		}
		keep(aside, dst, src)
		return nil
	}))
}

// machinePool keeps a number of machines that is not counted yet, which is 0 in the older version, as nothing.
func machinePool() converter {
	return keeping(&clusterv1.MachinePool{}, &clusterv1beta1.MachinePool{},
		showReferences(poolReferences, coreconversion.ConvertMachinePoolHubToV1Beta1),
		rememberReferences(poolReferences, coreconversion.ConvertMachinePoolV1Beta1ToHub),
		func(aside, dst *clusterv1.MachinePool, src *clusterv1beta1.MachinePool) {
			uncounted(aside.Status.Replicas, &dst.Status.Replicas, src.Status.Replicas)
			unsaid(aside.Status.Deprecated, &dst.Status.Deprecated,
				&clusterv1.MachinePoolDeprecatedStatus{V1Beta1: &clusterv1.MachinePoolV1Beta1DeprecatedStatus{}})
		})
}

func machineDeployment() converter {
	return keeping(&clusterv1.MachineDeployment{}, &clusterv1beta1.MachineDeployment{},
		showReferences(deploymentReferences, coreconversion.ConvertMachineDeploymentHubToV1Beta1),
		rememberReferences(deploymentReferences, coreconversion.ConvertMachineDeploymentV1Beta1ToHub),
		func(aside, dst *clusterv1.MachineDeployment, src *clusterv1beta1.MachineDeployment) {
			uncounted(aside.Status.Replicas, &dst.Status.Replicas, src.Status.Replicas)
			unsaid(aside.Status.Deprecated, &dst.Status.Deprecated,
				&clusterv1.MachineDeploymentDeprecatedStatus{V1Beta1: &clusterv1.MachineDeploymentV1Beta1DeprecatedStatus{}})
		})
}

// cluster keeps what its references said.
func cluster() converter {
	return keeping(&clusterv1.Cluster{}, &clusterv1beta1.Cluster{},
		showReferences(clusterReferences, coreconversion.ConvertClusterHubToV1Beta1),
		rememberReferences(clusterReferences, coreconversion.ConvertClusterV1Beta1ToHub),
		func(_, _ *clusterv1.Cluster, _ *clusterv1beta1.Cluster) {})
}

// kubeadmConfig keeps the time that a join waits for a control plane where it differs from that of an init: the older version
// has one field for both.
func kubeadmConfig() converter {
	return keeping(&bootstrapv1.KubeadmConfig{}, &bootstrapv1beta1.KubeadmConfig{}, bootstrapconversion.ConvertKubeadmConfigHubToV1Beta1,
		bootstrapconversion.ConvertKubeadmConfigV1Beta1ToHub,
		func(aside, dst *bootstrapv1.KubeadmConfig, _ *bootstrapv1beta1.KubeadmConfig) {
			waits(&aside.Spec, &dst.Spec)
			unsaid(aside.Status.Deprecated, &dst.Status.Deprecated,
				&bootstrapv1.KubeadmConfigDeprecatedStatus{V1Beta1: &bootstrapv1.KubeadmConfigV1Beta1DeprecatedStatus{}})
		})
}

func kubeadmConfigTemplate() converter {
	return keeping(&bootstrapv1.KubeadmConfigTemplate{}, &bootstrapv1beta1.KubeadmConfigTemplate{},
		bootstrapconversion.ConvertKubeadmConfigTemplateHubToV1Beta1, bootstrapconversion.ConvertKubeadmConfigTemplateV1Beta1ToHub,
		func(aside, dst *bootstrapv1.KubeadmConfigTemplate, _ *bootstrapv1beta1.KubeadmConfigTemplate) {
			waits(&aside.Spec.Template.Spec, &dst.Spec.Template.Spec)
		})
}

// uncounted keeps a count that was not there and that the older version could only call zero.
func uncounted(aside *int32, dst **int32, older int32) {
	if aside == nil && older == 0 {
		*dst = nil
	}
}

// unsaid keeps a block that was not there, or was empty, where the older version says nothing in it.
func unsaid[T any](aside *T, dst **T, nothing *T) {
	if equality.Semantic.DeepEqual(*dst, nothing) {
		*dst = aside
	}
}

// waits keeps the join's own time as long as no client has changed the one that the older version shows, the init's.
func waits(aside, dst *bootstrapv1.KubeadmConfigSpec) {
	was, is := aside.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds,
		dst.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds
	if equality.Semantic.DeepEqual(was, is) {
		dst.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds =
			aside.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds
	}
}
