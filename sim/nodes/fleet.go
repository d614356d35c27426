package nodes

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// DefaultSpeed is the default factor by which machines boot faster than real ones. A boot of three quarters of a minute takes some five
// seconds.
const DefaultSpeed = 10.0

// maxSpeed bounds the speed, so that no duration becomes zero and the order of events is kept.
const maxSpeed = 1000.0

// keptConsoles is the number of consoles of stopped machines that can still be read. The oldest are dropped first.
const keptConsoles = 256

// Options of a fleet.
type Options struct {
	// Speed is the factor by which machines boot, start pods and stop them faster than real ones; 0 means DefaultSpeed.
	Speed float64
	// Dir keeps credentials and consoles over a restart of the process; empty keeps them in memory.
	Dir string
	// Dial opens the machines' connections to API servers; nil means the network. A test cuts machines off with it.
	Dial apiclient.DialFunc
	// Fetch returns the content of a source in the user data of a machine: s3://bucket/key, read with the machine's identity in its cloud, or
	// a URL. ErrRefused is final, other errors are retried. Errors never contain a signature. If it is nil, machines reach nothing but
	// their clusters.
	Fetch func(ctx context.Context, m sim.Machine, source string) ([]byte, error)
}

// Fleet runs machines. It is a sim.MachineHost, safe for use from several goroutines.
type Fleet struct {
	options Options
	speed   atomic.Uint64
	ctx     context.Context
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu     sync.Mutex
	closed bool
	guests map[string]*guest
	// off holds consoles of machines that were powered off, offOrder their IDs by age.
	off      map[string]*console
	offOrder []string
}

var _ sim.MachineHost = (*Fleet)(nil)

// New makes a fleet without machines. Close ends it.
func New(o Options) *Fleet {
	f := &Fleet{options: o, guests: map[string]*guest{}, off: map[string]*console{}}
	f.SetSpeed(o.Speed)
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// SetSpeed changes how much faster than life machines are from now on; 0 or less means DefaultSpeed.
func (f *Fleet) SetSpeed(speed float64) {
	if speed <= 0 || math.IsNaN(speed) {
		speed = DefaultSpeed
	}
	f.speed.Store(math.Float64bits(min(speed, maxSpeed)))
}

// life turns a span of life into one of this world.
func (f *Fleet) life(d time.Duration) time.Duration {
	return time.Duration(float64(d) / math.Float64frombits(f.speed.Load()))
}

// PowerOn starts a machine. One that is on goes on; one that joined before the process was restarted comes back as that node.
func (f *Fleet) PowerOn(m sim.Machine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, on := f.guests[m.ID]; on || f.closed {
		return
	}
	g := newGuest(f, m)
	f.guests[m.ID] = g
	f.forget(m.ID)
	f.wg.Go(g.run)
}

// PowerOff stops a machine at once, without a goodbye to its cluster, and removes what it kept. Its Node stays.
func (f *Fleet) PowerOff(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g, ok := f.guests[id]
	if !ok {
		// It was on in an earlier process, perhaps.
		newDisk(f.options.Dir, id).remove()
		return
	}
	delete(f.guests, id)
	g.powerOff()
	f.off[id] = g.console
	f.offOrder = append(f.offOrder, id)
	if len(f.offOrder) > keptConsoles {
		f.forget(f.offOrder[0])
	}
}

// forget drops the console of a machine that is off.
func (f *Fleet) forget(id string) {
	if _, ok := f.off[id]; !ok {
		return
	}
	delete(f.off, id)
	for i, o := range f.offOrder {
		if o == id {
			f.offOrder = append(f.offOrder[:i], f.offOrder[i+1:]...)
			return
		}
	}
}

// Console returns the console output of a machine, also for a while after it was powered off.
func (f *Fleet) Console(id string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.guests[id]; ok {
		return g.console.read()
	}
	if c, ok := f.off[id]; ok {
		return c.read()
	}
	return nil
}

// Hang freezes a machine's kubelet: the machine is on, but its node's heartbeat stops. Resume lets it go on. An unknown ID is no error.
func (f *Fleet) Hang(id string) { f.setHung(id, true) }

// Resume ends Hang.
func (f *Fleet) Resume(id string) { f.setHung(id, false) }

func (f *Fleet) setHung(id string, hung bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.guests[id]; ok {
		g.hang.set(hung)
	}
}

// Close stops all machines as a killed process would, keeps their files, and returns when nothing of them runs any more.
func (f *Fleet) Close() {
	f.mu.Lock()
	f.closed = true
	f.stop()
	f.mu.Unlock()
	f.wg.Wait()
}
