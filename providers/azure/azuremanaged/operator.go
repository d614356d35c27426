package azuremanaged

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/pool"
)

// +kubebuilder:rbac:groups=containerservice.azure.com,resources=managedclustersagentpools,verbs=get;list;watch

const (
	// reasonOperator is the reason while Azure Service Operator runs the agent pool.
	reasonOperator = "OwnedByServiceOperator"
	// policyAnnotation says what Azure Service Operator does with the resource of a manifest, and policySkip that it does nothing
	// (Azure Service Operator, "Annotations understood by the operator").
	policyAnnotation = "serviceoperator.azure.com/reconcile-policy"
	policySkip       = "skip"
)

// operated returns that Azure Service Operator runs the agent pool of an object, or nil: it is installed, and has a manifest of that name
// whose reconcile policy lets it write. Two controllers would overwrite each other.
func operated(ctx context.Context, c client.Client, namespace, name string) (*pool.Cause, error) {
	gk := schema.GroupKind{Group: aksv1.ServiceGroup, Kind: aksv1.AgentPoolManifestKind}
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := c.Get(ctx, client.ObjectKey{Name: contract.CalculateCRDName(gk.Group, gk.Kind)}, definition); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	mapping, err := c.RESTMapper().RESTMapping(gk)
	if err != nil {
		return nil, fmt.Errorf("find the version of %s: %w", gk.Kind, err)
	}
	manifest := &metav1.PartialObjectMetadata{}
	manifest.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, manifest); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if manifest.Annotations[policyAnnotation] == policySkip {
		return nil, nil
	}
	return &pool.Cause{Reason: reasonOperator, Message: fmt.Sprintf(
		"Azure Service Operator runs the agent pool: %s %s/%s exists. To have Muster run it, set the annotation %s: %s on that object",
		gk.Kind, namespace, name, policyAnnotation, policySkip)}, nil
}
