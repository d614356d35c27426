package upstream

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterclass"
	topology "sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// setupTopology adds the reconcilers of ClusterClasses, and of the Clusters that are made from them, where the gate ClusterTopology
// is on. Workers of such Clusters are machine pools: there is no reconciler of MachineDeployments here.
func setupTopology(ctx context.Context, mgr ctrl.Manager, cc clustercache.ClusterCache, o Options) error {
	if !feature.Gates.Enabled(feature.ClusterTopology) {
		return nil
	}
	options := controller.Options{MaxConcurrentReconciles: concurrency}
	classes := &clusterclass.Reconciler{Client: mgr.GetClient(), WatchFilterValue: o.WatchFilter}
	if err := classes.SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("set up cluster-api's reconciler of ClusterClass: %w", err)
	}
	clusters := &topology.Reconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), ClusterCache: cc, WatchFilterValue: o.WatchFilter}
	if err := clusters.SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("set up cluster-api's reconciler of the topology of Clusters: %w", err)
	}
	return nil
}
