// Package servers runs the API servers of workload clusters in this process, each with what kubeadm would have installed in it, so that
// machines really join.
package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/controllers"
	"github.com/muster-project/muster/local/pki"
	"github.com/muster-project/muster/local/ports"
	"github.com/muster-project/muster/local/workload"
)

// Options holds the location and the parameters of the API servers.
type Options struct {
	// Dir holds their certificates and ports, where a restart finds them.
	Dir string
	// Etcd stores what all of them hold, each below its own prefix.
	Etcd *apiserver.Etcd
	// Restarted is called when an API server that ended by itself serves again, with its Cluster and why it ended; it may be nil.
	Restarted func(cluster types.NamespacedName, why error)
	// Run starts an API server; nil is apiserver.Start.
	Run func(ctx context.Context, o apiserver.Options) (*apiserver.Server, error)
}

// Servers are the API servers of the workload clusters, with their controllers. One that ends by itself is started again, and the others
// go on meanwhile.
type Servers struct {
	Options

	// starting holds a place for each API server that is being started.
	starting chan struct{}
	// ports of those that run.
	ports ports.Set

	mu      sync.Mutex
	running map[types.NamespacedName]*cluster
}

// startsAtOnce bounds the concurrent starts of API servers of all kinds. Each keeps a processor busy for two seconds, and has hooks with
// time limits that many concurrent starts would exceed.
const startsAtOnce = 2

// server is a running API server with its controllers.
type server struct {
	*apiserver.Server

	access      *workload.Server
	controllers *controllers.Set
}

// New looks after the API servers whose files are below the directory.
func New(o Options) *Servers {
	if o.Run == nil {
		o.Run = apiserver.Start
	}
	if o.Restarted == nil {
		o.Restarted = func(types.NamespacedName, error) {}
	}
	return &Servers{Options: o, starting: make(chan struct{}, startsAtOnce), running: map[types.NamespacedName]*cluster{}}
}

// Version returns the Kubernetes version of all of them, with the leading v.
func (s *Servers) Version() string { return apiserver.Version() }

// Start starts the API server of key and its controllers unless it runs, and installs what machines need to join. The key is that of the
// control plane object; workload.KeyOf distinguishes those of several kinds. While a server that ended by itself is being restarted, Start
// returns the reason why it ended.
func (s *Servers) Start(ctx context.Context, key types.NamespacedName, w workload.ServerSpec) (*workload.Server, error) {
	if running := s.get(key); running != nil {
		return running.serving()
	}
	started, err := s.open(ctx, key, w)
	if err != nil {
		return nil, err
	}
	c := newCluster(context.WithoutCancel(ctx), started)
	s.mu.Lock()
	s.running[key] = c
	s.mu.Unlock()
	go s.keep(c, key, w)
	return started.access, nil
}

func (s *Servers) get(key types.NamespacedName) *cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[key]
}

// open starts what belongs to one cluster, at the port that it has or gets. A server outlives the pass that starts it, so ctx bounds the
// start alone.
func (s *Servers) open(ctx context.Context, key types.NamespacedName, w workload.ServerSpec) (*server, error) {
	port, err := s.port(s.Place(key), w.Port)
	if err != nil {
		return nil, err
	}
	started, err := s.startAt(ctx, key, w, port)
	if err != nil {
		return nil, errors.Join(err, s.ports.GiveBack(port))
	}
	return started, nil
}

