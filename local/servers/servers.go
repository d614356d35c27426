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

// Servers are the API servers of the workload clusters, with their controllers. They all store in one etcd, each below
// its own prefix, and keep their certificates and ports below one directory, where a restart finds them.
type Servers struct {
	dir  string
	etcd *apiserver.Etcd
	// ended gets the errors of API servers that ended without being stopped.
	ended chan error

	// ports of those that run.
	ports ports.Set

	mu      sync.Mutex
	running map[types.NamespacedName]*server
}

// server is one of them, with its controllers.
type server struct {
	*apiserver.Server

	access      *workload.Server
	controllers *controllers.Set
	stopping    chan struct{}
}

// New looks after the API servers whose files are below dir.
func New(dir string, etcd *apiserver.Etcd) *Servers {
	return &Servers{dir: dir, etcd: etcd, ended: make(chan error, 1), running: map[types.NamespacedName]*server{}}
}

// Version is the Kubernetes version of all of them, with the leading v.
func (s *Servers) Version() string { return apiserver.Version() }

// Ended delivers why an API server ended without being stopped. The others go on; the reader should start anew.
func (s *Servers) Ended() <-chan error { return s.ended }

// Start starts the API server of key and its controllers, unless it runs, and installs what machines need to join. The key is
// that of the object that stands for the control plane; workload.KeyOf tells those of several kinds apart.
func (s *Servers) Start(ctx context.Context, key types.NamespacedName, w workload.Wanted) (*workload.Server, error) {
	if running := s.get(key); running != nil {
		return running.access, nil
	}
	started, err := s.open(ctx, key, w)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.running[key] = started
	s.mu.Unlock()
	go s.watch(key, started)
	return started.access, nil
}

// watch tells when a server ends by itself.
func (s *Servers) watch(key types.NamespacedName, w *server) {
	<-w.Done()
	select {
	case <-w.stopping:
	default:
		select {
		case s.ended <- fmt.Errorf("the API server of %s ended by itself: %w", key, errors.Join(w.Err(), os.ErrClosed)):
		default:
		}
	}
}

func (s *Servers) get(key types.NamespacedName) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[key]
}

// open starts what belongs to one cluster. A server outlives the pass that starts it, so ctx bounds the start alone.
func (s *Servers) open(ctx context.Context, key types.NamespacedName, w workload.Wanted) (*server, error) {
	dir := s.Place(key)
	port, err := s.port(dir, w.Port)
	if err != nil {
		return nil, err
	}
	started, err := s.serve(ctx, key, w, port)
	if err != nil {
		return nil, errors.Join(err, s.ports.GiveBack(port))
	}
	return started, nil
}

// serve starts what belongs to one cluster, at a port.
func (s *Servers) serve(ctx context.Context, key types.NamespacedName, w workload.Wanted, port int) (started *server, err error) {
	dir := s.Place(key)
	started = &server{stopping: make(chan struct{})}
	etcdCA, err := pki.OpenAuthority(dir, "etcd-ca", "etcd-ca")
	if err != nil {
		return nil, err
	}
	proxyCA, err := pki.OpenAuthority(dir, "front-proxy-ca", "front-proxy-ca")
	if err != nil {
		return nil, err
	}
	background := context.WithoutCancel(ctx)
	if started.Server, err = apiserver.Start(background, apiserver.Options{Name: w.Cluster, Dir: dir, Port: port, Etcd: s.etcd,
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
	return filepath.Join(s.dir, key.Namespace, key.Name)
}

func prefix(key types.NamespacedName) string { return "/clusters/" + key.Namespace + "/" + key.Name }

// port of a server, which ports has then: the one that its object names, else the one that it had, else a new one, which is kept.
func (s *Servers) port(dir string, wanted int) (int, error) {
	file := filepath.Join(dir, "port")
	kept, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("read the port of an API server: %w", err)
	}
	port := wanted
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
		if err := s.ports.GiveBack(running.Port); err != nil {
			return fmt.Errorf("give back the port of the API server of %s: %w", key, err)
		}
	}
	if err := s.etcd.DeletePrefix(ctx, prefix(key)); err != nil {
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

func (w *server) close() {
	close(w.stopping)
	w.controllers.Stop()
	w.Stop()
}
