package children

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/controllers"
	"github.com/muster-project/muster/local/controlplane"
	"github.com/muster-project/muster/local/servers"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/local/world"
)

// managementPrefix is the management cluster's place in the store.
const managementPrefix = "/management"

// collectAt is the garbage collector percentage of the API servers. They use most of a world's memory and are idle most of the time; Go's
// default of 100 costs another 75 MB with one workload cluster.
const collectAt = 50

// definitionsPause spaces the checks for the definitions that the supervisor installs.
const definitionsPause = 100 * time.Millisecond

// apiServers is the child "apiservers": the store, the management cluster and all workload clusters. It returns when
// one of them fails, when ctx ends, or when standard input ends.
func apiServers(ctx context.Context, args []string) error {
	f := pflag.NewFlagSet(world.APIServersChild, pflag.ContinueOnError)
	dir := f.String("dir", "", "directory of the world")
	port := f.Int("port", 0, "port of the management cluster")
	names := f.StringSlice("clouds", world.Clouds(), "clouds that are simulated")
	cloudPorts := f.StringToInt(world.CloudPortFlag, nil, "port of a simulated cloud, as NAME=PORT; may be repeated")
	if err := f.Parse(args); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	d := world.Dir(*dir)
	return world.RunChild(ctx, world.APIServersChild, d, func(ctx context.Context) error {
		return serveAPI(ctx, d, *port, simulated{*names, *cloudPorts})
	})
}

// simulated are the clouds of a world, and where they are served.
type simulated struct {
	names []string
	ports map[string]int
}

// serveAPI runs the store and everything on it.
func serveAPI(ctx context.Context, d world.Dir, port int, at simulated) error {
	etcd, err := apiserver.StartEtcd(d.Path("etcd"))
	if err != nil {
		return err
	}
	defer etcd.Close()
	// The servers are stopped below, in order, rather than all at once when ctx ends. A start that ctx interrupts is given up.
	background, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	started := context.AfterFunc(ctx, giveUp)
	management, err := apiserver.Start(background, apiserver.Options{Name: "muster", Dir: d.Path("management"), Port: port, Etcd: etcd,
		Prefix: managementPrefix})
	if err != nil {
		return err
	}
	defer management.Stop()
	started()
	if err := management.KeepKubeconfig(d.Kubeconfig()); err != nil {
		return err
	}
	set, err := controllers.Management(background, management.Config)
	if err != nil {
		return err
	}
	defer set.Stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-management.Done():
			cancel(fmt.Errorf("the management API server ended: %w", errors.Join(management.Err(), os.ErrClosed)))
		case <-ctx.Done():
		}
	}()
	err = reconcile(ctx, d, management.Config, etcd, at)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// reconcile runs the controllers that have to live where the API servers do, once their kinds are there.
func reconcile(ctx context.Context, d world.Dir, config *rest.Config, etcd *apiserver.Etcd, at simulated) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, localv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	kinds := []schema.GroupVersionKind{clusterv1.GroupVersion.WithKind("Cluster"), localv1.GroupVersion.WithKind("LocalControlPlane")}
	for _, k := range all.Kinds(at.names...) {
		kinds = append(kinds, k.GroupVersionKind)
	}
	if err := untilServed(ctx, config, kinds...); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return fmt.Errorf("make the manager of control planes: %w", err)
	}
	servers := servers.New(servers.Options{Dir: d.Path("servers"), Etcd: etcd, Restarted: tellRestart(mgr.GetEventRecorder("apiservers"))})
	defer servers.Close()
	for _, c := range controlPlanes(d, mgr.GetClient(), servers, at) {
		if err := c.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

// tellRestart records an event of a Cluster whose API server ended by itself and was started again.
func tellRestart(recorder events.EventRecorder) func(types.NamespacedName, error) {
	return func(cluster types.NamespacedName, why error) {
		about := &corev1.ObjectReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Namespace: cluster.Namespace,
			Name: cluster.Name}
		recorder.Eventf(about, nil, corev1.EventTypeWarning, "APIServerRestarted", "Restart",
			"Restarted the API server, which ended by itself: %v", why)
	}
}

// controlPlanes returns the reconcilers of the kinds of control planes on these clouds, and of the infrastructure that goes with them.
func controlPlanes(d world.Dir, c client.Client, servers *servers.Servers, at simulated) []clouds.Reconciler {
	publisher := &workload.Publisher{Client: c,
		KubeconfigFile: func(c types.NamespacedName) string { return d.ClusterKubeconfig(c.Namespace, c.Name) }}
	reconcilers := []clouds.Reconciler{&controlplane.Reconciler{Client: c, Servers: servers, Publisher: publisher}}
	for _, cloud := range all.Named(at.names...) {
		reconcilers = append(reconcilers, cloud.Reconcilers(clouds.Inputs{Client: c, Servers: servers, Publisher: publisher,
			Endpoint: "http://" + world.Loopback(at.ports[cloud.Name])})...)
	}
	return reconcilers
}

// untilServed returns when the API server serves the kinds.
func untilServed(ctx context.Context, config *rest.Config, kinds ...schema.GroupVersionKind) error {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	pause := time.NewTicker(definitionsPause)
	defer pause.Stop()
	for _, k := range kinds {
		for {
			_, err := mapper.RESTMapping(k.GroupKind(), k.Version)
			if err == nil {
				break
			}
			if !meta.IsNoMatchError(err) {
				return fmt.Errorf("look for %s: %w", k, err)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-pause.C:
			}
		}
	}
	return nil
}