// startAt starts what belongs to one cluster when its turn has come.
func (s *Servers) startAt(ctx context.Context, key types.NamespacedName, w workload.ServerSpec, port int) (*server, error) {
	select {
	case s.starting <- struct{}{}:
		defer func() { <-s.starting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.serve(ctx, key, w, port)
}

// serve starts what belongs to one cluster, at a port.
func (s *Servers) serve(ctx context.Context, key types.NamespacedName, w workload.ServerSpec, port int) (started *server, err error) {
	dir := s.Place(key)
	started = &server{}
	etcdCA, err := pki.OpenAuthority(dir, "etcd-ca", "etcd-ca")
	if err != nil {
		return nil, err
	}
	proxyCA, err := pki.OpenAuthority(dir, "front-proxy-ca", "front-proxy-ca")
	if err != nil {
		return nil, err
	}
	background := context.WithoutCancel(ctx)
	if started.Server, err = s.Run(background, apiserver.Options{Name: w.Cluster, Dir: dir, Port: port, Etcd: s.Etcd,
		Prefix: prefix(key)}); err != nil {
		return nil, err
	}
	if err := prepare(ctx, started.Server, w.Cluster); err != nil {
		started.Stop()
		return nil, err
	}
	ca := started.CA
	started.access = &workload.Server{Access: started.Access, EtcdCA: etcdCA, ProxyCA: proxyCA}
	started.controllers, err = controllers.Workload(background, started.Config, controllers.Options{
		CACertFile: ca.CertFile, CAKeyFile: ca.KeyFile, RootCA: ca.CertPEM, NodeMonitorGrace: w.NodeMonitorGrace,
	})
	if err != nil {
		started.Stop()
		return nil, fmt.Errorf("start the controllers of %s: %w", key, err)
	}
	return started, nil
}

// Place of a cluster's files. Namespaces hold no slash, so no two clusters share one.
func (s *Servers) Place(key types.NamespacedName) string {
	return filepath.Join(s.Dir, key.Namespace, key.Name)
}

func prefix(key types.NamespacedName) string { return "/clusters/" + key.Namespace + "/" + key.Name }

// port of a server, which ports has then: the one that its object names, else the one that it had, else a new one, which is kept.
func (s *Servers) port(dir string, requested int) (int, error) {
	file := filepath.Join(dir, "port")
	kept, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("read the port of an API server: %w", err)
	}
	port := requested
	if port == 0 && len(kept) > 0 {
		if port, err = strconv.Atoi(strings.TrimSpace(string(kept))); err != nil {
			return 0, fmt.Errorf("read the port of an API server from %s: %w", file, err)
		}
	}
	if port == 0 {
		port, err = s.ports.Pick(dir)
	} else if err = s.ports.Take(port); err != nil {
		err = fmt.Errorf("want port %d for an API server, found it taken; end what listens there: %w", port, err)
	}
	if err != nil {
		return 0, err
	}
	if err = os.MkdirAll(dir, 0o700); err != nil {
		err = fmt.Errorf("make the directory of an API server: %w", err)
	} else {
		err = pki.WriteFile(file, []byte(strconv.Itoa(port)+"\n"))
	}
	if err != nil {
		return 0, errors.Join(err, s.ports.GiveBack(port))
	}
	return port, nil
}

// Remove stops the API server of key and removes everything that it has kept.
func (s *Servers) Remove(ctx context.Context, key types.NamespacedName) error {
	if running := s.get(key); running != nil {
		running.close()
		s.mu.Lock()
		delete(s.running, key)
		s.mu.Unlock()
		if err := s.ports.GiveBack(running.port); err != nil {
			return fmt.Errorf("give back the port of the API server of %s: %w", key, err)
		}
	}
	if err := s.Etcd.DeletePrefix(ctx, prefix(key)); err != nil {
		return err
	}
	if err := os.RemoveAll(s.Place(key)); err != nil {
		return fmt.Errorf("remove the files of the API server of %s: %w", key, err)
	}
	// The namespace's directory goes with its last cluster; that it is not empty is no error.
	_ = os.Remove(filepath.Dir(s.Place(key)))
	return nil
}

// Close stops all API servers, side by side, and leaves what they have kept.
func (s *Servers) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all sync.WaitGroup
	for key, r := range s.running {
		all.Go(r.close)
		delete(s.running, key)
	}
	all.Wait()
	_ = s.ports.Close() // whose error would only say that a port was given back before
}

func (w *server) stop() {
	w.controllers.Stop()
	w.Stop()
}
