package revision

import (
	"sync"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Memo remembers the hash of the template of each pool for as long as its objects do not change. It is safe for concurrent use.
type Memo struct{ known sync.Map }

// remembered is a hash and the versions of the objects that it was computed from.
type remembered struct{ of, ofPool, hash string }

// Hash returns the hash of a pool's template. mp may be nil.
func (m *Memo) Hash(o client.Object, fields Fields, mp *clusterv1.MachinePool) (string, error) {
	key, is := client.ObjectKeyFromObject(o), remembered{of: o.GetResourceVersion()}
	if mp != nil {
		is.ofPool = mp.ResourceVersion
	}
	if was, ok := m.known.Load(key); ok && is.of != "" {
		if last := was.(remembered); last.of == is.of && last.ofPool == is.ofPool {
			return last.hash, nil
		}
	}
	t, err := Of(o, fields, mp)
	if err != nil {
		return "", err
	}
	if is.hash, err = t.Hash(string(o.GetUID())); err != nil {
		return "", err
	}
	m.known.Store(key, is)
	return is.hash, nil
}

// Forget drops what is remembered of a pool.
func (m *Memo) Forget(key client.ObjectKey) { m.known.Delete(key) }
