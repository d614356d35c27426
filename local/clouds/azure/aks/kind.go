package aks

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/clouds/azure/aks/agentpool"
	"github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/local/workload"
)

// Kind holds the differences between the two families of kinds for AKS: those with fields for AKS, and those with manifests of Azure
// Service Operator.
type Kind struct {
	managedplane.Kind
	cluster, pool schema.GroupVersionKind
	// fill sets the defaults of a control plane, as the provider's admission webhook does.
	fill func(plane *unstructured.Unstructured, cluster string) error
	// network returns the network of the managed cluster.
	network func(plane *unstructured.Unstructured, view aksv1.ManagedClusterView) standin.Resources
	// body returns the body of the request for the managed cluster, without its version and the agent pools of other objects.
	body func(plane *unstructured.Unstructured) (map[string]any, error)
	// profile returns the agent pool of an object, without what follows from its MachinePool.
	profile func(pool *unstructured.Unstructured, view aksv1.ManagedClusterView) (map[string]any, error)
	// status sets the status fields that only this kind has; nil for none.
	status func(plane *unstructured.Unstructured) error
}

// planes describes control planes that have their endpoint in the specification or in the status.
func planes(object schema.GroupVersionKind, folder, finalizer, part string) managedplane.Kind {
	return managedplane.Kind{
		Object: object, Finalizer: finalizer, Service: "AKS", Folder: folder, Endpoint: []string{part, "controlPlaneEndpoint"},
		Conditions: []string{"Ready", "ManagedClusterRunning", "Available"},
		Operator:   workload.Operator{Role: "aks:node-manager", Group: "system:bootstrappers:aks:node-manager", TokenID: "aksnod"},
	}
}

// Managed returns the family of AzureManagedControlPlane.
func Managed() Kind {
	return Kind{
		Kind:    planes(standin.AzureManagedControlPlane, "aks", "azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io", "spec"),
		cluster: standin.AzureManagedCluster, pool: aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind),
		fill: fillManaged, network: managedNetwork, body: managedBody, profile: agentpool.Managed,
	}
}

// ASO returns the family of AzureASOManagedControlPlane.
func ASO() Kind {
	return Kind{
		Kind:    planes(standin.AzureASOManagedControlPlane, "aks-aso", "azureasomanagedcontrolplane.infrastructure.cluster.x-k8s.io", "status"),
		cluster: standin.AzureASOManagedCluster, pool: aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind),
		fill: func(*unstructured.Unstructured, string) error { return nil },
		network: func(_ *unstructured.Unstructured, view aksv1.ManagedClusterView) standin.Resources {
			return standin.Resources{SubscriptionID: view.View.SubscriptionID, ResourceGroup: view.View.ResourceGroup,
				Location: view.View.Location}
		},
		body: manifestBody, profile: agentpool.Manifest, status: manifestStatus,
	}
}

// kubernetesVersion returns a version as AKS spells it: 1.34.2.
func kubernetesVersion(version string) string { return strings.TrimPrefix(version, "v") }
