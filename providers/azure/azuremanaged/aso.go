package azuremanaged

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azureidentity"
	"github.com/muster-project/muster/providers/azure/azurestatus"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools/finalizers,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes,verbs=get;list;watch

// The properties of manifests that say how a pool is sized.
const (
	propertyMode       = "mode"
	propertyAutoscaler = "enableAutoScaling"
	propertyMin        = "minCount"
	propertyMax        = "maxCount"
)

// ASO translates AzureASOManagedMachinePools.
type ASO struct{}

var _ infrapool.Adapter[*aksv1.AzureASOManagedMachinePool, *aksv1.AgentPoolSource] = ASO{}

// Kind is AzureASOManagedMachinePool.
func (ASO) Kind() infrapool.Kind[*aksv1.AzureASOManagedMachinePool, *aksv1.AgentPoolSource] {
	return infrapool.Kind[*aksv1.AzureASOManagedMachinePool, *aksv1.AgentPoolSource]{
		Group:          aksv1.GroupVersion.Group,
		Name:           aksv1.AzureASOManagedMachinePoolKind,
		Finalizer:      aksv1.ASOManagedMachinePoolFinalizer,
		VersionRises:   true,
		TemplateFields: []string{"resources"},
		New:            func() *aksv1.AzureASOManagedMachinePool { return &aksv1.AzureASOManagedMachinePool{} },
		NewList:        asoObjects.NewList,
		Kin:            []ownership.Objects{managedObjects},
		NoInfraCluster: noControlPlane(aksv1.ASOManagedControlPlaneKind),
		BootstrapMode:  func(*aksv1.AzureASOManagedMachinePool) bootstrap.Mode { return bootstrap.None },
		OwnedElsewhere: func(ctx context.Context, c client.Client, o *aksv1.AzureASOManagedMachinePool) (*pool.Cause, error) {
			manifest, err := o.Spec.AgentPoolManifest()
			if err != nil {
				return nil, nil // the translation reports what is wrong with it
			}
			return operated(ctx, c, o.Namespace, manifest.ManifestName)
		},
		Identify: func(ctx context.Context, by identity.Referrer, from *identity.Credentials, spec *aksv1.AgentPoolSource) (map[string]string,
			error) {
			named, field := CredentialSecret(spec)
			return azureidentity.ServiceOperator(ctx, by, from, named, field, &spec.Cluster.View)
		},
	}
}

// CredentialSecret returns the Secret that a manifest names, and where it names it: the manifest of the agent pool, or else that of the
// managed cluster.
func CredentialSecret(spec *aksv1.AgentPoolSource) (name, field string) {
	const annotation = "metadata.annotations[" + aksv1.CredentialAnnotation + "]"
	if name := spec.Manifest.Annotations[aksv1.CredentialAnnotation]; name != "" {
		return name, fmt.Sprintf("spec.resources[%d].%s", spec.Manifest.Index, annotation)
	}
	return spec.Cluster.CredentialSecret, aksv1.ASOManagedControlPlaneKind + " " + spec.Cluster.View.Name + ": ManagedCluster: " + annotation
}

// InfraCluster is the control plane, whose manifests say where the managed cluster is.
func (ASO) InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return controlPlane(cluster, aksv1.ASOManagedControlPlaneKind)
}

// Translate hands the driver the manifest of the agent pool.
func (ASO) Translate(o *aksv1.AzureASOManagedMachinePool, in infrapool.Inputs) (infrapool.Translation[*aksv1.AgentPoolSource], error) {
	manifest, err := o.Spec.AgentPoolManifest()
	if err != nil {
		return infrapool.Translation[*aksv1.AgentPoolSource]{}, err
	}
	t := translation(&aksv1.AgentPoolSource{Name: manifest.Name, Created: o.CreationTimestamp.Time, Manifest: manifest},
		upgradeSettings(manifest.Spec))
	at := fmt.Sprintf("spec.resources[%d].spec.", manifest.Index)
	mode, _, _ := unstructured.NestedString(manifest.Spec, propertyMode)
	t.bound(mode, at+propertyMode)
	if on, _, _ := unstructured.NestedBool(manifest.Spec, propertyAutoscaler); on {
		t.autoscaled(aksv1.ReplicasManagedByAKS, at+propertyAutoscaler, number(manifest.Spec, propertyMin), number(manifest.Spec, propertyMax))
		t.MinField, t.MaxField = at+propertyMin, at+propertyMax
	}
	if in.MachinePool != nil && t.Autoscaler == "" {
		t.Spec.Replicas = in.MachinePool.Spec.Replicas
	}
	if err = t.locate(in); err == nil {
		err = errors.Join(manifest.CheckNamespace(o.Namespace), manifest.CheckOwner(t.Spec.Cluster))
	}
	t.Operations = azurestatus.Operations(o.Status.LongRunningOperationStates, t.Spec.Cluster.View.SubscriptionID)
	return t.Translation, err
}

// number returns a number of a manifest; nil without it.
func number(spec map[string]any, name string) *int {
	n, ok, err := unstructured.NestedInt64(spec, name)
	if !ok || err != nil {
		return nil
	}
	out := int(n)
	return &out
}

// upgradeSettings returns those of a manifest; nil without any.
func upgradeSettings(spec map[string]any) *aksv1.UpgradeSettings {
	settings, ok, err := unstructured.NestedMap(spec, "upgradeSettings")
	if !ok || err != nil {
		return nil
	}
	out := &aksv1.UpgradeSettings{}
	if text, err := json.Marshal(settings); err != nil || json.Unmarshal(text, out) != nil {
		return nil
	}
	return out
}

// Report writes the fields that the ecosystem knows: a manifest is ready when the agent pool is as it asks.
func (ASO) Report(o *aksv1.AzureASOManagedMachinePool, r report.Report, out engine.Outcome) {
	o.Status.LongRunningOperationStates = azurestatus.Futures(out.Observed.Operations)
	o.Status.NodeImageVersion = nodeImage(out)
	o.Status.Resources = nil
	ready := r.Condition(report.GroupReady).Status == report.True
	for i := range o.Spec.Resources {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(o.Spec.Resources[i].Raw, u); err != nil {
			continue
		}
		kind := u.GroupVersionKind()
		o.Status.Resources = append(o.Status.Resources, aksv1.ResourceStatus{Ready: ready,
			Resource: aksv1.StatusResource{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Name: u.GetName()}})
	}
}
