package page

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/detail"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/page/chart"
)

// look is the time between two looks at a pool that is shown.
const look = time.Second

// readAgain is the time after which a pool that is shown is read again though nothing of it seems to have changed.
const readAgain = 15 * time.Second

// poolPage is the view of one pool.
type poolPage struct {
	base
	detail.Detail
	Path string
	// Chart is empty without history.
	Chart template.HTML
}

// detail reads a pool as the user.
func (s *Server) detail(ctx context.Context, v *Viewer, key client.ObjectKey) (detail.Detail, error) {
	f, err := detail.Read(ctx, v.Client, key)
	if err != nil {
		return detail.Detail{}, err
	}
	// The memory is not the user's: what it has of the pool is shown to those who may read the infrastructure object.
	ref := f.Pool.Spec.Template.Spec.InfrastructureRef
	f.Cloud = s.o.CloudOf(ref.Kind)
	if f.Infra != nil {
		k := memory.Key{Kind: ref.Kind, Namespace: key.Namespace, Name: ref.Name}
		if p, ok := s.o.Memory.Last(k); ok {
			f.Pass = &p
		}
		f.Samples = s.o.Memory.Samples(k)
	}
	return detail.Build(f), nil
}

func keyOf(r *http.Request) client.ObjectKey {
	return client.ObjectKey{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
}

// pool answers with the view of one pool.
func (s *Server) pool(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	d, err := s.detail(r.Context(), v, keyOf(r))
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		writeJSON(w, http.StatusOK, d)
		return nil
	}
	s.render(w, http.StatusOK, "pool", s.poolPage(v, d))
	return nil
}

func (s *Server) poolPage(v *Viewer, d detail.Detail) poolPage {
	return poolPage{base: s.base(v, "pool"), Detail: d, Path: poolPath(d.Pool.Namespace, d.Pool.Name), Chart: history(d, time.Now())}
}

// poolEvents sends the view of one pool again whenever it has changed.
func (s *Server) poolEvents(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	free, err := s.take(v)
	if err != nil {
		return err
	}
	defer free()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	f := follower{server: s, viewer: v, key: keyOf(r), messages: make(chan []byte)}
	first, err := f.read(ctx)
	if err != nil {
		return err
	}
	go f.run(ctx)
	return s.send(w, r, v, first, f.messages)
}

// follower sends one pool again whenever it has changed.
type follower struct {
	server   *Server
	viewer   *Viewer
	key      client.ObjectKey
	messages chan []byte

	// sent is the last message; row and the pass at a time are its sources, at is the time at which they were read.
	sent []byte
	row  *view.Pool
	pass time.Time
	at   time.Time
	of   memory.Key
}

// read makes the message of the pool as it is now.
func (f *follower) read(ctx context.Context) ([]byte, error) {
	f.row, f.at = f.viewer.Fleet.Pool(f.key.Namespace, f.key.Name), time.Now()
	last, _ := f.server.o.Memory.Last(f.of) // also of a pool whose passes are not shown to the user
	d, err := f.server.detail(ctx, f.viewer, f.key)
	if err != nil {
		return nil, err
	}
	f.pass = last.At
	if of := (memory.Key{Kind: d.Pool.Infrastructure.Kind, Namespace: f.key.Namespace, Name: d.Pool.Infrastructure.Name}); of != f.of {
		f.of, f.pass = of, d.Observed
	}
	f.sent, err = message("pool", "pool-message", f.server.poolPage(f.viewer, d))
	return f.sent, err
}

// due reports whether the row or the pass over the pool is another one than at the last read, or that is long ago: events are read too.
func (f *follower) due() bool {
	last, _ := f.server.o.Memory.Last(f.of)
	return f.viewer.Fleet.Pool(f.key.Namespace, f.key.Name) != f.row || !last.At.Equal(f.pass) && last.Outcome.Seen ||
		time.Since(f.at) > readAgain
}

// run sends the pool until ctx ends or it can't be read any more.
func (f *follower) run(ctx context.Context) {
	defer close(f.messages)
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !f.due() {
			continue
		}
		before := f.sent
		text, err := f.read(ctx)
		if err != nil {
			return
		}
		if bytes.Equal(text, before) {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case f.messages <- text:
		}
	}
}

// history draws the counts of the last hours.
func history(d detail.Detail, now time.Time) template.HTML {
	if len(d.History) == 0 {
		return ""
	}
	from := now.Add(-memory.Span)
	if begin := d.History[0].At; begin.After(from) {
		from = begin
	}
	desired := chart.Series{Name: "desired", Class: "desired"}
	ready := chart.Series{Name: "ready", Class: "ready"}
	upToDate := chart.Series{Name: "up to date", Class: "up-to-date"}
	for _, s := range d.History {
		desired.Points = append(desired.Points, chart.Point{At: s.At, Value: float64(s.Desired)})
		ready.Points = append(ready.Points, chart.Point{At: s.At, Value: float64(s.Ready)})
		upToDate.Points = append(upToDate.Points, chart.Point{At: s.At, Value: float64(s.UpToDate)})
	}
	last := d.History[len(d.History)-1]
	to := now.Truncate(time.Minute) // so that a page on which nothing happens stays the same for a minute
	if least := last.At.Add(time.Second); least.After(to) {
		to = least
	}
	return chart.Steps(from, to, fmt.Sprintf("Machines since %s: now %d desired, %d ready, %d up to date",
		from.UTC().Format(time.RFC3339), last.Desired, last.Ready, last.UpToDate), desired, upToDate, ready)
}
