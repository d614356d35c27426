package infrapool

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// staleCache knows which versions of objects this process has replaced by its own writes, and the cache may still return. A pass over such
// a version would compare its observation with an outdated status, and might leave the object with a wrong one.
type staleCache struct {
	mu sync.Mutex
	// superseded are the replaced resource versions that the cache may still return, by object.
	superseded map[client.ObjectKey]map[string]bool
}

func newStaleCache() *staleCache {
	return &staleCache{superseded: map[client.ObjectKey]map[string]bool{}}
}

// wrote notes that a write replaced a version of the object.
func (s *staleCache) wrote(o client.Object, from string) {
	if o.GetResourceVersion() == from {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(o)
	if s.superseded[key] == nil {
		s.superseded[key] = map[string]bool{}
	}
	s.superseded[key][from] = true
}

// read reports whether the version of the object has been replaced. A cache never goes back: the first newer version ends the wait.
func (s *staleCache) read(o client.Object) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(o)
	if s.superseded[key][o.GetResourceVersion()] {
		return true
	}
	delete(s.superseded, key)
	return false
}

// forget drops the versions of an object that is gone.
func (s *staleCache) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.superseded, key)
}
