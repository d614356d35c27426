package eks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/apiserver/alone"
	"github.com/muster-project/muster/local/clouds/aws/kinds"
	awsnetwork "github.com/muster-project/muster/local/clouds/aws/network"
	"github.com/muster-project/muster/local/standintest"
)

// The world of the tests: a management cluster with the reconcilers under test on it, and an EKS that is only a list.
var (
	stand      *standintest.World
	management client.Client
	planes     *ControlPlanes
	known      = &list{clusters: map[string]Cluster{}, busy: map[string]bool{}}
)

func TestMain(m *testing.M) { os.Exit(alone.Run(m, "eks", begin)) }

func begin(ctx context.Context, s *apiserver.Server, dir string) (func() error, error) {
	var err error
	if stand, err = standintest.New(ctx, s, dir, kinds.All()...); err != nil {
		return nil, err
	}
	management = stand.Client
	mgr := stand.Manager
	planes = &ControlPlanes{Client: mgr.GetClient(), Servers: stand.Servers, Registry: known, Publisher: stand.Publisher,
		Network: func(region string) awsnetwork.Network {
			if region == "" {
				region = "eu-west-1"
			}
			return awsnetwork.Network{Region: region, VPC: "vpc-1", NodeSecurityGroup: "sg-1", Subnets: []awsnetwork.Subnet{{ID: "subnet-1", Zone: region + "a", CIDR: "10.0.0.0/24"}}}
		}}
	if err := errors.Join(planes.SetupWithManager(mgr), (&Clusters{Client: mgr.GetClient()}).SetupWithManager(mgr)); err != nil {
		return nil, err
	}
	return stand.Start(ctx), nil
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
