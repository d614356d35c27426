// Package standin replaces Oracle's provider in a local world: the kinds that Muster only reads, the network that its controllers would
// create, and the built-in manifests of a world.
package standin

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/local/foreign"
)

// stored is the version that the provider stores. It serves v1beta1 too.
const stored = "v1beta2"

// The kinds that the local world fills in.
var (
	OCICluster             = infrastructure("OCICluster")
	OCIManagedCluster      = infrastructure("OCIManagedCluster")
	OCIManagedControlPlane = infrastructure("OCIManagedControlPlane")
	// OCIClusterIdentity is the kind of identities, which users create.
	OCIClusterIdentity = infrastructure("OCIClusterIdentity")
)

// Kinds returns all kinds.
func Kinds() []foreign.Kind {
	columns := []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, foreign.EndpointColumn,
		foreign.AgeColumn}
	planes := []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, foreign.VersionColumn,
		foreign.EndpointColumn, foreign.AgeColumn}
	return []foreign.Kind{
		{GroupVersionKind: OCICluster, Plural: "ociclusters", Columns: columns},
		{GroupVersionKind: OCIManagedCluster, Plural: "ocimanagedclusters", Columns: columns},
		{GroupVersionKind: OCIManagedControlPlane, Plural: "ocimanagedcontrolplanes", Columns: planes},
		{GroupVersionKind: OCIClusterIdentity, Plural: "ociclusteridentities"},
		template(OCICluster, "ociclustertemplates"),
		template(OCIManagedCluster, "ocimanagedclustertemplates"),
		template(OCIManagedControlPlane, "ocimanagedcontrolplanetemplates"),
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
