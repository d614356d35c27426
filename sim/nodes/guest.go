package nodes

import (
	"context"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes/apiclient"
	"github.com/muster-project/muster/sim/nodes/kubelet"
)

// Spans of a machine's life, from power-on. Together with the kubelet's start they make the three quarters of a minute that a cloud
// machine takes in life.
const (
	kernelAt   = 2 * time.Second
	localAt    = 10 * time.Second
	configAt   = 18 * time.Second
	commandsAt = 25 * time.Second
	kubeadmAt  = 34 * time.Second
	// unevenness is by which share the slowest machine of a fleet boots longer than the fastest.
	unevenness = 0.12
)

// Programs that print on the console.
const (
	kernel   = ""
	initd    = "cloud-init[512]: "
	scripts  = "cloud-init[1020]: "
	systemd  = "systemd[1]: "
	kubeletd = "kubelet[1404]: "
)

// guest is one machine that is on.
type guest struct {
	sim.Machine
	fleet   *Fleet
	ctx     context.Context
	off     context.CancelFunc
	console *console
	disk    *disk
	hang    gate
	manager *manager
	booted  time.Time
}

func newGuest(f *Fleet, m sim.Machine) *guest {
	k := newDisk(f.options.Dir, m.ID)
	g := &guest{Machine: m, fleet: f, disk: k, console: &console{disk: k, text: k.read(consoleFile)}, booted: m.Launched}
	if now := time.Now(); g.booted.IsZero() || g.booted.After(now) {
		g.booted = now
	}
	g.ctx, g.off = context.WithCancel(f.ctx)
	g.manager = &manager{guest: g}
	if j, ok := k.joined(); ok {
		// The node is there from before: it has something to drain, though its kubelet does not run yet.
		g.manager.node = j.Node.Name
	}
	return g
}

func (g *guest) powerOff() {
	g.off()
	g.disk.remove()
}

// printer gives a program of the machine its way to the console, with the uptime that a machine of life's speed would have.
func (g *guest) printer(program string) func(format string, args ...any) {
	return func(format string, args ...any) { g.print(program, format, args...) }
}

func (g *guest) print(program, format string, args ...any) {
	if g.ctx.Err() != nil {
		return // A machine that is off prints nothing.
	}
	factor := float64(time.Second) / float64(g.fleet.life(time.Second))
	g.console.print(time.Duration(float64(time.Since(g.booted))*factor), program, format, args...)
}

// until waits for a moment of the machine's life, counted from power-on. A process that was restarted does not wait again for what lies
// behind.
func (g *guest) until(moment time.Duration) bool {
	moment += apiclient.Spread(g.ID, time.Duration(unevenness*float64(moment)))
	return apiclient.Wait(g.ctx, g.fleet.life(moment)-time.Since(g.booted))
}

// run is the machine's life. A machine that does not join has no goroutine any more; it is on all the same.
func (g *guest) run() {
	j, again, ok := g.identity()
	if !ok {
		return
	}
	for g.hang.open(g.ctx) {
		if err := g.kubelet(j, again); err != nil {
			g.print(kubeletd, "%v", err)
			return
		}
	}
}

// identity is the node that the machine is: the one from before the process was restarted, else what its first boot makes it. cloud-init
// runs once in a machine's life, so one whose first boot came to nothing stays as it is.
func (g *guest) identity() (j joined, again, ok bool) {
	if j, ok := g.disk.joined(); ok && certificateIsValid(j.Cert, time.Now()) {
		g.print(systemd, "machine %s continues as node %s", g.ID, j.Node.Name)
		return j, true, true
	}
	if g.disk.read(bootedFile) != nil {
		return joined{}, false, false
	}
	j, ok = g.boot()
	if !ok && g.ctx.Err() == nil {
		g.disk.write(bootedFile, []byte("The first boot is over; the machine has not joined a cluster.\n"))
	}
	return j, false, ok
}

// kubelet runs until the machine is off or hangs. again is true if the machine was that node before the process was restarted.
func (g *guest) kubelet(j joined, again bool) error {
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	defer g.hang.onShut(cancel)()
	defer g.manager.setReady(false)
	return kubelet.Run(ctx, kubelet.Options{Access: j.access(), Dial: g.fleet.options.Dial, Node: j.Node, Life: g.fleet.life,
		Print:      g.printer(kubeletd),
		Registered: func(existed bool) { g.manager.joined(j.Node.Name, again || existed) }, Ready: g.manager.setReady})
}

// gate is open unless the machine hangs.
type gate struct {
	mu     sync.Mutex
	shut   chan struct{} // closed when the gate opens again; nil while it is open
	cancel context.CancelFunc
}

// set shuts or opens the gate.
func (h *gate) set(shut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case shut && h.shut == nil:
		h.shut = make(chan struct{})
		if h.cancel != nil {
			h.cancel()
		}
	case !shut && h.shut != nil:
		close(h.shut)
		h.shut = nil
	}
}

// open waits until the gate is open. It is false when ctx ended first.
func (h *gate) open(ctx context.Context) bool {
	h.mu.Lock()
	shut := h.shut
	h.mu.Unlock()
	if shut == nil {
		return ctx.Err() == nil
	}
	select {
	case <-shut:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// onShut has cancel called when the gate is shut, at once where it is; the returned func ends that.
func (h *gate) onShut(cancel context.CancelFunc) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel = cancel
	if h.shut != nil {
		cancel()
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.cancel = nil
	}
}
