package eks

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
)

// Clusters makes every AWSManagedCluster ready: it holds nothing but what its control plane has.
func Clusters(c client.Client) *managedplane.Clusters {
	return &managedplane.Clusters{Client: c, Object: standin.AWSManagedCluster, Plane: kind, Ready: ready}
}

// ready copies the zones of the control plane.
func ready(o, plane *unstructured.Unstructured) error {
	domains, _, err := unstructured.NestedMap(plane.Object, "status", "failureDomains")
	if err != nil {
		return err
	}
	return fields.Set(o,
		fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: domains, Path: []string{"status", "failureDomains"}})
}
