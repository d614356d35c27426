// Package manager wires controllers, webhooks and drivers into one controller-runtime manager. cmd/manager runs it in a management cluster,
// and the local world runs it with additional controllers.
package manager

import (
	"context"
	"fmt"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	bootstrapsetup "sigs.k8s.io/cluster-api/bootstrap/kubeadm/setup"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/index"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/kubeconfig"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/providers/all"
)

// name of the manager, in user agents and metrics.
const name = "muster-controller-manager"

// Manager is a controller-runtime manager with the parts that additional controllers need.
type Manager struct {
	ctrl.Manager
	// ClusterCache connects to the workload clusters.
	ClusterCache clustercache.ClusterCache
	// SecretClient reads the secrets of clusters from the cache: kubeconfigs, certificates, keys.
	SecretClient client.Client
	// served is true if the webhooks have been registered: before that there is no server.
	served atomic.Bool
	// pools receives the results of the passes over pools.
	pools *metrics.Pools
	// policies limits rollouts; nil where the kinds of policies are not served.
	policies *limiter.Limiter
	// gates asks the gates of rollout policies.
	gates *asker.Asker
	kinds kinds
	// reviewer finds out what the manager may watch.
	reviewer *access.Reviewer
}

// NewScheme knows every kind that the controllers and webhooks read and write.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	kinds := []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, musterv1.AddToScheme,
		clusterv1beta1.AddToScheme, clusterv1.AddToScheme, bootstrapv1beta1.AddToScheme, bootstrapv1.AddToScheme,
	}
	for _, p := range all.Providers() {
		kinds = append(kinds, p.AddToScheme...)
	}
	for _, add := range kinds {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register kinds: %w", err)
		}
	}
	return scheme, nil
}

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch

// New makes a manager with the controllers that are switched on. Further ones may be added before it is started.
func New(ctx context.Context, config *rest.Config, o Options) (*Manager, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if o, err = o.withCertificateDir(); err != nil {
		return nil, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	for _, add := range o.Schemes {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register further kinds: %w", err)
		}
	}
	if err := checkRequired(config); err != nil {
		return nil, err
	}
	inner, err := ctrl.NewManager(config, ctrlOptions(scheme, o))
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	m := &Manager{Manager: inner, reviewer: access.New(inner.GetClient(), nil)}
	for _, step := range []func(context.Context, Options) error{m.addMetrics, m.addGates, m.addIndexes, m.addClusterCache, m.addDefinitions,
		m.addControllers, m.addWebhooks, m.addChecks, m.addPage} {
		if err := step(ctx, o); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func ctrlOptions(scheme *runtime.Scheme, o Options) ctrl.Options {
	// The bootstrap provider's cache options keep the data of the clusters' own secrets, which its reconciler needs when it
	// runs in this manager, and of no other secret. Its informers, which count themselves, refuse to count one kind that
	// is read typed and untyped, and say so as an error.
	caching := bootstrapsetup.ManagerCacheOptions(scheme, name, o.Namespace, o.SyncPeriod)
	caching.NewInformer = nil
	if o.ManagedFields {
		caching.DefaultTransform = nil
	}
	watchIdentitySecrets(caching, o)
	if o.Lean {
		caching.ByObject[&clusterv1.Machine{}] = machinesOfPools()
	}
	options := ctrl.Options{
		Scheme:                  scheme,
		Cache:                   caching,
		Client:                  bootstrapsetup.ManagerClientOptions(),
		LeaderElection:          o.LeaderElection.Enabled,
		LeaderElectionID:        leaseName,
		LeaderElectionNamespace: o.LeaderElection.Namespace,
		// The binary ends when the manager does, so that the next leader need not wait for the lease to run out.
		LeaderElectionReleaseOnCancel: true,
		HealthProbeBindAddress:        o.HealthAddress,
		PprofBindAddress:              o.ProfilerAddress,
		Metrics:                       o.Metrics,
		WebhookServer:                 webhook.NewServer(o.Webhook),
	}
	if d := o.LeaderElection.LeaseDuration; d != 0 {
		options.LeaseDuration = &d
	}
	if d := o.LeaderElection.RenewDeadline; d != 0 {
		options.RenewDeadline = &d
	}
	if d := o.LeaderElection.RetryPeriod; d != 0 {
		options.RetryPeriod = &d
	}
	return options
}

// addIndexes adds what look-ups need, in one place: a cache refuses a second index of one name.
func (m *Manager) addIndexes(ctx context.Context, o Options) error {
	if !o.Lean {
		if err := index.AddDefaultIndexes(ctx, m); err != nil {
			return fmt.Errorf("add cluster-api's indexes: %w", err)
		}
	}
	if err := nodes.AddIndexes(ctx, m.GetFieldIndexer()); err != nil {
		return err
	}
	return watch.AddIndexes(ctx, m.GetFieldIndexer())
}

func (m *Manager) addClusterCache(ctx context.Context, o Options) error {
	secrets, err := bootstrapsetup.CreateSecretCachingClient(m)
	if err != nil {
		return fmt.Errorf("make the client of the clusters' secrets: %w", err)
	}
	m.SecretClient = secrets
	guard := kubeconfig.NewGuard()
	clusters, err := clustercache.SetupWithManager(ctx, m, clusterCacheOptions(guard.Secrets(secrets), o),
		controller.Options{MaxConcurrentReconciles: o.Concurrency.ClusterCache})
	if err != nil {
		return fmt.Errorf("add the cache of workload clusters: %w", err)
	}
	m.ClusterCache = guard.Clusters(clusters)
	return nil
}

func (m *Manager) addChecks(_ context.Context, o Options) error {
	if err := m.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the health check: %w", err)
	}
	if err := m.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add the readiness check: %w", err)
	}
	if !o.runs(Webhook) {
		return nil
	}
	if err := m.AddReadyzCheck("webhook", m.webhooksServed); err != nil {
		return fmt.Errorf("add the readiness check of the webhooks: %w", err)
	}
	return nil
}
