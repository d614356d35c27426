package kapsule

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/scaleway/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
)

// Clusters makes every ScalewayManagedCluster ready: it holds the endpoint that its control plane has.
func Clusters(c client.Client) *managedplane.Clusters {
	return &managedplane.Clusters{Client: c, Object: standin.ScalewayManagedCluster, Plane: kind,
		Ready: func(o, _ *unstructured.Unstructured) error {
			return fields.Set(o,
				fields.Field{Value: true, Path: []string{"status", "ready"}},
				fields.Field{Value: true, Path: []string{"status", "initialization", "provisioned"}})
		}}
}
