package azure_test

import (
	"testing"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/cloudtest"
)

// TestPlaceThatIsNone: a location, subscription or resource group that can't exist is named, and a pool that was never created there can be
// deleted.
func TestPlaceThatIsNone(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		for _, row := range []struct {
			field  string
			change func(*azurev1.MachinePoolSource)
		}{
			{"spec.location", func(s *azurev1.MachinePoolSource) { s.Cluster.Location = cloudtest.Unexpanded }},
			{"spec.location", func(s *azurev1.MachinePoolSource) { s.Pool.Location = cloudtest.Unexpanded }},
			{"spec.subscriptionID", func(s *azurev1.MachinePoolSource) { s.Cluster.SubscriptionID = cloudtest.Unexpanded }},
			{"spec.resourceGroup", func(s *azurev1.MachinePoolSource) { s.Cluster.ResourceGroup = cloudtest.Unexpanded }},
		} {
			target := w.aTarget()
			row.change(target.Spec)
			cloudtest.PlaceThatIsNone(t, w.driver, target, row.field, "azure:///subscriptions/s/resourceGroups/g/providers/"+
				"Microsoft.Compute/virtualMachineScaleSets/pool")
		}
	})
}
