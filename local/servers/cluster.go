package servers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/muster-project/muster/local/workload"
)

const (
	// firstPause before an API server that ended by itself is started again; it doubles with every end and every start that fails, up to
	// lastPause.
	firstPause, lastPause = 100 * time.Millisecond, 30 * time.Second
	// longLife after which an end counts as the first one again.
	longLife = 30 * time.Second
)

// cluster is the API server of one cluster through all its lives.
type cluster struct {
	port int
	// stopping ends when the API server is to end for good, and over is closed when it has.
	stopping context.Context
	stop     context.CancelFunc
	over     chan struct{}

	mu     sync.Mutex
	server *server
	// ended is why the server ended; nil while it serves.
	ended error
}

func newCluster(ctx context.Context, is *server) *cluster {
	c := &cluster{port: is.Port, server: is, over: make(chan struct{})}
	c.stopping, c.stop = context.WithCancel(ctx)
	return c
}

// serving returns how the API server is reached, or why it does not serve.
func (c *cluster) serving() (*workload.Server, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return nil, c.ended
	}
	return c.server.access, nil
}

func (c *cluster) set(is *server, ended error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server, c.ended = is, ended
}

// close ends the API server for good, also in the middle of a start.
func (c *cluster) close() {
	c.stop()
	<-c.over
}

// keep starts the API server of a cluster again whenever it ends by itself, at its port and from its files, until the cluster is closed.
func (s *Servers) keep(c *cluster, key types.NamespacedName, w workload.ServerSpec) {
	defer close(c.over)
	for pause, is := firstPause, c.server; is != nil; {
		began := time.Now()
		select {
		case <-c.stopping.Done():
			is.stop()
			return
		case <-is.Done():
		}
		if time.Since(began) > longLife {
			pause = firstPause
		}
		why := is.Err()
		if why == nil {
			why = errors.New("it closed without an error")
		}
		ended := fmt.Errorf("the API server of %s ended by itself and is being started again: %w", key, why)
		klog.Warning(ended)
		c.set(is, ended)
		is.controllers.Stop()
		if is = s.again(c, key, w, &pause); is != nil {
			klog.Warningf("the API server of %s was started again", key)
			s.Restarted(types.NamespacedName{Namespace: key.Namespace, Name: w.Cluster}, why)
		}
	}
}

// again starts the API server of a cluster until a start succeeds, and returns it; nil when the cluster is closed.
func (s *Servers) again(c *cluster, key types.NamespacedName, w workload.ServerSpec, pause *time.Duration) *server {
	for {
		select {
		case <-c.stopping.Done():
			return nil
		case <-time.After(*pause):
		}
		*pause = min(2**pause, lastPause)
		is, err := s.startAt(c.stopping, key, w, c.port)
		if err == nil {
			c.set(is, nil)
			return is
		}
		klog.Warningf("start the API server of %s again: %v", key, err)
		c.set(nil, err)
	}
}
