// Package standin replaces the Azure provider in a local world: the kinds that Muster only reads, the network that its controllers would
// create, and the built-in manifests of a world.
package standin

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/local/foreign"
)

// stored is the only version that the provider has.
const stored = "v1beta1"

// The kinds that the local world fills in.
var (
	AzureCluster                = infrastructure("AzureCluster")
	AzureManagedCluster         = infrastructure("AzureManagedCluster")
	AzureManagedControlPlane    = infrastructure("AzureManagedControlPlane")
	AzureASOManagedCluster      = infrastructure("AzureASOManagedCluster")
	AzureASOManagedControlPlane = infrastructure("AzureASOManagedControlPlane")
)

var (
	clusterColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn,
		{Name: "Resource Group", Type: "string", JSONPath: ".spec.resourceGroup", Priority: 1},
		{Name: "SubscriptionID", Type: "string", JSONPath: ".spec.subscriptionID", Priority: 1},
		{Name: "Location", Type: "string", JSONPath: ".spec.location", Priority: 1}, foreign.EndpointColumn, foreign.AgeColumn}
	managedColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, foreign.EndpointColumn,
		foreign.AgeColumn}
	planeColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.VersionColumn, foreign.ClusterColumn, foreign.ReadyColumn,
		foreign.EndpointColumn, foreign.AgeColumn}
	identityColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Type", Type: "string", JSONPath: ".spec.type"},
		foreign.AgeColumn}
)

// Kinds returns all kinds.
func Kinds() []foreign.Kind {
	return []foreign.Kind{
		{GroupVersionKind: AzureCluster, Plural: "azureclusters", Columns: clusterColumns},
		{GroupVersionKind: infrastructure("AzureClusterIdentity"), Plural: "azureclusteridentities", Columns: identityColumns},
		{GroupVersionKind: AzureManagedCluster, Plural: "azuremanagedclusters", ShortName: "amc", Columns: managedColumns},
		{GroupVersionKind: AzureManagedControlPlane, Plural: "azuremanagedcontrolplanes", ShortName: "amcp", Columns: planeColumns},
		{GroupVersionKind: AzureASOManagedCluster, Plural: "azureasomanagedclusters", Older: older, Columns: managedColumns},
		{GroupVersionKind: AzureASOManagedControlPlane, Plural: "azureasomanagedcontrolplanes", Older: older, Columns: planeColumns},
		template(AzureCluster, "azureclustertemplates"),
		template(AzureManagedCluster, "azuremanagedclustertemplates"),
		template(AzureManagedControlPlane, "azuremanagedcontrolplanetemplates"),
		alsoOlder(template(AzureASOManagedCluster, "azureasomanagedclustertemplates")),
		alsoOlder(template(AzureASOManagedControlPlane, "azureasomanagedcontrolplanetemplates")),
	}
}

// template returns the kind that ClusterClasses make objects of a kind from.
func template(of schema.GroupVersionKind, plural string) foreign.Kind {
	of.Kind += "Template"
	return foreign.Kind{GroupVersionKind: of, Plural: plural}
}

// older is the version in which the provider serves the kinds with manifests of Azure Service Operator too.
const older = "v1alpha1"

// alsoOlder returns a kind that is served in that version too.
func alsoOlder(k foreign.Kind) foreign.Kind {
	k.Older = older
	return k
}

func infrastructure(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: kind}
}
