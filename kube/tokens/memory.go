package tokens

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// freshFor is how long the expiration of a token is used after it was read.
	freshFor = 10 * time.Second
	// knownMost is how many expirations are kept. Beyond it those are dropped that have to be read again anyway.
	knownMost = 8192
)

// Memory extends tokens as Refresh does, but reads each of them only from time to time: busy pools have a pass every few seconds, and all
// pools of a workload cluster share the rate limit of one client. The zero Memory is empty; it is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	known map[string]expiration
}

// expiration is when a token expires, zero if never, and when that was read.
type expiration struct{ until, read time.Time }

// Refresh is the function Refresh for tokens of the named cluster.
func (m *Memory) Refresh(ctx context.Context, c client.Client, cluster string, ids []string, left time.Duration, now time.Time) (Refreshed, error) {
	return refreshAll(ids, left, now, func(id string) (time.Time, error) {
		key := cluster + "/" + id
		if until, ok := m.of(key, left, now); ok {
			return until, nil
		}
		until, err := refresh(ctx, c, id, left, now)
		m.put(key, until, err, now)
		return until, err
	})
}

// of returns when a token expires, if that was read recently and the token needs no extension yet.
func (m *Memory) of(key string, left time.Duration, now time.Time) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is, ok := m.known[key]
	age := now.Sub(is.read)
	return is.until, ok && age >= 0 && age < freshFor && (is.until.IsZero() || is.until.Sub(now) > left)
}

// put caches what was read. Nothing is cached of a token that could not be read.
func (m *Memory) put(key string, until time.Time, err error, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		delete(m.known, key)
		return
	}
	if len(m.known) >= knownMost {
		for other, is := range m.known {
			if now.Sub(is.read) >= freshFor {
				delete(m.known, other)
			}
		}
	}
	if m.known == nil {
		m.known = map[string]expiration{}
	}
	m.known[key] = expiration{until: until, read: now}
}
