package upstream

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

const (
	// concurrency of each reconciler.
	concurrency = 10
	// remoteGracePeriod is the time a workload cluster may be unreachable before conditions report it. It is the default of core.
	remoteGracePeriod = 5 * time.Minute
)

// Hurry makes the reconcilers act on every change at once; by default they reconcile an object at most once a second. It changes the whole
// process, and must be called before a manager is created.
func Hurry() error {
	if err := feature.MutableGates.Set(string(feature.ReconcilerRateLimiting) + "=false"); err != nil {
		return fmt.Errorf("let cluster-api's reconcilers hurry: %w", err)
	}
	return nil
}

// Options of the reconcilers.
type Options struct {
	// TokenTTL is the validity of a bootstrap token unless it is renewed; zero means the bootstrap provider's default.
	TokenTTL time.Duration
	// WatchFilter selects the objects whose label cluster.x-k8s.io/watch-filter has this value; empty selects all.
	WatchFilter string
}

// Setup adds the reconcilers to a manager. Its scheme must include AddToScheme, its cache the data of the clusters' secrets, and the
// default indexes must exist. secrets reads those secrets.
func Setup(ctx context.Context, mgr ctrl.Manager, cc clustercache.ClusterCache, secrets client.Client, o Options) error {
	if o.TokenTTL == 0 {
		o.TokenTTL = kubeadmconfig.DefaultTokenTTL
	}
	c, api := mgr.GetClient(), mgr.GetAPIReader()
	options := controller.Options{MaxConcurrentReconciles: concurrency}
	for _, r := range []struct {
		kind       string
		reconciler interface {
			SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error
		}
	}{
		{"Cluster", &cluster.Reconciler{Client: c, APIReader: api, ClusterCache: cc, WatchFilterValue: o.WatchFilter,
			RemoteConnectionGracePeriod: remoteGracePeriod}},
		{"Machine", &machine.Reconciler{Client: c, APIReader: api, ClusterCache: cc, WatchFilterValue: o.WatchFilter,
			RemoteConditionsGracePeriod: remoteGracePeriod}},
		{"MachineHealthCheck", &machinehealthcheck.Reconciler{Client: c, ClusterCache: cc, WatchFilterValue: o.WatchFilter}},
		{"KubeadmConfig", &kubeadmconfig.Reconciler{Client: c, SecretCachingClient: secrets, APIReader: api, ClusterCache: cc,
			WatchFilterValue: o.WatchFilter, TokenTTL: o.TokenTTL}},
	} {
		if err := r.reconciler.SetupWithManager(ctx, mgr, options); err != nil {
			return fmt.Errorf("set up cluster-api's reconciler of %s: %w", r.kind, err)
		}
	}
	if err := setupTopology(ctx, mgr, cc, o); err != nil {
		return err
	}
	return serveWebhooks(mgr, cc)
}
