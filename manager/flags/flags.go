// Package flags is the command line of cmd/manager. Names, meanings and defaults of the flags are those of Cluster API's managers.
package flags

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/policy/gates/address"
	"github.com/muster-project/muster/kube/policy/gates/health"
	kubewebhook "github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/page"
	"github.com/muster-project/muster/manager/tracing"
	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/providers/gates"
)

// podNamespace is the environment variable with the manager's namespace.
const podNamespace = "POD_NAMESPACE"

// The ways to come by the webhooks' certificates.
const (
	certificatesAuto    = "auto"
	certificatesMounted = "mounted"
	certificatesMade    = "made"
)

// Flags are the values of a command line.
type Flags struct {
	// Logs configures the content and the format of the logs.
	Logs *logs.Options
	// Tracing says where spans are sent. The caller sets Service and Version.
	Tracing tracing.Options
	// KubeQPS and KubeBurst bound the requests to the management cluster.
	KubeQPS   float32
	KubeBurst int

	o              manager.Options
	diagnostics    capiflags.ManagerOptions
	metricsAddress string
	// syncLabels and syncAnnotations are regular expressions, of which Options makes regexps.
	syncLabels, syncAnnotations []string
	// ownNamespaces and ownSelector name the namespaces that may use the manager's own credentials.
	ownNamespaces []string
	ownSelector   string
	// endpoints are addresses of clouds' APIs that secrets of identities may name.
	endpoints []string
	// gateAddresses and gateKinds are what gates of rollout policies may ask.
	gateAddresses, gateKinds []string
	// workers are those of the providers' controllers, by name.
	workers map[string]*int

	certificates    string
	service, secret string
}

// Parse reads a command line without the command's name. Environment variables and flags switch the feature gates of the process.
func Parse(args []string, env func(string) string) (*Flags, error) {
	if err := registerJSON(); err != nil {
		return nil, fmt.Errorf("add the logging format %s: %w", formatJSON, err)
	}
	set := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	f := &Flags{Logs: logs.NewOptions()}
	if err := f.add(set, env); err != nil {
		return nil, err
	}
	set.AddGoFlagSet(flag.CommandLine)
	if err := set.Parse(args); err != nil {
		return nil, fmt.Errorf("command line: %w", err)
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("command line: want flags alone, found %q", set.Args())
	}
	return f, nil
}

// add adds all flags to set.
func (f *Flags) add(set *pflag.FlagSet, env func(string) string) error {
	logsv1.AddFlags(f.Logs, set)
	capiflags.AddManagerOptions(set, &f.diagnostics)
	if err := manager.AddGatesFlag(set, env); err != nil {
		return err
	}
	f.addWork(set)
	f.addPolicies(set)
	f.addServing(set)
	f.addLimits(set)
	f.Tracing.AddFlags(set)
	if err := set.Set("v", "2"); err != nil {
		return fmt.Errorf("set the default log level: %w", err)
	}
	return nil
}

