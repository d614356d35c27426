package gke

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/managedplane"
)

// Clusters makes every GCPManagedCluster ready: it holds a network, and the endpoint that its control plane has.
func Clusters(c client.Client, in standin.Network) *managedplane.Clusters {
	return &managedplane.Clusters{Client: c, Object: standin.GCPManagedCluster, Plane: kind, Fill: in.FillSpec, Make: in.Make,
		Ready: func(o, _ *unstructured.Unstructured) error { return in.FillStatus(o) }}
}
