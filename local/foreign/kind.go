package foreign

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Groups that the kinds are in.
const (
	Infrastructure = "infrastructure.cluster.x-k8s.io"
	ControlPlane   = "controlplane.cluster.x-k8s.io"
)

// first is the version of kinds that have no other. A kind that is stored in a later one is served in this one too, and has the
// same fields there as far as they are read. A kind that is stored in an earlier one, such as v1alpha2, has no such version yet.
const (
	first   = "v1beta1"
	earlier = "v1alpha"
)

// moveHierarchy on a definition has clusterctl move its objects with what they own. Providers set it on identities that are cluster-scoped
// and belong to no Cluster; users set it on single objects of others.
const moveHierarchy = "clusterctl.cluster.x-k8s.io/move-hierarchy"

// Kind holds the differences between the definitions.
type Kind struct {
	// GroupVersionKind has the stored version.
	schema.GroupVersionKind
	Plural string
	// ShortName is empty if the provider defines none.
	ShortName string
	// Older is a further version with the same fields; empty if the provider serves none.
	Older string
	// ClusterScoped is true for identities that belong to no namespace.
	ClusterScoped bool
	// Columns of the provider's own definition.
	Columns []apiextensionsv1.CustomResourceColumnDefinition
}

// Columns that definitions of several providers have.
var (
	ClusterColumn = apiextensionsv1.CustomResourceColumnDefinition{Name: "Cluster", Type: "string",
		JSONPath: `.metadata.labels.cluster\.x-k8s\.io/cluster-name`}
	ReadyColumn    = apiextensionsv1.CustomResourceColumnDefinition{Name: "Ready", Type: "string", JSONPath: ".status.ready"}
	EndpointColumn = apiextensionsv1.CustomResourceColumnDefinition{Name: "Endpoint", Type: "string",
		JSONPath: ".spec.controlPlaneEndpoint.host", Priority: 1}
	VersionColumn = apiextensionsv1.CustomResourceColumnDefinition{Name: "Version", Type: "string", JSONPath: ".status.version"}
	AgeColumn     = apiextensionsv1.CustomResourceColumnDefinition{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}
)

// Definition returns the definition of the kind, with the contract that its provider's own definition carries.
func (k Kind) Definition() *apiextensionsv1.CustomResourceDefinition {
	served := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
				XPreserveUnknownFields: new(true)}},
			Subresources:             &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			AdditionalPrinterColumns: k.Columns,
		}
	}
	contract, versions := first+"_"+k.Version, []apiextensionsv1.CustomResourceDefinitionVersion{served(first, false), served(k.Version, true)}
	if k.Version == first || strings.HasPrefix(k.Version, earlier) {
		contract, versions = k.Version, []apiextensionsv1.CustomResourceDefinitionVersion{served(k.Version, true)}
	}
	if k.Older != "" {
		contract, versions = k.Older+"_"+contract, append([]apiextensionsv1.CustomResourceDefinitionVersion{served(k.Older, false)}, versions...)
	}
	var short []string
	if k.ShortName != "" {
		short = []string{k.ShortName}
	}
	labels := map[string]string{"cluster.x-k8s.io/v1beta1": contract}
	scope := apiextensionsv1.NamespaceScoped
	if k.ClusterScoped {
		scope, labels[moveHierarchy] = apiextensionsv1.ClusterScoped, ""
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   k.Plural + "." + k.Group,
			Labels: labels,
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: k.Group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: k.Kind, ListKind: k.Kind + "List", Plural: k.Plural,
				Singular: strings.ToLower(k.Kind), ShortNames: short, Categories: []string{"cluster-api"}},
			Versions: versions,
		},
	}
}