func (f *Flags) addWork(set *pflag.FlagSet) {
	set.StringSliceVar(&f.o.Controllers, "controllers", nil,
		"Controllers to run, a list of: "+strings.Join(manager.Controllers(), ", ")+". If unspecified, all controllers run.")
	set.StringVar(&f.o.Namespace, "namespace", "",
		"Namespace that the controllers watch for objects. If unspecified, the controllers watch all namespaces.")
	set.StringVar(&f.o.WatchFilter, "watch-filter", "", fmt.Sprintf(
		"Label value that the controllers watch for. The label key is always %s. If unspecified, the controllers reconcile all objects.",
		clusterv1.WatchLabel))
	set.StringVar(&f.o.IdentityNamespace, "identity-namespace", "", fmt.Sprintf(
		"Namespace of the Secrets that cluster-scoped identities reference. If unspecified, the namespace of the pod (environment variable %s), "+
			"or %s outside of a pod.", podNamespace, identity.DefaultNamespace))
	set.StringSliceVar(&f.ownNamespaces, identity.OwnFlag, nil, fmt.Sprintf(
		"Namespaces whose clusters may use the manager's own credentials; %s allows every namespace. If neither this flag nor --%s is set, "+
			"every namespace is allowed.",
		identity.EveryNamespace, identity.OwnSelectorFlag))
	set.StringVar(&f.ownSelector, identity.OwnSelectorFlag, "",
		"Label selector of additional namespaces whose clusters may use the manager's own credentials.")
	set.StringSliceVar(&f.endpoints, identity.EndpointsFlag, nil,
		"API endpoints that Secrets of identities may specify, in addition to the public endpoints of the clouds.")
	set.StringSliceVar(&f.syncLabels, "additional-sync-machine-labels", nil,
		"Regular expressions that select additional labels to sync from the template of a MachinePool to its Nodes. Labels of the domains "+
			clusterv1.NodeRoleLabelPrefix+", "+clusterv1.NodeRestrictionLabelDomain+" and "+clusterv1.ManagedNodeLabelDomain+
			" are always synced. For pools with Machines, set the flag on the Cluster API core controller too.")
	set.StringSliceVar(&f.syncAnnotations, "additional-sync-machine-annotations", nil,
		"Regular expressions that select additional annotations to sync from the template of a MachinePool to its Nodes. Annotations of the "+
			"domain "+clusterv1.ManagedNodeAnnotationDomain+" are always synced.")
	set.DurationVar(&f.o.SyncPeriod, "sync-period", manager.DefaultSyncPeriod,
		"Interval at which all watched objects are reconciled (duration string).")
	set.BoolVar(&f.o.LeaderElection.Enabled, "leader-elect", false,
		"Enable leader election. It ensures that only one manager is active at a time.")
	set.StringVar(&f.o.LeaderElection.Namespace, "leader-election-namespace", "",
		"Namespace of the Lease for leader election. If unspecified, the namespace of the pod.")
	set.DurationVar(&f.o.LeaderElection.LeaseDuration, "leader-elect-lease-duration", 15*time.Second,
		"Time that non-leader candidates wait after the last renewal before they acquire leadership (duration string).")
	set.DurationVar(&f.o.LeaderElection.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"Time that the leader retries to renew its leadership before it gives up (duration string).")
	set.DurationVar(&f.o.LeaderElection.RetryPeriod, "leader-elect-retry-period", 2*time.Second,
		"Time between two attempts to acquire or renew leadership (duration string).")
}

func (f *Flags) addPolicies(set *pflag.FlagSet) {
	set.StringSliceVar(&f.gateAddresses, address.Flag, nil,
		"Addresses of Prometheus that gates of rollout policies may query: host, host:port, *.domain, IP address or network in CIDR notation, "+
			"each with an optional port (* allows any port; default: the port of the scheme). If unspecified, no gate is queried. Loopback, "+
			"link-local and cloud metadata addresses must be listed one by one.")
	set.StringSliceVar(&f.gateKinds, health.Flag, nil,
		"Kinds of objects whose condition gates of rollout policies may read, as Kind.group (e.g. Application.argoproj.io). Grant the manager "+
			"the right to get them. If unspecified, no object is read.")
	set.BoolVar(&f.o.ForeignHolds, "honor-foreign-holds", false,
		"Keep machines from being replaced whose Node, or one of whose pods, has the annotation karpenter.sh/do-not-disrupt, or whose Node has "+
			"the mark by which its cloud leaves it alone in upgrades.")
}

