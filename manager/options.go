package manager

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	oteltrace "go.opentelemetry.io/otel/trace"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/identity"
	policyadmission "github.com/muster-project/muster/kube/policy/admission"
	"github.com/muster-project/muster/kube/policy/gates/validation"
	kubewebhook "github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/manager/page"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/providers/gates"
)

// The names of what can be switched by Options.Controllers.
const (
	// MachinePool is the controller of the core MachinePool.
	MachinePool = "machinepool"
	// RolloutPolicy is the controllers that report the state of RolloutPolicies and ClusterRolloutPolicies. Policies apply without them.
	RolloutPolicy = "rolloutpolicy"
	// Webhook is admission and conversion.
	Webhook = "webhook"
)

// Controllers are all names that Options.Controllers may hold.
func Controllers() []string {
	names := []string{MachinePool}
	for _, c := range PoolControllers() {
		names = append(names, c.Name)
	}
	return append(names, RolloutPolicy, Webhook)
}

// PoolControllers are the controllers of all providers.
func PoolControllers() []providers.Controller {
	var list []providers.Controller
	for _, p := range all.Providers() {
		list = append(list, p.Controllers...)
	}
	return list
}

// AddGatesFlag takes the feature gates from the environment, and adds the flag --feature-gates, which wins over it.
func AddGatesFlag(set *pflag.FlagSet, env func(string) string) error {
	return gates.AddFlag(set, env, all.Gates()...)
}

// EnabledGates are the process' feature gates as environment and flag have them.
func EnabledGates() (gates.Gates, error) { return gates.Enabled(all.Gates()...) }

// WebhookConfigurations returns the configurations with which an API server calls the manager's webhooks. at returns the client
// configuration of a path.
func WebhookConfigurations(at func(path string) admissionregistrationv1.WebhookClientConfig) []client.Object {
	return kubewebhook.Configurations(at, hooks(PolicyGates{}))
}

// hooks are the webhooks of all kinds but the core ones. Gates of policies must be within what the operator allows.
func hooks(allowed PolicyGates) []kubewebhook.Hook {
	return append(all.Hooks(), policyadmission.Hooks(policyadmission.CheckSuccess, validation.Limits(allowed).Check)...)
}

// Options of a Manager. The zero Options run everything, in all namespaces, without leader election, metrics and health
// endpoints, and serve webhooks on controller-runtime's default port.
type Options struct {
	// Controllers to run, by name; empty runs all.
	Controllers []string
	// Namespace that is watched; empty watches all.
	Namespace string
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; empty takes all.
	WatchFilter string
	// IdentityNamespace is the namespace of the secrets of cluster-scoped identities; empty takes muster-system.
	IdentityNamespace string
	// OwnCredentials are the namespaces that may use the manager's own credentials; nil is every namespace.
	OwnCredentials *common.AllowedNamespaces
	// IdentityEndpoints are the addresses of clouds' APIs that secrets of identities may name, in addition to the public ones.
	IdentityEndpoints []string
	// PolicyGates are what the gates of rollout policies may ask.
	PolicyGates PolicyGates
	// ForeignHolds is true if the marks of other tools on nodes and pods keep machines from being replaced.
	ForeignHolds bool
	// SyncPeriod is the interval at which all objects are reconciled again; zero takes DefaultSyncPeriod.
	SyncPeriod time.Duration
	// LeaderElection configures leader election among several managers.
	LeaderElection LeaderElection
	// Metrics configures the metrics server; with an empty BindAddress there is none.
	Metrics metricsserver.Options
	// HealthAddress and ProfilerAddress are the addresses of the health and pprof endpoints; empty disables them.
	HealthAddress, ProfilerAddress string
	// Page configures the web page; with an empty BindAddress there is none.
	Page page.Settings
	// Webhook is the server of webhooks.
	Webhook webhook.Options
	// Certificates makes the webhook server's certificates, when it is set; otherwise they are in Webhook.CertDir.
	Certificates *Certificates
	// Concurrency bounds the objects that each controller reconciles at the same time.
	Concurrency Concurrency
	// ClusterCacheQPS and ClusterCacheBurst bound the requests to one workload cluster; zero takes cluster-api's defaults.
	ClusterCacheQPS   float32
	ClusterCacheBurst int
	// Lean leaves out the parts that only Cluster API's own reconcilers need, which may be added to the manager: the indexes over Machines,
	// and all Machines in the cache except those of pools.
	Lean bool
	// ManagedFields keeps the managed fields of objects in the cache. Muster reads them from the API server, where a user passes windows or
	// approves a gate. If Cluster API's topology controller is added to the manager, it writes them anew in every pass without them.
	ManagedFields bool
	// Schemes are further kinds that controllers which are added to the manager need.
	Schemes []func(*runtime.Scheme) error
	// SyncLabels and SyncAnnotations choose labels and annotations of a MachinePool's template that its Nodes get, beside those
	// of the domains that Nodes always get.
	SyncLabels, SyncAnnotations []*regexp.Regexp
	// Gates are the feature gates; zero are the defaults. Commands take them from their flags by AddGatesFlag and EnabledGates.
	Gates gates.Gates
	// Tracer makes spans of passes and of calls to clouds; nil makes none.
	Tracer oteltrace.Tracer
	// Steady is the poll interval of a pool in which nothing changes; zero takes the engine's default.
	Steady time.Duration
}

