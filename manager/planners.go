package manager

import (
	"context"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/all"
)

// Planners observe the pools of every infrastructure kind as the manager's controllers do, and change nothing. The client's
// scheme is NewScheme's.
func Planners(c client.Client, clusters clustercache.ClusterCache, o Options) ([]preview.Planner, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	options := infrapool.Options{
		Client: c, ClusterCache: clusters, IdentityNamespace: o.IdentityNamespace, OwnCredentials: o.OwnCredentials,
		IdentityEndpoints:       o.IdentityEndpoints,
		Policies:                &limiter.Limiter{Policies: &policy.Reader{Client: c}},
		SkipModelReconciliation: o.Gates.SkipMachinePoolModelReconciliation, Machines: o.Gates.MachinePoolMachines,
	}
	var planners []preview.Planner
	for _, p := range all.Providers() {
		connection, err := p.Connect(providers.Environment{Gates: o.Gates, Pools: func(string) infrapool.Options { return options }})
		if err != nil {
			return nil, err
		}
		planners = append(planners, connection.Planners...)
	}
	return planners, nil
}

// Hub gives objects in the version that the controllers read.
func Hub(c client.Client) func(context.Context, client.Object) (client.Object, error) {
	return func(ctx context.Context, o client.Object) (client.Object, error) {
		return webhook.ToHub(ctx, c.Scheme(), c, o)
	}
}
