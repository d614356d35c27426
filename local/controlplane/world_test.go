package controlplane

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
	"github.com/muster-project/muster/local/controllers"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/workload"
)

// patience bounds every wait; an idle machine needs a few seconds for the longest.
const patience = 3 * time.Minute

// testWorld is a management API server with the reconciler under test on it.
type testWorld struct {
	dir        string
	etcd       *apiserver.Etcd
	management *apiserver.Server
	client     client.Client
	servers    *workload.Servers
	stop       func()
}

// newWorld starts a management cluster in dir.
func newWorld(t *testing.T, dir string) *testWorld {
	t.Helper()
	w := &testWorld{dir: dir}
	var err error
	if w.etcd, err = apiserver.StartEtcd(filepath.Join(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.etcd.Close)
	w.management, err = apiserver.Start(context.Background(), apiserver.Options{Name: "management", Dir: filepath.Join(dir, "management"), Etcd: w.etcd, Prefix: "/management"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.management.Stop)
	set, err := controllers.Management(context.Background(), w.management.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Stop)
	if err := install.Definitions(t.Context(), w.management.Config, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

// start runs the reconciler until stop is called; it may be started again.
func (w *testWorld) start(t *testing.T) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, localv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	mgr, err := ctrl.NewManager(w.management.Config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}}, Controller: config.Controller{SkipNameValidation: new(true)}})
	if err != nil {
		t.Fatal(err)
	}
	w.servers = workload.New(filepath.Join(w.dir, "servers"), w.etcd)
	r := &Reconciler{Client: mgr.GetClient(), Servers: w.servers, Publisher: &workload.Publisher{Client: mgr.GetClient(), KubeconfigFile: w.kubeconfigFile}}
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
	if w.client, err = client.New(w.management.Config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
}

func (w *testWorld) kubeconfigFile(c types.NamespacedName) string {
	return filepath.Join(w.dir, "clusters", c.Namespace+"-"+c.Name+".kubeconfig")
}