// LeaderElection is the part of Options about leader election. Zero times take controller-runtime's defaults.
type LeaderElection struct {
	Enabled bool
	// Namespace of the lease; empty takes that of the pod.
	Namespace                                 string
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// Concurrency bounds the objects that a controller reconciles at the same time; zeros take the ecosystem's defaults.
type Concurrency struct {
	MachinePool, ClusterCache int
	// Pools is that of the providers' controllers, by name.
	Pools map[string]int
}

const (
	// DefaultSyncPeriod is the ecosystem's.
	DefaultSyncPeriod = 10 * time.Minute
	// DefaultConcurrency of controllers of pools; a worker is never held for longer than a few requests.
	DefaultConcurrency = 50
	// DefaultClusterCacheConcurrency is cluster-api's.
	DefaultClusterCacheConcurrency = 100
	// DefaultClusterCacheQPS is cluster-api's: requests a second to one workload cluster.
	DefaultClusterCacheQPS = 20
	// DefaultClusterCacheBurst is cluster-api's; a drain of a hundred pods takes a few seconds with it.
	DefaultClusterCacheBurst = 30
	// leaseName is the lease that managers compete for.
	leaseName = "controller-leader-election-muster"
)

// complete fills in defaults, and refuses what makes no sense.
func (o Options) complete() (Options, error) {
	if err := all.Check(); err != nil {
		return o, err
	}
	for _, name := range o.Controllers {
		if !slices.Contains(Controllers(), name) {
			return o, fmt.Errorf("there is no controller %q: known are %s", name, strings.Join(Controllers(), ", "))
		}
	}
	if o.Certificates != nil {
		if err := o.Certificates.check(); err != nil {
			return o, err
		}
	}
	setDefault(&o.SyncPeriod, DefaultSyncPeriod)
	setDefault(&o.IdentityNamespace, identity.DefaultNamespace)
	setDefault(&o.Concurrency.MachinePool, DefaultConcurrency)
	setDefault(&o.Concurrency.ClusterCache, DefaultClusterCacheConcurrency)
	setDefault(&o.ClusterCacheQPS, DefaultClusterCacheQPS)
	setDefault(&o.ClusterCacheBurst, DefaultClusterCacheBurst)
	setDefault(&o.Metrics.BindAddress, "0")
	setDefault(&o.HealthAddress, "0")
	return o, nil
}

// runs reports whether the named controller is enabled.
func (o Options) runs(name string) bool {
	for _, c := range PoolControllers() {
		if c.Name == name && c.Gate != nil && !o.Gates.On(*c.Gate) {
			return false
		}
	}
	return len(o.Controllers) == 0 || slices.Contains(o.Controllers, name)
}

// workers returns the number of objects that a provider's controller reconciles at the same time.
func (o Options) workers(c providers.Controller) int {
	if c.Objects == "" {
		return 1
	}
	return cmp.Or(o.Concurrency.Pools[c.Name], DefaultConcurrency)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
