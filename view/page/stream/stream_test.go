package stream

import (
	"context"
	"fmt"
	"testing"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/page/fleet"
)

// pools is a source of pools that a test changes.
type pools struct{ list []*view.Pool }

func (p *pools) Pools(context.Context) ([]*view.Pool, error) { return p.list, nil }
func (p *pools) Changed() <-chan struct{}                    { return nil }

// change replaces the row of a pool.
func (p *pools) change(k int, with func(*view.Pool)) {
	one := *p.list[k]
	with(&one)
	p.list = append([]*view.Pool(nil), p.list...)
	p.list[k] = &one
}

// names encodes parts as their names, and counts what it encodes.
type names struct{ encoded *int }

func (n names) Row(l fleet.Line) ([]byte, error)   { *n.encoded++; return []byte("row " + l.Name), nil }
func (n names) Counts(fleet.Fleet) ([]byte, error) { *n.encoded++; return []byte("counts"), nil }
func (n names) Lines(fleet.Fleet) ([]byte, error)  { *n.encoded++; return []byte("lines"), nil }

func noCloud(string) string { return "" }

// scene returns a hub over n pools, with the number of encoded parts.
func scene(n int) (*Hub, *pools, *int) {
	source, encoded := &pools{}, 0
	for k := range n {
		source.list = append(source.list, &view.Pool{Namespace: fmt.Sprintf("n%03d", k/100), Name: fmt.Sprintf("p%05d", k), State: "Running",
			Level: view.Healthy, Message: "3 of 3 machines are Ready"})
	}
	return NewHub(source, names{&encoded}, noCloud), source, &encoded
}

// open opens a stream that shows what a query selects.
func open(tb testing.TB, h *Hub, q fleet.Query) *Stream {
	tb.Helper()
	shown, err := h.Fleet(tb.Context(), q)
	if err != nil {
		tb.Fatal(err)
	}
	return h.Open(shown)
}

// sent returns the messages that wait for a client.
func sent(s *Stream) []string {
	var list []string
	for {
		select {
		case m, ok := <-s.Messages:
			if !ok {
				return append(list, "end")
			}
			list = append(list, string(m))
		default:
			return list
		}
	}
}

// TestUpdates holds what each change sends to whom.
func TestUpdates(t *testing.T) {
	t.Parallel()
	message := func(p *view.Pool) { p.Message += "." }
	for _, c := range []struct {
		why         string
		change      func(*pools)
		first, last []string // those that see the first page and the last one
	}{
		{"nothing", func(*pools) {}, nil, nil},
		{"a message of a pool on the first page", func(p *pools) { p.change(3, message) }, []string{"row p00003"}, nil},
		{"two of them", func(p *pools) { p.change(3, message); p.change(4, message) }, []string{"row p00003", "row p00004"}, nil},
		{"a message on the last page", func(p *pools) { p.change(249, message) }, nil, []string{"row p00249"}},
		{"another state in the same place", func(p *pools) { p.change(249, func(o *view.Pool) { o.State = "Updating" }) },
			[]string{"counts"}, []string{"counts", "row p00249"}},
		{"a problem comes first", func(p *pools) { p.change(249, func(o *view.Pool) { o.State, o.Level = "Error", view.Problem }) },
			[]string{"counts", "lines"}, []string{"counts", "lines"}},
		{"a pool is deleted", func(p *pools) { p.list = p.list[1:] }, []string{"counts", "lines"}, []string{"counts", "lines"}},
		{"many at once", func(p *pools) {
			for k := range 60 {
				p.change(k, message)
			}
		}, []string{"lines"}, nil},
	} {
		h, source, _ := scene(250)
		first, last := open(t, h, fleet.Query{Page: 1}), open(t, h, fleet.Query{Page: 3})
		c.change(source)
		h.update(t.Context())
		if got := fmt.Sprint(sent(first)); got != fmt.Sprint(c.first) {
			t.Errorf("%s: want %v on the first page, got %v", c.why, c.first, got)
		}
		if got := fmt.Sprint(sent(last)); got != fmt.Sprint(c.last) {
			t.Errorf("%s: want %v on the last page, got %v", c.why, c.last, got)
		}
		for _, p := range source.list {
			if got := h.Pool(p.Namespace, p.Name); got != p {
				t.Errorf("%s: want the row of %s/%s, got %v", c.why, p.Namespace, p.Name, got)
			}
		}
		if got := h.Pool("n001", "p00000"); got != nil {
			t.Errorf("%s: want no row of a pool that does not exist, got %v", c.why, got)
		}
	}
}

