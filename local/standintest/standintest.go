// Package standintest provides the environment for tests of the stand-ins for other providers' controllers: a management cluster with a
// manager, and the API servers of workload clusters.
package standintest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/foreign"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/servers"
	"github.com/muster-project/muster/local/workload"
)

// patience bounds every wait; an idle machine needs a few seconds for the longest.
const patience = 3 * time.Minute

// World is a management cluster with a manager, to which a test adds the reconcilers.
type World struct {
	Manager ctrl.Manager
	// Client reads the management cluster without a cache.
	Client client.Client
	// Servers are the API servers of workload clusters, Publisher writes how to reach them.
	Servers   *servers.Servers
	Publisher *workload.Publisher

	dir  string
	etcd *apiserver.Etcd
}

// New returns the world on a management API server, as its administrator, with the kinds of a provider. Its files are in dir.
func New(ctx context.Context, config *rest.Config, dir string, kinds ...foreign.Kind) (*World, error) {
	if err := install.Definitions(ctx, config, nil, kinds...); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	w := &World{dir: dir}
	var err error
	if w.Manager, err = ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}}}); err != nil {
		return nil, err
	}
	if w.Client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if w.etcd, err = apiserver.StartEtcd(filepath.Join(dir, "workloads")); err != nil {
		return nil, err
	}
	w.Servers = servers.New(servers.Options{Dir: filepath.Join(dir, "servers"), Etcd: w.etcd})
	w.Publisher = &workload.Publisher{Client: w.Manager.GetClient(), KubeconfigFile: w.KubeconfigFile}
	return w, nil
}

// KubeconfigFile is where the kubeconfig of a workload cluster is.
func (w *World) KubeconfigFile(c client.ObjectKey) string {
	return filepath.Join(w.dir, "clusters", c.Namespace+"-"+c.Name+".kubeconfig")
}

// Start runs the manager until stop is called, which ends everything that New started.
func (w *World) Start(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- w.Manager.Start(ctx) }() // ends with stop
	return func() error {
		cancel()
		err := <-done
		w.Servers.Close()
		w.etcd.Close()
		return err
	}
}

// HasConditions reads an object and returns an error unless it has so many conditions, all with the status, and with the text in their
// messages.
func (w *World) HasConditions(ctx context.Context, o *unstructured.Unstructured, conditions int, status, message string) error {
	if err := w.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	all, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil || len(all) != conditions {
		return fmt.Errorf("conditions are %v, %w", all, err)
	}
	for _, c := range all {
		c, ok := c.(map[string]any)
		if !ok || c["status"] != status || !strings.Contains(fmt.Sprint(c["message"]), message) {
			return fmt.Errorf("conditions are %v", all)
		}
	}
	return nil
}

// Eventually fails the test if what does not succeed in time; the last error describes the state found.
func Eventually(t *testing.T, want string, what func(ctx context.Context) error) {
	t.Helper()
	last := errors.New("nothing was tried")
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = what(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("want %s, got: %v", want, last)
	}
}
