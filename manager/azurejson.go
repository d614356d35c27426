package manager

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/muster-project/muster/kube/azurejson"
)

// addAzureJSON adds the controller of the cloud provider's configurations. It asks no cloud, and one worker does for all.
func (m *Manager) addAzureJSON(ctx context.Context, o Options) error {
	r := &azurejson.Reconciler{
		Client: m.GetClient(), Recorder: m.GetEventRecorder(AzureJSON), WatchFilter: o.WatchFilter,
		IdentityNamespace: o.IdentityNamespace, Defaults: o.AzureDefaults,
	}
	return r.SetupWithManager(ctx, m, controller.Options{})
}
