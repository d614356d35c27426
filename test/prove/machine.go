package prove

import (
	"strconv"
	"time"

	"github.com/muster-project/muster/pool"
)

// now is the moment of every decision: ages are places in a machine's life.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// life is a machine's place in its life, that of its node included. Machines are listed in the order of their age, as drivers list them.
type life uint8

const (
	// ready runs with a Ready node, unready with one that was Ready before.
	ready life = iota
	unready
	// failed runs no more and has no node.
	failed
	// lost runs and has not joined within the deadline; it never will.
	lost
	// terminating is on its way out.
	terminating
	// joined runs, and its node was never Ready; booted runs without a node; pending is being launched.
	joined
	booted
	pending
	lives
)

// drain is the progress of Muster's drain of a node.
type drain uint8

const (
	undrained drain = iota
	// draining: pods are still to be evicted.
	draining
	drained
	drains
)

// machine is one machine, without its name.
type machine struct {
	life  life
	drain drain
	// old is true if it was launched from the template before the wanted one.
	old bool
	// named is true if the user deleted its Machine, marked if it goes first among those of which there are too many.
	named, marked bool
}

// machines are all that there can be, in the order of their age. A machine is its place among them.
var machines, placeOf = allMachines()

func allMachines() ([]machine, map[machine]uint8) {
	var all []machine
	places := map[machine]uint8{}
	for l := range lives {
		for d := range drains {
			for bits := range 8 {
				if m := (machine{l, d, bits&1 != 0, bits&2 != 0, bits&4 != 0}); m.possible() {
					places[m] = uint8(len(all)) // far fewer than 256
					all = append(all, m)
				}
			}
		}
	}
	return all, places
}

// possible reports whether there are such machines: only a node is drained, a leaving machine is the same whatever it was, and a mark is on
// ready machines without another reason to be removed.
func (m machine) possible() bool {
	switch {
	case m.marked && (m.life != ready || m.named):
		return false
	case m.life == terminating || m.life == failed:
		return m.drain == undrained && !m.named && (m.life == failed || !m.old)
	case !m.hasNode():
		return m.drain == undrained
	}
	return true
}

func (m machine) hasNode() bool { return m.life == ready || m.life == unready || m.life == joined }

// serves reports whether pods run on the machine and stay there.
func (m machine) serves() bool { return m.life == ready && m.drain == undrained }

// alive reports whether the machine is not on its way out.
func (m machine) alive() bool { return m.life != terminating }

func (m machine) String() string {
	text := [lives]string{"ready", "unready", "failed", "lost", "terminating", "joined", "booted", "pending"}[m.life]
	text += [drains]string{"", " draining", " drained"}[m.drain]
	if m.old {
		text += " old"
	}
	if m.named {
		text += " named"
	}
	if m.marked {
		text += " marked"
	}
	return text
}

// ages of machines by their lives, and whether they have a node and how long that is as it is.
var ages = [lives]time.Duration{
	ready: 3 * time.Hour, unready: 3 * time.Hour, failed: 2 * time.Hour, lost: time.Hour, terminating: 50 * time.Minute,
	joined: 3 * time.Minute, booted: 2 * time.Minute, pending: time.Minute,
}

// instance returns what a driver reports of the machine.
func (m machine) instance(id string) pool.Instance {
	i := pool.Instance{
		ID: id, ProviderID: "x:///" + id, Zone: "a", Template: templateNew, Created: now.Add(-ages[m.life]), State: pool.Running,
		Marked: m.marked,
	}
	if m.old {
		i.Template = templateOld
	}
	if m.named {
		i.DeletionRequested = &deletion
	}
	switch m.life {
	case pending:
		i.State = pool.Pending
	case terminating:
		i.State = pool.Terminating
	case failed:
		i.State = pool.Failed
	}
	if m.hasNode() {
		i.Node = m.node(id)
	}
	return i
}

func (m machine) node(id string) *pool.Node {
	n := &pool.Node{Name: "node-" + id, Joined: now.Add(-ages[m.life] + time.Minute), Ready: m.life == ready}
	n.ReadySince = n.Joined
	if m.life == unready {
		n.ReadySince = now.Add(-time.Minute)
	}
	if m.drain != undrained {
		n.Cordoned, n.DrainStarted = true, now.Add(-time.Minute)
	}
	if m.drain == draining {
		n.Remaining = 1
	}
	return n
}

// deletion is the cause of a machine that the user chose.
var deletion = pool.Cause{Reason: "MachineDeleted", Message: "its Machine was deleted"}

// The two templates.
var (
	templateOld = pool.Template{Ref: "t:1", Content: "v1:old", Data: "d"}
	templateNew = pool.Template{Ref: "t:2", Content: "v1:new", Data: "d"}
)

// instances are the machines by their place in a list and among all machines, as a driver reports them.
var instances = func() (out [most][]pool.Instance) {
	for at := range out {
		for _, m := range machines {
			out[at] = append(out[at], m.instance(strconv.Itoa(at)))
		}
	}
	return out
}()
