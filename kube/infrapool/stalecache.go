package infrapool

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// staleCache tells whether an object that a cache gave is older than what we wrote ourselves. A pass over such an object
// would compare what it sees with a status that is no longer there, and might leave the object with a wrong one.
type staleCache struct {
	mu sync.Mutex
	// superseded are the resource versions that our own writes replaced and that the cache has not passed yet, by object.
	superseded map[client.ObjectKey]map[string]bool
}

func newStaleCache() *staleCache {
	return &staleCache{superseded: map[client.ObjectKey]map[string]bool{}}
}

// wrote notes that we made the object out of the given version.
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

// read says whether the object is one that we have replaced since. A cache never goes back, so that the first object
// that is not makes everything noted useless.
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

// forget drops what is noted of an object that is gone.
func (s *staleCache) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.superseded, key)
}
