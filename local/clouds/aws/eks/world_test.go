package eks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/apiserver/alone"
	"github.com/muster-project/muster/local/clouds/aws/kinds"
	awsnetwork "github.com/muster-project/muster/local/clouds/aws/network"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/workload"
)

// patience bounds every wait; an idle machine needs a few seconds for the longest.
const patience = 3 * time.Minute

// The world of the tests: a management cluster with the reconcilers under test on it, and an EKS that is only a list.
var (
	management client.Client
	planes     *ControlPlanes
	known      = &list{clusters: map[string]Cluster{}, busy: map[string]bool{}}
	files      string
)

func TestMain(m *testing.M) { os.Exit(alone.Run(m, "eks", begin)) }

func begin(ctx context.Context, s *apiserver.Server, dir string) (func() error, error) {
	if err := install.Definitions(ctx, s.Config, nil, kinds.All()...); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	mgr, err := ctrl.NewManager(s.Config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}}})
	if err != nil {
		return nil, err
	}
	etcd, err := apiserver.StartEtcd(filepath.Join(dir, "workloads"))
	if err != nil {
		return nil, err
	}
	files = dir
	servers := workload.New(filepath.Join(dir, "servers"), etcd)
	planes = &ControlPlanes{Client: mgr.GetClient(), Servers: servers, Registry: known, Publisher: &workload.Publisher{Client: mgr.GetClient(), KubeconfigFile: kubeconfigFile},
		Network: func(region string) awsnetwork.Network {
			if region == "" {
				region = "eu-west-1"
			}
			return awsnetwork.Network{Region: region, VPC: "vpc-1", NodeSecurityGroup: "sg-1", Subnets: []awsnetwork.Subnet{{ID: "subnet-1", Zone: region + "a", CIDR: "10.0.0.0/24"}}}
		}}
	if err := errors.Join(planes.SetupWithManager(mgr), (&Clusters{Client: mgr.GetClient()}).SetupWithManager(mgr)); err != nil {
		return nil, err
	}
	if management, err = client.New(s.Config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	return func() error {
		cancel()
		err := <-done
		servers.Close()
		etcd.Close()
		return err
	}, nil
}

func kubeconfigFile(c client.ObjectKey) string {
	return filepath.Join(files, "clusters", c.Namespace+"-"+c.Name+".kubeconfig")
}

// list is an EKS that remembers what it was told.
type list struct {
	mu       sync.Mutex
	clusters map[string]Cluster
	busy     map[string]bool
	broken   error
}

func (l *list) Put(_ context.Context, c Cluster) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.clusters[c.Name] = c
	}
	return l.broken
}

func (l *list) Delete(_ context.Context, _, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy[name] {
		return fmt.Errorf("%w: one", ErrInUse)
	}
	delete(l.clusters, name)
	return nil
}

func (l *list) get(name string) (Cluster, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.clusters[name]
	return c, ok
}

func (l *list) set(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// eventually fails the test when what does not come true in time; the last error says what was found.
func eventually(t *testing.T, want string, what func(ctx context.Context) error) {
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
