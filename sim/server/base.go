package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/state"
)

// Options are those that every simulated cloud has.
type Options struct {
	// Dir is where the state is kept and found again; empty keeps it in memory alone.
	Dir string
	// MachineHost runs what is inside machines; nil leaves them empty.
	MachineHost sim.MachineHost
	// Speed is how much faster than life machines come and go; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed is where IDs and chances come from.
	Seed uint64
	// BodyLimit bounds a request.
	BodyLimit int64
}

// Content is what a simulated cloud holds, as its base sees it.
type Content interface {
	// Tick lets pass what is due by now and returns when something is due next; the zero time means never.
	Tick(now time.Time) time.Time
	// Flush writes the rows that have changed.
	Flush(changes map[string]json.RawMessage) error
	// Power powers machines on and off as they are wanted.
	Power()
}

// Base is what every simulated cloud is built on: its state on disk, its clock, its log of requests and the faults in force.
type Base struct {
	// Environment is what all that the cloud holds, now or earlier, shares.
	Environment *state.Environment
	// Admin answers the simulator's owner below sim.AdminPath.
	Admin http.Handler
	// Mu guards what the cloud holds.
	Mu    sync.Mutex
	Store *sim.Store

	calls     sim.Calls
	bodyLimit int64
	// content is set by Run.
	content Content
	alarm   *sim.Alarm
	unsaved map[string]json.RawMessage
	closed  bool
}

// Open opens the state. Time stands still until Run.
func Open(o Options) (*Base, error) {
	store, err := sim.OpenStore(o.Dir)
	if err != nil {
		return nil, err
	}
	seed := sim.Seed(o.Seed)
	b := &Base{Environment: &state.Environment{Seed: seed, Faults: sim.NewFaults(seed), Host: o.MachineHost}, Store: store,
		bodyLimit: o.BodyLimit}
	b.Environment.Speed.Set(o.Speed)
	b.alarm = sim.NewAlarm(b.ring)
	return b, nil
}

// Calls is the log of all requests.
func (b *Base) Calls() *sim.Calls { return &b.calls }

// Faults are the rules in force.
func (b *Base) Faults() *sim.Faults { return b.Environment.Faults }

// SetSpeed changes how much faster than life things go that start from now on.
func (b *Base) SetSpeed(factor float64) { b.Environment.Speed.Set(factor) }

// Run lets time pass for the content from now on. b.Mu is held.
func Run(b *Base, content Content, now time.Time) error {
	b.content = content
	return b.settle(now, false)
}

// Close stops time. Requests are refused afterwards; machines go on until their MachineHost is closed.
func (b *Base) Close() error {
	b.Mu.Lock()
	b.closed = true
	b.Mu.Unlock()
	b.alarm.Close()
	return b.Store.Close()
}

// Receive returns the body of a client's request. It answers the simulator's owner, and requests that can't be read; ok is false then.
func Receive(b *Base, w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	if strings.HasPrefix(r.URL.Path, sim.AdminPath) {
		b.Admin.ServeHTTP(w, r)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, b.bodyLimit))
	if err != nil {
		http.Error(w, "request too large or broken", http.StatusRequestEntityTooLarge)
		return nil, false
	}
	return body, true
}

// ring lets pass what is due.
func (b *Base) ring() {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.closed {
		return
	}
	// A failed write is tried again with the next request, whose caller gets the error.
	_ = b.settle(time.Now(), false)
}

// tickFloor is the shortest time from one tick to the next, so that no speed makes the simulator spin.
const tickFloor = time.Millisecond

// settle brings the content to the present, writes what has changed, powers machines, and sets the alarm. call is true after a client's
// write or an action by hand. b.Mu is held.
func (b *Base) settle(now time.Time, call bool) error {
	next := b.content.Tick(now)
	if floor := now.Add(tickFloor); !next.IsZero() && next.Before(floor) {
		next = floor
	}
	b.alarm.Set(next)
	return b.commit(now, call)
}

// commit writes what has changed and then powers machines on and off: in this order, so that a machine never runs that no state
// knows of. b.Mu is held.
func (b *Base) commit(now time.Time, call bool) error {
	if b.unsaved == nil {
		b.unsaved = map[string]json.RawMessage{}
	}
	if err := b.content.Flush(b.unsaved); err != nil {
		return err
	}
	if err := b.Store.Commit(now, call, b.unsaved); err != nil {
		return err
	}
	b.unsaved = nil
	b.content.Power()
	return nil
}
