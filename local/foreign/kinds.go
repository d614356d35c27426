package foreign

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Groups that the kinds are in, and the versions that they are stored in. The AWS provider's kinds are served in v1beta1 too,
// and have the same fields as far as they are read; the Azure provider's have no other version than that.
const (
	infrastructure = "infrastructure.cluster.x-k8s.io"
	controlPlane   = "controlplane.cluster.x-k8s.io"
	first          = "v1beta1"
	stored         = "v1beta2"
)

// The kinds, in the version that is stored.
var (
	AzureCluster         = schema.GroupVersionKind{Group: infrastructure, Version: first, Kind: "AzureCluster"}
	AzureClusterIdentity = schema.GroupVersionKind{Group: infrastructure, Version: first, Kind: "AzureClusterIdentity"}

	AWSCluster             = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSCluster"}
	AWSManagedCluster      = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSManagedCluster"}
	AWSManagedControlPlane = schema.GroupVersionKind{Group: controlPlane, Version: stored, Kind: "AWSManagedControlPlane"}

	AzureClusterTemplate           = schema.GroupVersionKind{Group: infrastructure, Version: first, Kind: "AzureClusterTemplate"}
	AWSClusterTemplate             = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSClusterTemplate"}
	AWSManagedClusterTemplate      = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSManagedClusterTemplate"}
	AWSManagedControlPlaneTemplate = schema.GroupVersionKind{Group: controlPlane, Version: stored, Kind: "AWSManagedControlPlaneTemplate"}

	AWSClusterControllerIdentity = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSClusterControllerIdentity"}
	AWSClusterRoleIdentity       = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSClusterRoleIdentity"}
	AWSClusterStaticIdentity     = schema.GroupVersionKind{Group: infrastructure, Version: stored, Kind: "AWSClusterStaticIdentity"}
)

// moveHierarchy on a definition has clusterctl move its objects with what they own. The AWS provider sets it on its identities, which
// belong to no Cluster; users set it on single AzureClusterIdentities.
const moveHierarchy = "clusterctl.cluster.x-k8s.io/move-hierarchy"

// definition is what kinds differ in.
type definition struct {
	kind      schema.GroupVersionKind
	plural    string
	shortName string
	scope     apiextensionsv1.ResourceScope
	columns   []apiextensionsv1.CustomResourceColumnDefinition
}

var definitions = []definition{
	{AWSCluster, "awsclusters", "awsc", apiextensionsv1.NamespaceScoped, clusterColumns},
	{AWSManagedCluster, "awsmanagedclusters", "awsmc", apiextensionsv1.NamespaceScoped, []apiextensionsv1.CustomResourceColumnDefinition{cluster, ready, endpoint, age}},
	{AWSManagedControlPlane, "awsmanagedcontrolplanes", "awsmcp", apiextensionsv1.NamespaceScoped, append([]apiextensionsv1.CustomResourceColumnDefinition{version}, clusterColumns...)},
	{AWSClusterControllerIdentity, "awsclustercontrolleridentities", "awsci", apiextensionsv1.ClusterScoped, []apiextensionsv1.CustomResourceColumnDefinition{age}},
	{AWSClusterRoleIdentity, "awsclusterroleidentities", "awsri", apiextensionsv1.ClusterScoped, []apiextensionsv1.CustomResourceColumnDefinition{age}},
	{AWSClusterStaticIdentity, "awsclusterstaticidentities", "awssi", apiextensionsv1.ClusterScoped, []apiextensionsv1.CustomResourceColumnDefinition{age}},
	{AzureCluster, "azureclusters", "", apiextensionsv1.NamespaceScoped, azureColumns},
	{AzureClusterIdentity, "azureclusteridentities", "", apiextensionsv1.NamespaceScoped, []apiextensionsv1.CustomResourceColumnDefinition{identityType, age}},
	{AzureClusterTemplate, "azureclustertemplates", "", apiextensionsv1.NamespaceScoped, nil},
	{AWSClusterTemplate, "awsclustertemplates", "awsct", apiextensionsv1.NamespaceScoped, nil},
	{AWSManagedClusterTemplate, "awsmanagedclustertemplates", "awsmct", apiextensionsv1.NamespaceScoped, nil},
	{AWSManagedControlPlaneTemplate, "awsmanagedcontrolplanetemplates", "awsmcpt", apiextensionsv1.NamespaceScoped, nil},
}

// Columns of the providers' own definitions.
var (
	cluster        = apiextensionsv1.CustomResourceColumnDefinition{Name: "Cluster", Type: "string", JSONPath: `.metadata.labels.cluster\.x-k8s\.io/cluster-name`}
	ready          = apiextensionsv1.CustomResourceColumnDefinition{Name: "Ready", Type: "string", JSONPath: ".status.ready"}
	vpc            = apiextensionsv1.CustomResourceColumnDefinition{Name: "VPC", Type: "string", JSONPath: ".spec.network.vpc.id"}
	endpoint       = apiextensionsv1.CustomResourceColumnDefinition{Name: "Endpoint", Type: "string", JSONPath: ".spec.controlPlaneEndpoint.host", Priority: 1}
	version        = apiextensionsv1.CustomResourceColumnDefinition{Name: "Version", Type: "string", JSONPath: ".status.version"}
	age            = apiextensionsv1.CustomResourceColumnDefinition{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}
	clusterColumns = []apiextensionsv1.CustomResourceColumnDefinition{cluster, ready, vpc, endpoint, age}
	identityType   = apiextensionsv1.CustomResourceColumnDefinition{Name: "Type", Type: "string", JSONPath: ".spec.type"}
	azureColumns   = []apiextensionsv1.CustomResourceColumnDefinition{cluster, ready,
		{Name: "Resource Group", Type: "string", JSONPath: ".spec.resourceGroup", Priority: 1},
		{Name: "SubscriptionID", Type: "string", JSONPath: ".spec.subscriptionID", Priority: 1},
		{Name: "Location", Type: "string", JSONPath: ".spec.location", Priority: 1}, endpoint, age}
)

// Definitions are those of all kinds, each with the contract that its provider's own definition carries.
func Definitions() []*apiextensionsv1.CustomResourceDefinition {
	all := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(definitions))
	for _, d := range definitions {
		all = append(all, d.object())
	}
	return all
}

func (d definition) object() *apiextensionsv1.CustomResourceDefinition {
	served := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage,
			Schema:                   &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
			Subresources:             &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			AdditionalPrinterColumns: d.columns,
		}
	}
	contract, versions := "v1beta1_v1beta2", []apiextensionsv1.CustomResourceDefinitionVersion{served(first, false), served(stored, true)}
	if d.kind.Version == first {
		contract, versions = first, []apiextensionsv1.CustomResourceDefinitionVersion{served(first, true)}
	}
	var short []string
	if d.shortName != "" {
		short = []string{d.shortName}
	}
	labels := map[string]string{"cluster.x-k8s.io/v1beta1": contract}
	if d.scope == apiextensionsv1.ClusterScoped {
		labels[moveHierarchy] = ""
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   d.plural + "." + d.kind.Group,
			Labels: labels,
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: d.kind.Group, Scope: d.scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: d.kind.Kind, ListKind: d.kind.Kind + "List", Plural: d.plural,
				Singular: strings.ToLower(d.kind.Kind), ShortNames: short, Categories: []string{"cluster-api"}},
			Versions: versions,
		},
	}
}
