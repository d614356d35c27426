package cache

import (
	"sync"
	"time"
)

// maxPools bounds the pools of a kind whose last reads are kept.
const maxPools = 8192

// Pools are the memories of all pools of a kind, each of them an M. Losing one costs a few reads and nothing else. The zero
// Pools are empty; they are safe for concurrent use, what they give is not.
type Pools[M any] struct {
	mu sync.Mutex
	by map[string]*kept[M]
}

// kept is the memory of one pool, with the time of its last use.
type kept[M any] struct {
	is   M
	used time.Time
}

// Of returns a pool's memory. The key identifies the cloud objects of the pool.
func (m *Pools[M]) Of(key string, now time.Time) *M {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.by[key]
	if !ok {
		m.makeRoom()
		found = &kept[M]{}
		m.by[key] = found
	}
	found.used = now
	return &found.is
}

// makeRoom drops the memory that was not used for longest.
func (m *Pools[M]) makeRoom() {
	if m.by == nil {
		m.by = map[string]*kept[M]{}
	}
	if len(m.by) < maxPools {
		return
	}
	oldest := ""
	for key, candidate := range m.by {
		if oldest == "" || candidate.used.Before(m.by[oldest].used) {
			oldest = key
		}
	}
	delete(m.by, oldest)
}
