// Package standin replaces the provider of Google Cloud in a local world: the kinds that Muster only reads, the network that its
// controllers would create, and the built-in manifests of a world.
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
	GCPCluster             = infrastructure("GCPCluster")
	GCPManagedCluster      = infrastructure("GCPManagedCluster")
	GCPManagedControlPlane = infrastructure("GCPManagedControlPlane")
)

var (
	networkColumn  = apiextensionsv1.CustomResourceColumnDefinition{Name: "Network", Type: "string", JSONPath: ".spec.network.name"}
	clusterColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, networkColumn,
		foreign.EndpointColumn,
		foreign.AgeColumn}
	planeColumns = []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn,
		{Name: "CurrentVersion", Type: "string", JSONPath: ".status.currentVersion"}, foreign.VersionColumn,
		{Name: "Endpoint", Type: "string", JSONPath: ".spec.endpoint.host", Priority: 1}, foreign.AgeColumn}
)

// Kinds returns all kinds.
func Kinds() []foreign.Kind {
	return []foreign.Kind{
		{GroupVersionKind: GCPCluster, Plural: "gcpclusters", Columns: clusterColumns},
		{GroupVersionKind: GCPManagedCluster, Plural: "gcpmanagedclusters", ShortName: "gcpmc", Columns: clusterColumns},
		{GroupVersionKind: GCPManagedControlPlane, Plural: "gcpmanagedcontrolplanes", ShortName: "gcpmcp", Columns: planeColumns},
		template(GCPCluster, "gcpclustertemplates"),
		template(GCPManagedCluster, "gcpmanagedclustertemplates"),
		template(GCPManagedControlPlane, "gcpmanagedcontrolplanetemplates"),
	}
}

// template returns the kind that ClusterClasses make objects of a kind from.
func template(of schema.GroupVersionKind, plural string) foreign.Kind {
	of.Kind += "Template"
	return foreign.Kind{GroupVersionKind: of, Plural: plural}
}

func infrastructure(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: kind}
}
