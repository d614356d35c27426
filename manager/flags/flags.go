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
	kubewebhook "github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/tracing"
	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/providers/gates"
)

// podNamespace is the environment variable that says which namespace the manager runs in.
const podNamespace = "POD_NAMESPACE"

// The ways to come by the webhooks' certificates.
const (
	certificatesAuto    = "auto"
	certificatesMounted = "mounted"
	certificatesMade    = "made"
)

// Flags are the values of a command line.
type Flags struct {
	// Logs says what is logged, and in which format.
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
		"Controllers to run, of "+strings.Join(manager.Controllers(), ", ")+". Without it all run.")
	set.StringVar(&f.o.Namespace, "namespace", "", "Namespace that is watched. Without it all namespaces are.")
	set.StringVar(&f.o.WatchFilter, "watch-filter", "", fmt.Sprintf(
		"Value of the label %s that objects must have. Without it all objects are taken.", clusterv1.WatchLabel))
	set.StringVar(&f.o.IdentityNamespace, "identity-namespace", "", fmt.Sprintf(
		"Namespace of the secrets of identities that lie in no namespace themselves. Without it the pod's own (%s), else %s.", podNamespace,
		identity.DefaultNamespace))
	set.StringSliceVar(&f.ownNamespaces, identity.OwnFlag, nil, fmt.Sprintf(
		"Namespaces that may use the manager's own credentials; %s is every namespace. Without it and --%s every namespace may.",
		identity.EveryNamespace, identity.OwnSelectorFlag))
	set.StringVar(&f.ownSelector, identity.OwnSelectorFlag, "",
		"Label selector of further namespaces that may use the manager's own credentials.")
	set.StringSliceVar(&f.endpoints, identity.EndpointsFlag, nil,
		"Addresses of clouds' APIs that secrets of identities may name, in addition to the public ones.")
	set.StringSliceVar(&f.syncLabels, "additional-sync-machine-labels", nil,
		"Regular expressions of labels in a MachinePool's template that its Nodes get too, beside those of "+clusterv1.NodeRoleLabelPrefix+", "+
			clusterv1.NodeRestrictionLabelDomain+" and "+clusterv1.ManagedNodeLabelDomain+
			". For pools with Machines set it on the core controller as well.")
	set.StringSliceVar(&f.syncAnnotations, "additional-sync-machine-annotations", nil,
		"The same of annotations, beside those of "+clusterv1.ManagedNodeAnnotationDomain+".")
	set.DurationVar(&f.o.SyncPeriod, "sync-period", manager.DefaultSyncPeriod, "How often all watched objects are looked at again.")
	set.BoolVar(&f.o.LeaderElection.Enabled, "leader-elect", false, "Let one of several managers work at a time.")
	set.StringVar(&f.o.LeaderElection.Namespace, "leader-election-namespace", "", "Namespace of the lease. Without it the pod's own.")
	set.DurationVar(&f.o.LeaderElection.LeaseDuration, "leader-elect-lease-duration", 15*time.Second,
		"How long others wait after a leader's last sign of life.")
	set.DurationVar(&f.o.LeaderElection.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"How long a leader tries to renew its lease before it gives up.")
	set.DurationVar(&f.o.LeaderElection.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "Time between two tries.")
}

func (f *Flags) addServing(set *pflag.FlagSet) {
	set.StringVar(&f.metricsAddress, "metrics-bind-address", "",
		"Address where metrics are served over plain HTTP, in the place of --diagnostics-address. 0 serves none.")
	set.StringVar(&f.o.HealthAddress, "health-addr", ":9440", "Address of the health endpoint.")
	set.StringVar(&f.o.ProfilerAddress, "profiler-address", "", "Address of the profiler. Without it there is none.")
	set.IntVar(&f.o.Webhook.Port, "webhook-port", webhook.DefaultPort, "Port of the webhook server.")
	set.StringVar(&f.o.Webhook.CertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/",
		"Directory of the webhooks' certificate and key.")
	set.StringVar(&f.o.Webhook.CertName, "webhook-cert-name", "tls.crt", "File of the certificate in --webhook-cert-dir.")
	set.StringVar(&f.o.Webhook.KeyName, "webhook-key-name", "tls.key", "File of the key in --webhook-cert-dir.")
	set.StringVar(&f.certificates, "webhook-certs", certificatesAuto, fmt.Sprintf(
		"Where the certificates come from: %s (another issuer puts them into --webhook-cert-dir), %s (the manager creates and renews them in "+
			"the secret --webhook-secret), "+
			"or %s (the former if they are there, the latter otherwise).", certificatesMounted, certificatesMade, certificatesAuto))
	set.StringVar(&f.service, "webhook-service", "muster-webhook-service",
		"Service by which the API server calls the webhooks; for --webhook-certs made.")
	set.StringVar(&f.secret, "webhook-secret", "muster-webhook-service-cert", "Secret of the certificates; for --webhook-certs made.")
}

func (f *Flags) addLimits(set *pflag.FlagSet) {
	set.IntVar(&f.o.Concurrency.MachinePool, "machinepool-concurrency", manager.DefaultConcurrency,
		"MachinePools that are worked on at a time.")
	f.workers = map[string]*int{}
	for _, c := range manager.PoolControllers() {
		if c.Objects != "" {
			f.workers[c.Name] = set.Int(c.Name+"-concurrency", manager.DefaultConcurrency, c.Objects+" that are worked on at a time.")
		}
	}
	set.IntVar(&f.o.Concurrency.ClusterCache, "clustercache-concurrency", manager.DefaultClusterCacheConcurrency,
		"Workload clusters that are connected to at a time.")
	set.Float32Var(&f.o.ClusterCacheQPS, "clustercache-client-qps", manager.DefaultClusterCacheQPS,
		"Requests a second to one workload cluster.")
	set.IntVar(&f.o.ClusterCacheBurst, "clustercache-client-burst", manager.DefaultClusterCacheBurst,
		"Requests in one burst to one workload cluster.")
	set.Float32Var(&f.KubeQPS, "kube-api-qps", 100, "Requests a second to the management cluster.")
	set.IntVar(&f.KubeBurst, "kube-api-burst", 200, "Requests in one burst to the management cluster.")
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
	o.Webhook.TLSOpts = tls
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

// certificatesOf says how the webhooks' certificates are made; nil when another issuer provides them, or no webhook runs.
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
