// Package standin replaces Scaleway's provider in a local world: the kinds that Muster only reads, and the built-in manifests of a world.
package standin

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/local/foreign"
)

// The versions of the provider: the stored one, and an older one with the same fields as far as they are read.
const stored, older = "v1alpha2", "v1alpha1"

// The kinds that the local world fills in.
var (
	ScalewayManagedCluster      = schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: "ScalewayManagedCluster"}
	ScalewayManagedControlPlane = schema.GroupVersionKind{Group: foreign.Infrastructure, Version: stored, Kind: "ScalewayManagedControlPlane"}
)

var (
	regionColumn = apiextensionsv1.CustomResourceColumnDefinition{Name: "Region", Type: "string", JSONPath: ".spec.region"}
	hostColumn   = apiextensionsv1.CustomResourceColumnDefinition{Name: "Host", Type: "string", JSONPath: ".spec.controlPlaneEndpoint.host"}
)

// Kinds returns all kinds.
func Kinds() []foreign.Kind {
	return []foreign.Kind{
		{GroupVersionKind: ScalewayManagedCluster, Plural: "scalewaymanagedclusters", ShortName: "smc", Older: older,
			Columns: []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, regionColumn, hostColumn}},
		{GroupVersionKind: ScalewayManagedControlPlane, Plural: "scalewaymanagedcontrolplanes", ShortName: "smcp", Older: older,
			Columns: []apiextensionsv1.CustomResourceColumnDefinition{foreign.ClusterColumn, foreign.ReadyColumn, foreign.VersionColumn,
				hostColumn}},
	}
}
