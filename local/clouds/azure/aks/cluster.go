package aks

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
)

// Clusters makes every infrastructure cluster of a kind ready: it holds nothing but what its control plane has.
func Clusters(c client.Client, kind Kind) *managedplane.Clusters {
	return &managedplane.Clusters{Client: c, Object: kind.cluster, Plane: kind.Kind, Ready: func(o, _ *unstructured.Unstructured) error {
		return fields.Set(o, fields.Field{Value: true, Path: []string{"status", "ready"}})
	}}
}
