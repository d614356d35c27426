package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/muster-project/muster/local/ports"
)

// Names of the children, which are also the hidden subcommands that run them, and the flag that sets the port of a simulated cloud, as
// NAME=PORT.
const (
	APIServersChild  = "apiservers"
	CloudsChild      = "clouds"
	ControllersChild = "controllers"
	CloudPortFlag    = "cloud-port"
)

// Options of a world.
type Options struct {
	// Dir keeps the world. It is made when it does not exist, and a world is found again in it when it does.
	Dir string
	// Port of the management cluster's API server; zero takes the one that Dir had, or a free one.
	Port int
	// Clouds to simulate, of those that there are; none means all of them.
	Clouds []string
	// Speed is the factor by which machines start, boot and stop faster than in a real cloud; zero means the simulators' default.
	Speed float64
	// TokenTTL is the validity of bootstrap tokens; zero means the bootstrap provider's default.
	TokenTTL time.Duration
	// FeatureGates holds the feature gates of the controllers in the form of --feature-gates: "MachinePoolMachines=true". Other gates follow
	// the environment.
	FeatureGates string
	// Page is called with the address of the web page before anything is started; it is served once the controllers run. Nil calls nothing.
	Page func(address string)
	// Progress is called with each part of the start as it begins ("Starting the controllers"), and again every few seconds while it
	// continues; nil reports nothing.
	Progress func(doing string)
	// Command runs a child when its name and arguments are appended; none means this binary.
	Command []string
}

// World is a running local world.
type World struct {
	dir            Dir
	clouds         []string
	progress       func(doing string)
	reportedStarts map[string]int // starts of each child that were reported
	places         places
	ports          ports.Set // those of places, for as long as the world lives
	config         *rest.Config
	lock           *fileutil.LockedFile

	// children in the order in which they are started; they are ended in the other one.
	children []*supervised
	done     chan struct{}
	once     sync.Once
	stopped  sync.Once
	err      error
}

// supervised is a child with what ends it.
type supervised struct {
	*child
	end   context.CancelFunc
	ended chan struct{}
}