func (f *Flags) addServing(set *pflag.FlagSet) {
	set.StringVar(&f.metricsAddress, "metrics-bind-address", "",
		"Bind address of the metrics endpoint, served over plain HTTP instead of --diagnostics-address. Set to 0 to disable it.")
	set.StringVar(&f.o.HealthAddress, "health-addr", ":9440", "Bind address of the health endpoint.")
	set.StringVar(&f.o.Page.BindAddress, "page-bind-address", "",
		"Bind address of the web page (e.g. :8444), served over HTTPS to users that may get the non-resource URL "+page.URL+
			". Set up the rights in config/page first. If unspecified, the page is disabled.")
	set.StringVar(&f.o.Page.CertDir, "page-cert-dir", "",
		"Directory of the certificate (tls.crt) and the key (tls.key) of the web page. If unspecified, the page uses a self-signed certificate.")
	set.StringVar(&f.o.Page.Title, "page-title", "", "Name of the management cluster on the web page.")
	set.StringVar(&f.o.ProfilerAddress, "profiler-address", "",
		"Bind address of the pprof profiler (e.g. localhost:6060). If unspecified, the profiler is disabled.")
	set.IntVar(&f.o.Webhook.Port, "webhook-port", webhook.DefaultPort, "Port of the webhook server.")
	set.StringVar(&f.o.Webhook.CertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/",
		"Directory of the certificate and the key of the webhook server.")
	set.StringVar(&f.o.Webhook.CertName, "webhook-cert-name", "tls.crt", "File name of the certificate in --webhook-cert-dir.")
	set.StringVar(&f.o.Webhook.KeyName, "webhook-key-name", "tls.key", "File name of the key in --webhook-cert-dir.")
	set.StringVar(&f.certificates, "webhook-certs", certificatesAuto, fmt.Sprintf(
		"Source of the webhook certificates. %[1]s: another issuer provides them in --webhook-cert-dir. %[2]s: the manager creates and renews "+
			"them in the Secret --webhook-secret. %[3]s: %[1]s if the files exist at start, otherwise %[2]s.",
		certificatesMounted, certificatesMade, certificatesAuto))
	set.StringVar(&f.service, "webhook-service", "muster-webhook-service",
		"Name of the Service by which the API server calls the webhooks. It is used with --webhook-certs="+certificatesMade+".")
	set.StringVar(&f.secret, "webhook-secret", "muster-webhook-service-cert",
		"Name of the Secret that holds the webhook certificates. It is used with --webhook-certs="+certificatesMade+".")
}

func (f *Flags) addLimits(set *pflag.FlagSet) {
	set.IntVar(&f.o.Concurrency.MachinePool, "machinepool-concurrency", manager.DefaultConcurrency,
		"Maximum number of MachinePools that are reconciled concurrently.")
	f.workers = map[string]*int{}
	for _, c := range manager.PoolControllers() {
		if c.Objects != "" {
			f.workers[c.Name] = set.Int(c.Name+"-concurrency", manager.DefaultConcurrency,
				"Maximum number of "+c.Objects+" that are reconciled concurrently.")
		}
	}
	set.IntVar(&f.o.Concurrency.ClusterCache, "clustercache-concurrency", manager.DefaultClusterCacheConcurrency,
		"Maximum number of workload clusters that are connected to concurrently.")
	set.Float32Var(&f.o.ClusterCacheQPS, "clustercache-client-qps", manager.DefaultClusterCacheQPS,
		"Maximum queries per second from the manager to the API server of each workload cluster.")
	set.IntVar(&f.o.ClusterCacheBurst, "clustercache-client-burst", manager.DefaultClusterCacheBurst,
		"Maximum number of queries in one burst to the API server of each workload cluster.")
	set.Float32Var(&f.KubeQPS, "kube-api-qps", 100,
		"Maximum queries per second from the manager to the API server of the management cluster.")
	set.IntVar(&f.KubeBurst, "kube-api-burst", 200,
		"Maximum number of queries in one burst to the API server of the management cluster.")
}

