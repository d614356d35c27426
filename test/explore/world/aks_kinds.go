package world

import (
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/azuremanaged"
)

// agentDriver is the one of agent pools of AKS.
func (w *World) agentDriver(base http.RoundTripper) cloud.Driver[*aksv1.AgentPoolSource] {
	d, err := agentpool.New(agentpool.Options{
		Endpoint: azureEndpoint, Base: base,
		Credential: func(azcloud.Configuration, *azurev1.IdentityView) (azcore.TokenCredential, error) {
			return anybody{}, nil
		},
	})
	w.must(err, "make the driver")
	return d
}

// agentReconciler is the one of the scenario's kind of agent pool.
func (w *World) agentReconciler(base http.RoundTripper, o infrapool.Options) reconcile {
	d := counted[*aksv1.AgentPoolSource]{w.agentDriver(base), w.account}
	if w.scenario.manifest() {
		return infrapool.New(azuremanaged.ASO{}, d, o).Reconcile
	}
	return infrapool.New(azuremanaged.Managed{}, d, o).Reconcile
}

// agentPlanner is the one of the scenario's kind of agent pool.
func (w *World) agentPlanner(base http.RoundTripper, o infrapool.Options) look {
	if w.scenario.manifest() {
		return infrapool.NewPlanner(azuremanaged.ASO{}, w.agentDriver(base), o).Look
	}
	return infrapool.NewPlanner(azuremanaged.Managed{}, w.agentDriver(base), o).Look
}
