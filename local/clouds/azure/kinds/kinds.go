// Package kinds lists the kinds of the Azure provider that Muster only reads.
package kinds

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/local/foreign"
)

// stored is the only version that the provider has.
const stored = "v1beta1"

// AzureCluster is the kind that the local world fills in.
var AzureCluster = schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: "AzureCluster"}

var (
	clusterColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn,
		{Name: "Resource Group", Type: "string", JSONPath: ".spec.resourceGroup", Priority: 1},
		{Name: "SubscriptionID", Type: "string", JSONPath: ".spec.subscriptionID", Priority: 1},
		{Name: "Location", Type: "string", JSONPath: ".spec.location", Priority: 1}, foreign.EndpointColumn, foreign.AgeColumn}
	identityColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Type", Type: "string", JSONPath: ".spec.type"}, foreign.AgeColumn}
)

// All returns all kinds.
func All() []foreign.Kind {
	return []foreign.Kind{
		{GroupVersionKind: AzureCluster, Plural: "azureclusters", Columns: clusterColumns},
		{GroupVersionKind: infrastructure("AzureClusterIdentity"), Plural: "azureclusteridentities", Columns: identityColumns},
		{GroupVersionKind: infrastructure("AzureClusterTemplate"), Plural: "azureclustertemplates"},
	}
}

func infrastructure(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: kind}
}
