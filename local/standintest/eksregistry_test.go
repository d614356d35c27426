package standintest_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/muster-project/muster/local/clouds/aws/eks"
)

// list is an EKS that records requests.
type list struct {
	mu       sync.Mutex
	clusters map[string]eks.Cluster
	busy     map[string]bool
	broken   error
}

func (l *list) Put(_ context.Context, c eks.Cluster) error {
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
		return fmt.Errorf("%w: one", eks.ErrInUse)
	}
	delete(l.clusters, name)
	return nil
}

func (l *list) get(name string) (eks.Cluster, bool) {
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
