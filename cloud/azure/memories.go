package azure

import (
	"sync"
	"time"
)

// memories are those of all pools.
type memories struct {
	mu sync.Mutex
	by map[string]*memory
}

// Of gives a pool's memory.
func (m *memories) Of(key string, _ time.Time) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string]*memory{}
	}
	if m.by[key] == nil {
		m.by[key] = &memory{}
	}
	return m.by[key]
}