// Options returns the manager's options as the command line has them. What the command line does not say, such as Lean, is zero.
func (f *Flags) Options(env func(string) string) (manager.Options, error) {
	o := f.o
	tls, metrics, err := capiflags.GetManagerOptions(f.diagnostics)
	if err != nil {
		return o, fmt.Errorf("diagnostics flags: %w", err)
	}
	o.Metrics = *metrics
	if f.metricsAddress != "" {
		o.Metrics = metricsserver.Options{BindAddress: f.metricsAddress}
	}
	o.Webhook.TLSOpts, o.Page.TLS = tls, tls
	o.Concurrency.Pools = map[string]int{}
	for name, n := range f.workers {
		o.Concurrency.Pools[name] = *n
	}
	if o.Controllers, err = switched(o.Controllers); err != nil {
		return o, err
	}
	if o.Gates, err = manager.EnabledGates(); err != nil {
		return o, err
	}
	if o.IdentityNamespace == "" {
		o.IdentityNamespace = env(podNamespace)
	}
	if o.OwnCredentials, err = identity.ParseOwn(f.ownNamespaces, f.ownSelector); err != nil {
		return o, err
	}
	if o.IdentityEndpoints, err = identity.ParseEndpoints(f.endpoints); err != nil {
		return o, err
	}
	if o.PolicyGates, err = manager.NewPolicyGates(f.gateAddresses, f.gateKinds); err != nil {
		return o, err
	}
	if o.SyncLabels, err = expressions("additional-sync-machine-labels", f.syncLabels); err != nil {
		return o, err
	}
	if o.SyncAnnotations, err = expressions("additional-sync-machine-annotations", f.syncAnnotations); err != nil {
		return o, err
	}
	o.Certificates, err = f.certificatesOf(o, env)
	return o, err
}

// expressions are the regular expressions of a flag.
func expressions(flag string, list []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, text := range list {
		e, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("--%s: want regular expressions, found %q: %w", flag, text, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// switched takes the controllers of pools out where the feature gate is off.
func switched(names []string) ([]string, error) {
	if feature.Gates.Enabled(gates.MusterMachinePools) {
		return names, nil
	}
	if len(names) == 0 {
		names = manager.Controllers()
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != manager.Webhook })
	if len(left) == 0 {
		return nil, fmt.Errorf("nothing to run: feature gate %s is off, which leaves none of the controllers %s",
			gates.MusterMachinePools, strings.Join(names, ", "))
	}
	klog.InfoS("a feature gate is off: controllers of pools do not run", "gate", gates.MusterMachinePools, "variable",
		gates.EnvMusterMachinePools, "running", left)
	return left, nil
}

// certificatesOf returns the generation of the webhooks' certificates; nil if another issuer provides them, or no webhook runs.
func (f *Flags) certificatesOf(o manager.Options, env func(string) string) (*manager.Certificates, error) {
	if len(o.Controllers) > 0 && !slices.Contains(o.Controllers, manager.Webhook) {
		return nil, nil
	}
	switch f.certificates {
	case certificatesMounted:
		return nil, nil
	case certificatesAuto:
		if manager.Mounted(o.Webhook.CertDir, o.Webhook.CertName) {
			return nil, nil
		}
	case certificatesMade:
	default:
		return nil, fmt.Errorf("--webhook-certs: want %s, %s or %s, found %q", certificatesAuto, certificatesMounted, certificatesMade,
			f.certificates)
	}
	namespace := env(podNamespace)
	if namespace == "" {
		return nil, errors.New("webhooks need certificates: put tls.crt and tls.key into --webhook-cert-dir, or run as a pod with " +
			podNamespace +
			" set so that they can be made, or leave webhook out of --controllers")
	}
	made := &manager.Certificates{
		Secret:     types.NamespacedName{Namespace: namespace, Name: f.secret},
		DNSName:    f.service + "." + namespace + ".svc",
		Validating: []string{kubewebhook.WarningsConfiguration, kubewebhook.InfrastructureValidatingConfiguration},
		Mutating:   []string{kubewebhook.InfrastructureMutatingConfiguration},
		Conversion: all.Converted(),
	}
	if len(o.Controllers) == 0 || slices.Contains(o.Controllers, manager.MachinePool) {
		made.Mutating = append(made.Mutating, kubewebhook.MutatingConfiguration)
		made.Validating = append(made.Validating, kubewebhook.ValidatingConfiguration)
	}
	return made, nil
}
