package tokens

import (
	"context"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// freshFor is the time for which the read expiration of a token is used.
	freshFor = 10 * time.Second
	// maxKnown bounds the number of cached expirations. Beyond it those that have to be read again anyway are dropped.
	maxKnown = 8192
)

// Memory extends tokens as Refresh does, but reads each of them only from time to time: busy pools have a pass every few seconds, and all
// pools of a workload cluster share the rate limit of one client. Those of many pools are read together. The zero Memory is empty; it is
// safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	known map[string]expiration
	// clusters are the workload clusters by name.
	clusters map[string]*cluster
}

// cluster is when a token of a workload cluster was last read alone, and when all of them were read together. The lock is held for one
// call.
type cluster struct {
	mu            sync.Mutex
	alone, listed time.Time
}

// expiration holds the time at which a token expires, zero if never, and the time of the read.
type expiration struct{ until, read time.Time }

// Refresh is the function Refresh for tokens of the named cluster.
func (m *Memory) Refresh(ctx context.Context, c client.Client, name string, ids []string, left time.Duration,
	now time.Time) (Refreshed, error) {
	return refreshAll(ids, left, now, func(id string) (time.Time, error) {
		key := name + "/" + id
		if until, ok := m.of(key, left, now); ok {
			return until, nil
		}
		m.readTogether(ctx, c, name, key, now)
		if until, ok := m.of(key, left, now); ok {
			return until, nil
		}
		until, err := refresh(ctx, c, id, left, now)
		m.put(key, until, err, now)
		return until, err
	})
}

// readTogether reads all bootstrap tokens of a workload cluster, if another was read alone a moment ago and they were not read together
// since: after a start of the process all pools of the cluster want to know of theirs. Calls that come meanwhile wait for the answer. A
// list that fails, as where it is denied, leaves it to the reads of single tokens.
func (m *Memory) readTogether(ctx context.Context, c client.Client, name, key string, now time.Time) {
	of := m.cluster(name)
	of.mu.Lock()
	defer of.mu.Unlock()
	if _, ok := m.of(key, 0, now); ok || recently(of.listed, now) {
		return
	}
	if !recently(of.alone, now) {
		of.alone = now
		return
	}
	of.listed = now
	list := &corev1.SecretList{}
	err := c.List(ctx, list, client.InNamespace(metav1.NamespaceSystem),
		client.MatchingFields{"type": string(bootstrapapi.SecretTypeBootstrapToken)})
	if err != nil {
		return
	}
	for i := range list.Items {
		if id, ok := strings.CutPrefix(list.Items[i].Name, bootstrapapi.BootstrapTokenSecretPrefix); ok {
			if until, ok := expirationOf(&list.Items[i]); ok {
				m.put(name+"/"+id, until, nil, now)
			}
		}
	}
}

// recently reports whether something was read a moment ago. Calls that run at the same time have taken the time in any order.
func recently(read, now time.Time) bool {
	return !read.IsZero() && now.Sub(read).Abs() < freshFor
}

// cluster returns what is known of a workload cluster.
func (m *Memory) cluster(name string) *cluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clusters == nil {
		m.clusters = map[string]*cluster{}
	}
	if m.clusters[name] == nil {
		m.clusters[name] = &cluster{}
	}
	return m.clusters[name]
}

// of returns when a token expires, if that was read recently and the token needs no extension yet.
func (m *Memory) of(key string, left time.Duration, now time.Time) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is, ok := m.known[key]
	return is.until, ok && recently(is.read, now) && (is.until.IsZero() || is.until.Sub(now) > left)
}

// put caches what was read. Nothing is cached of a token that could not be read.
func (m *Memory) put(key string, until time.Time, err error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		delete(m.known, key)
		return
	}
	if len(m.known) >= maxKnown {
		for other, is := range m.known {
			if !recently(is.read, now) {
				delete(m.known, other)
			}
		}
	}
	if m.known == nil {
		m.known = map[string]expiration{}
	}
	m.known[key] = expiration{until: until, read: now}
}
