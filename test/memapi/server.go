package memapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Index makes the objects of a kind found by the values of a field. Fields that the real API server selects by, such as
// a pod's "spec.nodeName", are indexes too. Values must depend on nothing but the object.
type Index struct {
	Object client.Object
	Field  string
	Values client.IndexerFunc
}

// Options holds the parameters of a Server.
type Options struct {
	// Scheme lists the kinds that are stored typed. Objects of all other kinds are stored unstructured.
	Scheme *runtime.Scheme
	// Now is the only clock.
	Now func() time.Time
	// Status lists the kinds with a status subresource.
	Status []client.Object
	// Indexes serve field selectors, of caches and of live reads.
	Indexes []Index
	// Subresources holds the implementations of subresources by name (such as "eviction"). The first object is a copy of the stored one, the
	// second the request body. An implementation changes or deletes the object through the Server's clients.
	Subresources map[string]func(ctx context.Context, o, sub client.Object) error
}

// Server holds the objects of one cluster and the log of their changes.
type Server struct {
	options Options

	mu       sync.Mutex
	kinds    map[schema.GroupVersionKind]*kind
	types    map[reflect.Type]*kind
	objects  store
	log      []change
	revision int64
	// created counts the objects that were ever made; UIDs and generated names come from it.
	created int64
	// broken is why the options can't be served; every request is answered with it.
	broken error
}

// change is one entry of the log. An entry without old was an addition, one without now a deletion.
type change struct {
	revision int64
	kind     *kind
	key      client.ObjectKey
	old, now *entry
}

// New returns an empty server. If the options name a type that the scheme lacks, every request fails with an error about that.
func New(o Options) *Server {
	s := &Server{options: o, kinds: map[schema.GroupVersionKind]*kind{}, types: map[reflect.Type]*kind{}, objects: store{}}
	for _, object := range o.Status {
		k, err := s.kindOf(object)
		if err != nil {
			s.broken = fmt.Errorf("kind with a status subresource: %w", err)
			return s
		}
		k.status = true
	}
	for _, i := range o.Indexes {
		k, err := s.kindOf(i.Object)
		if err != nil {
			s.broken = fmt.Errorf("index %s: %w", i.Field, err)
			return s
		}
		k.indexes = append(k.indexes, i)
	}
	return s
}

// Revision counts the changes so far. It is the resource version of the object that changed last.
func (s *Server) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Since returns everything that happened after a revision, in order.
func (s *Server) Since(revision int64) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, _ := slices.BinarySearchFunc(s.log, revision+1, func(c change, r int64) int { return cmp.Compare(c.revision, r) })
	var events []Event
	for _, c := range s.log[from:] {
		events = append(events, c.event())
	}
	return events
}

// Put stores an object as it is, with what no client may set: a status, a deletion that has begun.
func (s *Server) Put(o client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.kindOf(o)
	if err != nil {
		return err
	}
	key, stored := k.key(client.ObjectKeyFromObject(o)), o.DeepCopyObject().(client.Object)
	if k.structure != nil {
		stored.GetObjectKind().SetGroupVersionKind(noKind)
	}
	s.commit(k, key, s.objects.get(k, key), stored)
	return nil
}

// Client reads and writes what the server holds now, as kubectl does.
func (s *Server) Client() client.Client { return s.Live(nil) }

// Live reads and writes what the server holds now, as a process does without a cache. Every request passes the gate.
func (s *Server) Live(gate Gate) client.Client { return &conn{server: s, gate: gate} }

// commit makes a change: now replaces old, either of which may be nil. It gives the entry that is stored, or would be.
func (s *Server) commit(k *kind, key client.ObjectKey, old *entry, now client.Object) *entry {
	s.revision++
	c := change{revision: s.revision, kind: k, key: key, old: old}
	if now != nil {
		now.SetResourceVersion(strconv.FormatInt(s.revision, 10))
		c.now = newEntry(k, now)
	}
	s.objects.apply(c)
	s.log = append(s.log, c)
	return c.now
}

// Event is one change of one object. Old is nil when it was added, New when it was deleted. The objects are shared with
// all caches and must not be changed.
type Event struct {
	Old, New client.Object
	Revision int64
}

func (c change) event() Event {
	return Event{Old: c.old.shared(), New: c.now.shared(), Revision: c.revision}
}

// Cache holds one process's view of the objects of a server: all changes up to some revision.
type Cache struct {
	server *Server
	live   map[*kind]bool
	known  store
	// read is the number of applied entries of the server's log, revision that of the last one.
	read     int
	revision int64
	broken   error
}

// NewCache creates a cache with all changes so far. Its clients read objects of the live kinds from the server.
func (s *Server) NewCache(live ...client.Object) *Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Cache{server: s, live: map[*kind]bool{}, known: s.objects.clone(), read: len(s.log), revision: s.revision}
	for _, o := range live {
		k, err := s.kindOf(o)
		if err != nil {
			c.broken = fmt.Errorf("kind that is read live: %w", err)
			return c
		}
		c.live[k] = true
	}
	return c
}

// Sync takes up everything that happened since the last time, and gives it in order.
func (c *Cache) Sync() []Event { return c.SyncTo(c.server.Revision()) }

// SyncTo takes up what happened up to a revision, and gives it in order. Knowledge is never lost: an older revision
// changes nothing.
func (c *Cache) SyncTo(revision int64) []Event {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	var events []Event
	for c.read < len(c.server.log) && c.server.log[c.read].revision <= revision {
		next := c.server.log[c.read]
		c.known.apply(next)
		c.read++
		c.revision = next.revision
		events = append(events, next.event())
	}
	return events
}

// Revision returns the last one that the cache knows of.
func (c *Cache) Revision() int64 {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.revision
}

// Known returns all objects of the cache, by kind, namespace and name: what a process receives when it starts, and again at
// each resync. They are shared and must not be changed.
func (c *Cache) Known() []client.Object {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	kinds := slices.SortedFunc(maps.Keys(c.known), func(a, b *kind) int { return strings.Compare(a.gvk.String(), b.gvk.String()) })
	var out []client.Object
	for _, k := range kinds {
		for _, key := range c.known[k].order {
			out = append(out, c.known[k].entries[key].object)
		}
	}
	return out
}

// Client reads from the cache, but objects of the live kinds from the server, and writes to the server. Every request to the
// server goes through the gate; reads from the cache do not, for they leave the process as little as in life.
func (c *Cache) Client(g Gate) client.Client { return &conn{server: c.server, cache: c, gate: g} }
