// Package standin replaces the AWS provider in a local world: the kinds that Muster only reads, the network that its controllers would
// create, and the built-in manifests of a world.
package standin

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/local/foreign"
)

// stored is the version that the provider stores its kinds in.
const stored = "v1beta2"

// The kinds that the local world fills in.
var (
	AWSCluster             = schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: "AWSCluster"}
	AWSManagedCluster      = schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: "AWSManagedCluster"}
	AWSManagedControlPlane = schema.GroupVersionKind{Group: foreign.ControlPlane, Version: stored, Kind: "AWSManagedControlPlane"}
)

var (
	vpc            = apiextensionsv1.CustomResourceColumnDefinition{Name: "VPC", Type: "string", JSONPath: ".spec.network.vpc.id"}
	clusterColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, vpc, foreign.EndpointColumn,
		foreign.AgeColumn}
	managedColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, foreign.EndpointColumn,
		foreign.AgeColumn}
	planeColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.VersionColumn, foreign.ClusterColumn, foreign.ReadyColumn, vpc,
		foreign.EndpointColumn, foreign.AgeColumn}
	ageColumn = []apiextensionsv1.CustomResourceColumnDefinition{foreign.AgeColumn}
)

// Kinds returns all kinds.
func Kinds() []foreign.Kind {
	return []foreign.Kind{
		{GroupVersionKind: AWSCluster, Plural: "awsclusters", ShortName: "awsc", Columns: clusterColumns},
		{GroupVersionKind: AWSManagedCluster, Plural: "awsmanagedclusters", ShortName: "awsmc", Columns: managedColumns},
		{GroupVersionKind: AWSManagedControlPlane, Plural: "awsmanagedcontrolplanes", ShortName: "awsmcp", Columns: planeColumns},
		identity("AWSClusterControllerIdentity", "awsclustercontrolleridentities", "awsci"),
		identity("AWSClusterRoleIdentity", "awsclusterroleidentities", "awsri"),
		identity("AWSClusterStaticIdentity", "awsclusterstaticidentities", "awssi"),
		template(AWSCluster, "awsclustertemplates", "awsct"),
		template(AWSManagedCluster, "awsmanagedclustertemplates", "awsmct"),
		template(AWSManagedControlPlane, "awsmanagedcontrolplanetemplates", "awsmcpt"),
	}
}

func identity(kind, plural, short string) foreign.Kind {
	return foreign.Kind{GroupVersionKind: schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: kind},
		Plural: plural, ShortName: short, ClusterScoped: true, Columns: ageColumn}
}

// template returns the kind that ClusterClasses make objects of a kind from.
func template(of schema.GroupVersionKind, plural, short string) foreign.Kind {
	of.Kind += "Template"
	return foreign.Kind{GroupVersionKind: of, Plural: plural, ShortName: short}
}