// Start starts a world and returns once its API serves all kinds and its clouds and controllers run. ctx bounds the start alone; the world
// runs until Stop, or until it fails, which Done and Err report.
func Start(ctx context.Context, o Options) (*World, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &World{dir: Dir(o.Dir), clouds: o.Clouds, progress: o.Progress, reportedStarts: map[string]int{}, done: make(chan struct{})}
	if err := w.open(o); err != nil {
		return nil, err
	}
	if o.Page != nil {
		o.Page(w.Page())
	}
	if err := w.start(ctx, o); err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

// check sets defaults and rejects inconsistent options.
func (o *Options) check() error {
	if len(o.Clouds) == 0 {
		o.Clouds = Clouds()
	}
	for _, c := range o.Clouds {
		if !slices.Contains(Clouds(), c) {
			return fmt.Errorf("want a cloud that can be simulated (%s), found %q", strings.Join(Clouds(), ", "), c)
		}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Dir == "" {
		return errors.New("want a directory for the world, found none")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return fmt.Errorf("find the directory of the world: %w", err)
	}
	o.Dir = dir
	if len(o.Command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the binary that children are made of: %w", err)
		}
		o.Command = []string{self}
	}
	return nil
}

// open takes hold of the directory.
func (w *World) open(o Options) error {
	if err := w.dir.create(); err != nil {
		return err
	}
	lock, err := w.dir.acquire("supervisor", 0)
	if err != nil {
		return err
	}
	// The children of a killed supervisor end by themselves a moment later. They still use this world's ports.
	for _, name := range []string{ControllersChild, CloudsChild, APIServersChild} {
		old, err := w.dir.acquire(name, lockLimit)
		if err != nil {
			return errors.Join(err, lock.Close())
		}
		if err := old.Close(); err != nil {
			return errors.Join(fmt.Errorf("unlock %s: %w", name, err), lock.Close())
		}
	}
	if w.places, err = w.dir.places(o.Port, &w.ports); err != nil {
		return errors.Join(err, w.ports.Close(), lock.Close())
	}
	w.lock = lock
	return nil
}

// start starts the children, each when what it needs is there.
func (w *World) start(ctx context.Context, o Options) error {
	dir := []string{"--dir", o.Dir}
	for _, cloud := range Clouds() {
		dir = append(dir, "--"+CloudPortFlag, fmt.Sprintf("%s=%d", cloud, w.places[cloud]))
	}
	w.add(o, APIServersChild, os.Environ(), append(slices.Clone(dir), "--clouds", strings.Join(o.Clouds, ","), "--port",
		strconv.Itoa(w.places[apiServerPlace]))...)
	w.add(o, CloudsChild, os.Environ(), append(slices.Clone(dir), "--clouds", strings.Join(o.Clouds, ","), "--speed",
		strconv.FormatFloat(o.Speed, 'g', -1, 64))...)
	if err := w.until(ctx, "the management API server", w.apiReady); err != nil {
		return err
	}
	webhook, err := w.openWebhook()
	if err != nil {
		return err
	}
	if err := w.part("Installing kinds and webhooks", func() error { return w.install(ctx, webhook) }); err != nil {
		return err
	}
	var simulators []string
	for _, cloud := range o.Clouds {
		simulators = append(simulators, cloud+"="+w.places.endpoint(cloud))
	}
	w.add(o, ControllersChild, w.places.controllersEnvironment(),
		append([]string{"--dir", o.Dir}, "--webhook-port", strconv.Itoa(w.places[webhookPlace]),
			"--health-port", strconv.Itoa(w.places[healthPlace]), "--metrics-port", strconv.Itoa(w.places[metricsPlace]), "--page-port",
			strconv.Itoa(w.places[pagePlace]), "--token-ttl",
			o.TokenTTL.String(), "--feature-gates", o.FeatureGates, "--simulator", strings.Join(simulators, ","))...)
	if err := w.until(ctx, "the simulated clouds", w.cloudsReady); err != nil {
		return err
	}
	return w.until(ctx, "the controllers", w.controllersReady)
}

// add starts a child and keeps it alive.
func (w *World) add(o Options, name string, env []string, args ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	log := w.dir.log(name)
	s := &supervised{
		child: newChild(name, log, slices.Concat(o.Command, []string{name}, args), env),
		end:   cancel, ended: make(chan struct{}),
	}
	w.children = append(w.children, s)
	go func() {
		defer close(s.ended)
		s.run(ctx)
	}()
	go func() {
		if err := <-s.failed; err != nil {
			w.fail(err)
		}
	}()
}

// fail makes the world end with a reason.
func (w *World) fail(err error) {
	w.once.Do(func() {
		w.err = err
		close(w.done)
	})
}

// Page is the address of the web page.
func (w *World) Page() string { return "http://" + Loopback(w.places[pagePlace]) + "/" }

// Metrics is where the controllers serve their metrics.
func (w *World) Metrics() string { return "http://" + Loopback(w.places[metricsPlace]) + "/metrics" }

// Simulator returns the base URL of a simulated cloud.
func (w *World) Simulator(cloud string) string { return w.places.endpoint(cloud) }

// Done is closed when the world has failed; it still has to be stopped.
func (w *World) Done() <-chan struct{} { return w.done }

// Err is why the world failed; nil before Done is closed.
func (w *World) Err() error {
	select {
	case <-w.done:
		return w.err
	default:
		return nil
	}
}

// Stop ends the world and returns when nothing of it runs any more. What it has kept stays in its directory.
func (w *World) Stop() error {
	var err error
	w.stopped.Do(func() {
		defer w.killLate()()
		for _, c := range slices.Backward(w.children) {
			c.end()
			<-c.ended
		}
		err = w.ports.Close()
		if unlocked := w.lock.Close(); unlocked != nil {
			err = errors.Join(err, fmt.Errorf("unlock the directory of the world: %w", unlocked))
		}
	})
	return err
}

// killLate kills the children that have not ended after stopLimit, unless the function that it returns is called before.
func (w *World) killLate() (inTime func() bool) {
	return time.AfterFunc(stopLimit, func() {
		for _, c := range w.children {
			c.end()
			c.kill()
		}
	}).Stop
}

// Children describes the processes of the world.
func (w *World) Children() []Child {
	var all []Child
	for _, c := range w.children {
		all = append(all, c.snapshot())
	}
	return all
}

// Kubeconfig returns the file with the administrator's kubeconfig of the management cluster.
func (w *World) Kubeconfig() string { return w.dir.Kubeconfig() }

// ClusterKubeconfig returns the file with the administrator's kubeconfig of a workload cluster; it exists once the cluster's
// API server runs.
func (w *World) ClusterKubeconfig(namespace, name string) string {
	return w.dir.ClusterKubeconfig(namespace, name)
}

// Config makes clients of the management cluster.
func (w *World) Config() *rest.Config { return rest.CopyConfig(w.config) }

// CloudEnvironment are settings, each NAME=value, with which SDKs and tools of the clouds reach the simulated ones.
func (w *World) CloudEnvironment() []string { return w.places.cloudEnvironment(w.clouds) }

// readConfig reads the kubeconfig that the API servers have written.
func (w *World) readConfig() (*rest.Config, error) {
	b, err := os.ReadFile(w.Kubeconfig())
	if err != nil {
		return nil, err
	}
	c, err := clientcmd.RESTConfigFromKubeConfig(b)
	if err != nil {
		return nil, err
	}
	c.QPS, c.Burst = clientQPS, clientBurst
	return c, nil
}
