package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const (
	// clientQPS and clientBurst are shared by all controllers of one API server; kube-controller-manager gives each of
	// its controllers 20 and 30.
	clientQPS, clientBurst = 400, 800
	// informerResync is as good as never: the controllers do not need it.
	informerResync = 12 * time.Hour
	// mapperReset is the interval after which the controllers discover new kinds.
	mapperReset = 10 * time.Second
	// workers is the number of workers of each controller. The worlds are small.
	workers = 5
)

// Set is a running set of controllers.
type Set struct {
	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// Stop ends the controllers and returns when they have ended.
func (s *Set) Stop() {
	s.cancel()
	s.tasks.Wait()
}

// task runs until its context ends.
type task func(ctx context.Context)

// constructor makes one controller. It only asks for the informers that it needs; they are started afterwards.
type constructor func(ctx context.Context, e *environment) (task, error)

// environment holds the dependencies that the controllers of one API server share.
type environment struct {
	config    *rest.Config
	client    kubernetes.Interface
	metadata  metadata.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	informers informers.SharedInformerFactory
	// started is closed when the informers run; the garbage collector waits for it.
	started chan struct{}
}

func newEnvironment(config *rest.Config) (*environment, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "local-controllers")
	config.QPS, config.Burst = clientQPS, clientBurst
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	md, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a metadata client: %w", err)
	}
	return &environment{
		config: config, client: client, metadata: md,
		mapper:    restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
		informers: informers.NewSharedInformerFactory(client, informerResync),
		started:   make(chan struct{}),
	}, nil
}

// Management starts what a management cluster needs: garbage collection by owner reference, the end of namespaces,
// default service accounts and aggregated roles. The controllers end with ctx or with Stop.
func Management(ctx context.Context, config *rest.Config) (*Set, error) {
	return start(ctx, config, management())
}

// Workload starts what a cluster that machines join needs: what a management cluster has, and signing, tokens, nodes,
// workloads, disruption budgets and the scheduler. The controllers end with ctx or with Stop.
func Workload(ctx context.Context, config *rest.Config, o Options) (*Set, error) {
	return start(ctx, config, append(management(), o.workload()...))
}

func start(ctx context.Context, config *rest.Config, constructors []named) (*Set, error) {
	e, err := newEnvironment(config)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	ctx, s.cancel = context.WithCancel(ctx)
	var tasks []task
	var failed error
	for _, c := range constructors {
		t, err := c.make(ctx, e)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("make the controller %s: %w", c.name, err))
			continue
		}
		tasks = append(tasks, t)
	}
	if failed != nil {
		s.cancel()
		return nil, failed
	}
	e.informers.Start(ctx.Done())
	close(e.started)
	tasks = append(tasks, func(ctx context.Context) {
		wait.UntilWithContext(ctx, func(context.Context) { e.mapper.Reset() }, mapperReset)
	})
	for _, t := range tasks {
		s.tasks.Go(func() { t(ctx) })
	}
	s.tasks.Go(func() {
		<-ctx.Done()
		e.informers.Shutdown()
	})
	return s, nil
}

// named is a constructor with the name that kube-controller-manager knows its controller by.
type named struct {
	name string
	make constructor
}
