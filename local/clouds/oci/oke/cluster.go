package oke

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/oci/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
)

// Clusters makes every OCIManagedCluster ready: it holds a network, and the endpoint that its control plane has.
func Clusters(c client.Client) *managedplane.Clusters {
	network := standin.Network{}
	return &managedplane.Clusters{Client: c, Object: standin.OCIManagedCluster, Plane: kind, Fill: network.FillSpec,
		Ready: func(o, _ *unstructured.Unstructured) error {
			if err := network.FillStatus(o); err != nil {
				return err
			}
			return fields.Set(o, fields.Field{Value: true, Path: []string{"status", "initialization", "provisioned"}})
		}}
}
