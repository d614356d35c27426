package core

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// Options are shared by all simulated clouds.
type Options struct {
	// Dir is the directory of the persistent state; empty keeps the state in memory.
	Dir string
	// MachineHost runs the machines' software; nil runs none.
	MachineHost sim.MachineHost
	// Speed is the factor by which machines start and stop faster than in a real cloud; 0 means sim.DefaultSpeed.
	Speed float64
	// Seed initializes IDs and random choices.
	Seed uint64
	// Switches are the enabled switches of Beliefs.
	Switches sim.Switches
	Beliefs  []evidence.Row
	// BodyLimit bounds a request.
	BodyLimit int64
	// Known are the names that the rules of faults can match.
	Known sim.Known
}

// content is implemented by the content of a simulated cloud.
type content interface {
	// tick applies all transitions due at now and returns the time of the next one; the zero time means never.
	tick(now time.Time) time.Time
	// flush writes the rows that have changed.
	flush(changes Docs) error
	// power powers machines on and off according to the state.
	power()
}

// Base is embedded by every simulated cloud. It holds the state on disk, the clock, the log of requests and the active faults.
type Base struct {
	// Environment is shared by the current and all earlier states.
	Environment *Environment
	// Admin serves the administrative endpoints below sim.AdminPath.
	Admin http.Handler
	// Mu guards the cloud's content.
	Mu    sync.Mutex
	Store *Store

	calls     sim.Calls
	bodyLimit int64
	// content is set by Run.
	content content
	alarm   *Alarm
	unsaved Docs
	closed  bool
}

// Open opens the state. Time stands still until Run.
func Open(o Options) (*Base, error) {
	known := evidence.Switches(o.Beliefs)
	for _, one := range o.Switches {
		if !slices.Contains(known, one) {
			return nil, fmt.Errorf("switch %q: want one of %q", one, known)
		}
	}
	store, err := OpenStore(o.Dir)
	if err != nil {
		return nil, err
	}
	seed := sim.Seed(o.Seed)
	b := &Base{Environment: &Environment{Seed: seed, Faults: sim.NewFaults(seed, o.Known), Host: o.MachineHost, Switches: o.Switches},
		Store: store, bodyLimit: o.BodyLimit}
	b.Environment.Speed.Set(o.Speed)
	b.alarm = NewAlarm(b.ring)
	return b, nil
}

// Calls is the log of all requests.
func (b *Base) Calls() *sim.Calls { return &b.calls }

// Faults are the rules in force.
func (b *Base) Faults() *sim.Faults { return b.Environment.Faults }

// SetSpeed changes how much faster than life things go that start from now on.
func (b *Base) SetSpeed(factor float64) { b.Environment.Speed.Set(factor) }

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
	next := b.content.tick(now)
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
		b.unsaved = Docs{}
	}
	if err := b.content.flush(b.unsaved); err != nil {
		return err
	}
	if err := b.Store.Commit(now, call, b.unsaved); err != nil {
		return err
	}
	b.unsaved = nil
	b.content.power()
	return nil
}
