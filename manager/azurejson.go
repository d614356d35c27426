package manager

import (
	"cmp"
	"context"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/kube/azurejson"
)

// tenantVariable names the directory of clusters that name no identity, as Azure's own clients read it.
const tenantVariable = "AZURE_TENANT_ID"

// addAzureJSON adds the controller of the cloud provider's configurations. It asks no cloud, and one worker does for all.
func (m *Manager) addAzureJSON(ctx context.Context, o Options) error {
	r := &azurejson.Reconciler{
		Client: m.GetClient(), Recorder: m.GetEventRecorder(AzureJSON), WatchFilter: o.WatchFilter, IdentityNamespace: o.IdentityNamespace,
		Defaults: azurejson.Defaults{
			SubscriptionID: cmp.Or(o.AzureDefaults.SubscriptionID, os.Getenv(session.SubscriptionVariable)),
			TenantID:       cmp.Or(o.AzureDefaults.TenantID, os.Getenv(tenantVariable)),
		},
	}
	return r.SetupWithManager(ctx, m, controller.Options{})
}
