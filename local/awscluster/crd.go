package awscluster

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersionKind of the objects that are written. v1beta1 is served too, and has the same fields as far as they are
// read.
var GroupVersionKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "AWSCluster"}

// CustomResourceDefinition of AWSCluster. The kind belongs to the AWS provider; the local world keeps whatever fields
// its objects have. The label is the contract that the AWS provider's own definition carries.
func CustomResourceDefinition() *apiextensionsv1.CustomResourceDefinition {
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{
				{Name: "Cluster", Type: "string", JSONPath: `.metadata.labels.cluster\.x-k8s\.io/cluster-name`},
				{Name: "Ready", Type: "string", JSONPath: ".status.ready"},
				{Name: "VPC", Type: "string", JSONPath: ".spec.network.vpc.id"},
				{Name: "Endpoint", Type: "string", JSONPath: ".spec.controlPlaneEndpoint.host", Priority: 1},
				{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
			},
		}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   "awsclusters." + GroupVersionKind.Group,
			Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: GroupVersionKind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "AWSCluster", ListKind: "AWSClusterList", Plural: "awsclusters",
				Singular: "awscluster", ShortNames: []string{"awsc"}, Categories: []string{"cluster-api"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1beta1", false), version("v1beta2", true)},
		},
	}
}
