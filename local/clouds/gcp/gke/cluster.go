package gke

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/gcp/kinds"
	"github.com/muster-project/muster/local/clouds/gcp/network"
	"github.com/muster-project/muster/local/managedplane"
)

// Clusters makes every GCPManagedCluster ready: it holds a network, and the endpoint that its control plane has.
func Clusters(c client.Client, in network.Network) *managedplane.Clusters {
	return &managedplane.Clusters{Client: c, Object: kinds.GCPManagedCluster, Plane: kind, Fill: in.FillSpec, Make: in.Make,
		Ready: func(o, _ *unstructured.Unstructured) error { return in.FillStatus(o) }}
}
