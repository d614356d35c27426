package children

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/feature"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/muster-project/muster/local/upstream"
	"github.com/muster-project/muster/local/world"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/page"
	"github.com/muster-project/muster/manager/tracing"
)

// clientQPS and clientBurst of the controllers' client.
const clientQPS, clientBurst = 200, 400

// localGateAddresses and localGateKinds are what gates of rollout policies may ask in a local world: servers of this machine, and the kinds
// of GitOps tools.
var (
	localGateAddresses = []string{"127.0.0.1:*"}
	localGateKinds     = []string{"Application.argoproj.io", "Kustomization.kustomize.toolkit.fluxcd.io", "HelmRelease.helm.toolkit.fluxcd.io"}
)

// runControllers is the child "controllers": Muster's controllers and webhooks, and those of Cluster API. It returns when it fails, when
// ctx ends, or when standard input ends.
func runControllers(ctx context.Context, args []string) error {
	f := pflag.NewFlagSet(world.ControllersChild, pflag.ContinueOnError)
	dir := f.String("dir", "", "directory of the world")
	webhookPort := f.Int("webhook-port", 0, "port of the webhooks")
	healthPort := f.Int("health-port", 0, "port of the health endpoints")
	metricsPort := f.Int("metrics-port", 0, "port of the metrics")
	pagePort := f.Int("page-port", 0, "port of the web page")
	simulators := f.StringToString("simulator", nil, "base URLs of the simulated clouds, as NAME=URL")
	tokenTTL := f.Duration("token-ttl", 0, "how long bootstrap tokens are valid")
	if err := manager.AddGatesFlag(f, os.Getenv); err != nil {
		return err
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	enabled, err := manager.EnabledGates()
	if err != nil {
		return err
	}
	policyGates, err := manager.NewPolicyGates(localGateAddresses, localGateKinds)
	if err != nil {
		return err
	}
	d := world.Dir(*dir)
	o := manager.Options{
		Schemes:       []func(*runtime.Scheme) error{upstream.AddToScheme},
		HealthAddress: world.Loopback(*healthPort),
		Metrics:       metricsserver.Options{BindAddress: world.Loopback(*metricsPort)},
		Page: page.Settings{BindAddress: world.Loopback(*pagePort), Local: true, Title: d.Path(),
			Simulators: pageSimulators(*simulators)},
		Webhook:       ctrlwebhook.Options{Host: "127.0.0.1", Port: *webhookPort, CertDir: d.Webhook(), CertName: "tls.crt", KeyName: "tls.key"},
		Gates:         enabled,
		PolicyGates:   policyGates,
		ForeignHolds:  true,
		ManagedFields: feature.Gates.Enabled(feature.ClusterTopology),
	}
	return world.RunChild(ctx, world.ControllersChild, d, func(ctx context.Context) error { return control(ctx, d, o, *tokenTTL) })
}

// control runs the controllers until ctx ends. They export traces if the environment of muster up has an endpoint.
func control(ctx context.Context, d world.Dir, o manager.Options, tokenTTL time.Duration) (err error) {
	if err := upstream.Hurry(); err != nil {
		return err
	}
	spans, err := tracing.New(ctx, tracing.Options{Service: "muster-up"}, os.Getenv)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spans.Shutdown(ctx)) }()
	o.Tracer = spans.Tracer()
	config, err := clientcmd.BuildConfigFromFlags("", d.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS, config.Burst = clientQPS, clientBurst
	mgr, err := manager.New(ctx, config, o)
	if err != nil {
		return err
	}
	if err := upstream.Setup(ctx, mgr, mgr.ClusterCache, mgr.SecretClient, upstream.Options{TokenTTL: tokenTTL}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