// TestEncodedOnce holds that a change is encoded once for all streams that see it, and that a slow client is disconnected.
func TestEncodedOnce(t *testing.T) {
	t.Parallel()
	h, source, encoded := scene(250)
	var streams []*Stream
	for range Limit {
		streams = append(streams, open(t, h, fleet.Query{Page: 1}))
	}
	source.change(3, func(p *view.Pool) { p.Message = "x" })
	h.update(t.Context())
	if *encoded != 1 {
		t.Errorf("want one encoding for %d streams, got %d", Limit, *encoded)
	}
	for _, s := range streams[1:] {
		if got := sent(s); len(got) != 1 {
			t.Fatalf("want one message, got %v", got)
		}
	}
	for k := range waiting {
		source.change(3, func(p *view.Pool) { p.Message = fmt.Sprint(k) })
		h.update(t.Context())
		for _, s := range streams[1:] {
			sent(s)
		}
	}
	if got := sent(streams[0]); got[len(got)-1] != "end" || len(h.streams) != Limit-1 {
		t.Errorf("want the client that reads nothing disconnected, and no other, got %v and %d streams", got, len(h.streams))
	}
	h.Close(streams[1])
	h.end()
	if late := open(t, h, fleet.Query{Page: 1}); sent(streams[2])[0] != "end" || sent(late)[0] != "end" || len(h.streams) != 0 {
		t.Error("want all streams ended with the hub")
	}
}

// TestSlots holds the limits of streams, of one user and of all.
func TestSlots(t *testing.T) {
	t.Parallel()
	var s Slots
	var free []func()
	take := func(user string, n int) {
		t.Helper()
		for range n {
			f, err := s.Take(user)
			if err != nil {
				t.Fatal(err)
			}
			free = append(free, f)
		}
	}
	full := func(user, why string) {
		t.Helper()
		if _, err := s.Take(user); err == nil {
			t.Errorf("want no more streams of %s: %s", user, why)
		}
	}
	take("a", UserLimit)
	full("a", "one user has no more")
	take("b", UserLimit)
	take("c", Limit-2*UserLimit)
	full("c", "all users together have no more")
	full("d", "all users together have no more")
	free[0]()
	free[0]() // twice frees one
	take("d", 1)
	full("d", "one place was freed")
	for _, f := range free {
		f()
	}
	if len(s.used) != 0 || s.all != 0 {
		t.Errorf("want nothing kept of users without streams, got %v", s.used)
	}
}

// BenchmarkUpdate measures one change of a fleet of 10,000 pools with 50 streams, all of one query and each of its own.
func BenchmarkUpdate(b *testing.B) {
	for name, query := range map[string]func(k int) fleet.Query{
		"one-query":   func(int) fleet.Query { return fleet.Query{Page: 1} },
		"own-queries": func(k int) fleet.Query { return fleet.Query{Search: fmt.Sprintf("p%03d", k), Page: 1} },
	} {
		b.Run(name, func(b *testing.B) {
			h, source, _ := scene(10000)
			var streams []*Stream
			for k := range Limit {
				streams = append(streams, open(b, h, query(k)))
			}
			n := 0
			for b.Loop() {
				source.change(3, func(p *view.Pool) { p.Message = fmt.Sprint(n) })
				n++
				h.update(context.Background())
				for _, s := range streams {
					sent(s)
				}
			}
		})
	}
}
