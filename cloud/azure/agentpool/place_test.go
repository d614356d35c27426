package agentpool_test

import (
	"testing"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud/cloudtest"
)

// TestPlaceThatIsNone: a location, subscription, resource group or managed cluster that can't exist is named, and a pool that was never
// created there can be deleted.
func TestPlaceThatIsNone(t *testing.T) {
	inWorld(t, func(w *world) {
		for field, change := range map[string]func(*aksv1.ManagedClusterView){
			"spec.location":       func(c *aksv1.ManagedClusterView) { c.View.Location = cloudtest.Unexpanded },
			"spec.subscriptionID": func(c *aksv1.ManagedClusterView) { c.View.SubscriptionID = cloudtest.Unexpanded },
			"spec.resourceGroup":  func(c *aksv1.ManagedClusterView) { c.View.ResourceGroup = cloudtest.Unexpanded },
			"metadata.name":       func(c *aksv1.ManagedClusterView) { c.Name = cloudtest.Unexpanded },
		} {
			target := w.target
			target.Spec = managedPool()
			change(&target.Spec.Cluster)
			cloudtest.PlaceThatIsNone(w.T, w.driver, target, field, "azure:///subscriptions/s/resourceGroups/g/providers/"+
				"Microsoft.ContainerService/managedClusters/c/agentPools/pool")
		}
	})
}
