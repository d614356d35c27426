// Package stream sends changes of pools to browsers as server-sent events. Each change is encoded once and sent to all streams that see it.
package stream

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/page/fleet"
)

const (
	// Limit is the greatest number of open streams of all users together.
	Limit = 50
	// UserLimit is the greatest number of open streams of one user.
	UserLimit = 20
	// pace is the least time between two updates.
	pace = 500 * time.Millisecond
	// waiting is the number of messages that may wait for a client. A client that is slower than that is disconnected, and connects again.
	waiting = 32
)

// Slots limit the number of open streams. It is safe for concurrent use.
type Slots struct {
	mu   sync.Mutex
	all  int
	used map[string]int
}

// Take takes a slot for a user, and returns the function that gives it back. Its error names the limit that is reached.
func (s *Slots) Take(user string) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.used[user] >= UserLimit:
		return nil, fmt.Errorf("you have %d open streams, which is the limit", UserLimit)
	case s.all >= Limit:
		return nil, fmt.Errorf("%d streams are open, which is the limit", Limit)
	case s.used == nil:
		s.used = map[string]int{}
	}
	s.all++
	s.used[user]++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.used[user]--; s.used[user] == 0 {
			delete(s.used, user)
		}
	}), nil
}

// Source has the pools that one user sees.
type Source interface {
	// Pools returns them ordered by namespace and name; a pool that has not changed is the same pointer as before. They are not changed.
	Pools(ctx context.Context) ([]*view.Pool, error)
	// Changed gives a value when something has changed since the last one was taken. The hub alone takes them.
	Changed() <-chan struct{}
}

// Encoder encodes parts of the fleet's view as messages.
type Encoder interface {
	Row(l fleet.Line) ([]byte, error)
	Counts(f fleet.Fleet) ([]byte, error)
	Lines(f fleet.Fleet) ([]byte, error)
}

// Hub sends the changes of one user's pools.
type Hub struct {
	source  Source
	encoder Encoder
	cloudOf func(kind string) string

	mu      sync.Mutex
	streams map[*Stream]bool
	ended   bool
	pools   atomic.Pointer[[]*view.Pool]
	index   atomic.Pointer[fleet.Index]
}

// Stream is one open connection.
type Stream struct {
	// Messages are sent to the client. The channel is closed when the client is too slow.
	Messages chan []byte
	shown    fleet.Fleet
}

// NewHub returns a hub that sends nothing before Run.
func NewHub(s Source, e Encoder, cloudOf func(kind string) string) *Hub {
	return &Hub{source: s, encoder: e, cloudOf: cloudOf, streams: map[*Stream]bool{}}
}

// Fleet returns the page of the pools that a query selects.
func (h *Hub) Fleet(ctx context.Context, q fleet.Query) (fleet.Fleet, error) {
	pools, err := h.source.Pools(ctx)
	if err != nil {
		return fleet.Fleet{}, err
	}
	return h.indexOf(pools).Select(q), nil
}

// indexOf returns the index of pools, and keeps it for the next query.
func (h *Hub) indexOf(pools []*view.Pool) *fleet.Index {
	former := h.index.Load()
	if former.Of(pools) {
		return former
	}
	index := fleet.NewIndex(pools, h.cloudOf, former)
	h.index.Store(index)
	return index
}

// Pools returns all pools that the user sees, ordered by namespace and name.
func (h *Hub) Pools(ctx context.Context) ([]*view.Pool, error) { return h.source.Pools(ctx) }

// Pool returns the row of a pool as it was last sent; nil if there is none.
func (h *Hub) Pool(namespace, name string) *view.Pool {
	pools := h.pools.Load()
	if pools == nil {
		return nil
	}
	at, ok := slices.BinarySearchFunc(*pools, [2]string{namespace, name}, func(p *view.Pool, want [2]string) int {
		return cmp.Or(cmp.Compare(p.Namespace, want[0]), cmp.Compare(p.Name, want[1]))
	})
	if !ok {
		return nil
	}
	return (*pools)[at]
}

// Open opens a stream that begins with what the client was shown.
func (h *Hub) Open(shown fleet.Fleet) *Stream {
	s := &Stream{Messages: make(chan []byte, waiting), shown: shown}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		close(s.Messages)
	} else {
		h.streams[s] = true
	}
	return s
}

// Close closes a stream.
func (h *Hub) Close(s *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}

// Run sends changes until ctx ends, and ends all streams then.
func (h *Hub) Run(ctx context.Context) {
	defer h.end()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.source.Changed():
		}
		h.update(ctx)
		select { // no more often than once in a pace
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// end ends all streams, and those that are opened later.
func (h *Hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for s := range h.streams {
		close(s.Messages)
	}
	clear(h.streams)
}

// update sends what has changed. Pools that can't be read are read again after the next change.
func (h *Hub) update(ctx context.Context) {
	pools, err := h.source.Pools(ctx)
	if err != nil {
		return
	}
	h.pools.Store(&pools)
	index := h.indexOf(pools)
	h.mu.Lock()
	defer h.mu.Unlock()
	u := update{Encoder: h.encoder, rows: map[*view.Pool][]byte{}, pages: map[fleet.Query]*page{}}
	for s := range h.streams {
		p := u.pages[s.shown.Query]
		if p == nil {
			p = &page{fleet: index.Select(s.shown.Query)}
			u.pages[s.shown.Query] = p
		}
		if messages := u.changes(s.shown, p); !s.send(messages) {
			delete(h.streams, s)
			close(s.Messages)
			continue
		}
		s.shown = p.fleet
	}
}

// send queues messages, and reports whether there was room for all of them.
func (s *Stream) send(messages [][]byte) bool {
	for _, m := range messages {
		select {
		case s.Messages <- m:
		default:
			return false
		}
	}
	return true
}

// update holds the messages of one update, each made once.
type update struct {
	Encoder
	rows  map[*view.Pool][]byte
	pages map[fleet.Query]*page
}

// page is the page of one query, with its parts as messages.
type page struct {
	fleet         fleet.Fleet
	counts, lines []byte
}

// changes returns the messages from what was shown to the page as it is now: the lines that changed if they are the same pools in the same
// order, or all lines.
func (u update) changes(shown fleet.Fleet, p *page) [][]byte {
	var out [][]byte
	if !shown.SameCounts(p.fleet) {
		if p.counts == nil {
			p.counts, _ = u.Counts(p.fleet) // an empty message is not sent
		}
		out = append(out, p.counts)
	}
	if !shown.SameLines(p.fleet) || shown.Pages != p.fleet.Pages {
		if p.lines == nil {
			p.lines, _ = u.Lines(p.fleet)
		}
		return nonEmpty(append(out, p.lines))
	}
	for k, l := range p.fleet.Lines {
		if shown.Lines[k].Pool == l.Pool {
			continue
		}
		row, ok := u.rows[l.Pool]
		if !ok {
			row, _ = u.Row(l)
			u.rows[l.Pool] = row
		}
		out = append(out, row)
	}
	// Many small messages are slower than one: half of the lines are sent as all.
	if len(out) >= waiting/2 {
		if p.lines == nil {
			p.lines, _ = u.Lines(p.fleet)
		}
		out = append(out[:0], p.counts, p.lines)
	}
	return nonEmpty(out)
}

// nonEmpty leaves out messages that could not be encoded.
func nonEmpty(messages [][]byte) [][]byte {
	out := messages[:0]
	for _, m := range messages {
		if len(m) > 0 {
			out = append(out, m)
		}
	}
	return out
}
