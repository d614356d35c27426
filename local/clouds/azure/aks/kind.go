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

// Kind is what the two families of kinds for AKS differ in: those with fields for AKS, and those with manifests of Azure Service Operator.
type Kind struct {
	managedplane.Kind
	cluster, pool schema.GroupVersionKind
	// fill sets what a control plane leaves open, as the provider's admission does.
	fill func(plane *unstructured.Unstructured, cluster string) error
	// network is what the managed cluster is in.
	network func(plane *unstructured.Unstructured, view aksv1.ManagedClusterView) standin.Wanted
	// body is that of the request for the managed cluster, without its version and the pools of objects.
	body func(plane *unstructured.Unstructured) (map[string]any, error)
	// profile returns the agent pool of an object, without what follows from its MachinePool.
	profile func(pool *unstructured.Unstructured, view aksv1.ManagedClusterView) (map[string]any, error)
	// status is what the status says beside what both kinds say; nil for nothing.
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

// Managed is the family of AzureManagedControlPlane.
func Managed() Kind {
	return Kind{
		Kind:    planes(standin.AzureManagedControlPlane, "aks", "azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io", "spec"),
		cluster: standin.AzureManagedCluster, pool: aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind),
		fill: fillManaged, network: managedNetwork, body: managedBody, profile: agentpool.Managed,
	}
}

// ASO is the family of AzureASOManagedControlPlane.
func ASO() Kind {
	return Kind{
		Kind:    planes(standin.AzureASOManagedControlPlane, "aks-aso", "azureasomanagedcontrolplane.infrastructure.cluster.x-k8s.io", "status"),
		cluster: standin.AzureASOManagedCluster, pool: aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind),
		fill: func(*unstructured.Unstructured, string) error { return nil },
		network: func(_ *unstructured.Unstructured, view aksv1.ManagedClusterView) standin.Wanted {
			return standin.Wanted{SubscriptionID: view.View.SubscriptionID, ResourceGroup: view.View.ResourceGroup,
				Location: view.View.Location}
		},
		body: manifestBody, profile: agentpool.Manifest, status: manifestStatus,
	}
}

// kubernetesVersion is a version as AKS spells it: 1.34.2.
func kubernetesVersion(version string) string { return strings.TrimPrefix(version, "v") }
