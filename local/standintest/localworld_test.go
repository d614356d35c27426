package standintest_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/controlplane"
	"github.com/muster-project/muster/local/servers"
	"github.com/muster-project/muster/local/workload"
)

// patience bounds every wait; an idle machine needs a few seconds for the longest.
const patience = 3 * time.Minute

// localWorld is the management cluster with a separate manager that can be restarted.
type localWorld struct {
	dir     string
	etcd    *apiserver.Etcd
	client  client.Client
	servers *servers.Servers
	stop    func()

	// end ends the API server that was started last as if it ended by itself; restarted gets why when one was started again.
	end       context.CancelFunc
	restarted chan error
}

// newLocalWorld starts the store of the workload clusters in dir.
func newLocalWorld(t *testing.T, dir string) *localWorld {
	t.Helper()
	w := &localWorld{dir: dir, restarted: make(chan error, 1)}
	var err error
	if w.etcd, err = apiserver.StartEtcd(filepath.Join(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.etcd.Close)
	return w
}

// start runs the reconciler until stop is called; it may be started again.
func (w *localWorld) start(t *testing.T) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, localv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	mgr, err := ctrl.NewManager(server.Config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client:     client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Controller: config.Controller{SkipNameValidation: new(true)}})
	if err != nil {
		t.Fatal(err)
	}
	w.servers = servers.New(servers.Options{Dir: filepath.Join(w.dir, "servers"), Etcd: w.etcd, Run: w.run,
		Restarted: func(_ types.NamespacedName, why error) { w.restarted <- why }})
	r := &controlplane.Reconciler{Client: mgr.GetClient(), Servers: w.servers,
		Publisher: &workload.Publisher{Client: mgr.GetClient(), KubeconfigFile: w.kubeconfigFile}}
	if err := r.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager ended with: %v", err)
		}
		w.servers.Close()
	}
	t.Cleanup(w.stop)
	if w.client, err = client.New(server.Config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
}

// run starts an API server that end ends.
func (w *localWorld) run(ctx context.Context, o apiserver.Options) (*apiserver.Server, error) {
	ctx, w.end = context.WithCancel(ctx)
	return apiserver.Start(ctx, o)
}

func (w *localWorld) kubeconfigFile(c types.NamespacedName) string {
	return filepath.Join(w.dir, "clusters", c.Namespace+"-"+c.Name+".kubeconfig")
}
