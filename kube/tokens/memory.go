package tokens

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// freshFor is how long the expiration of a token is known after it was read.
	freshFor = 10 * time.Second
	// knownMost bounds the expirations that are kept. Beyond it those are dropped that have to be read again anyway.
	knownMost = 8192
)

// Memory keeps tokens alive as Refresh does, and reads each of them once in a while only: busy pools have a pass every few seconds, and
// all pools of a workload cluster share the rate of one client. The zero Memory is empty; it is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	known map[string]expiration
}

// expiration is until when a token is valid, zero for ever, and when that was read.
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

// of returns until when a token is valid, if that was read a moment ago and the token needs no more time yet.
func (m *Memory) of(key string, left time.Duration, now time.Time) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is, ok := m.known[key]
	age := now.Sub(is.read)
	return is.until, ok && age >= 0 && age < freshFor && (is.until.IsZero() || is.until.Sub(now) > left)
}

// put notes what was read. Of a token that could not be read nothing is known.
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
