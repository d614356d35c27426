package world

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// External reports whether an autoscaler owns the group's size.
func (w *World) External() bool {
	mp, _ := w.Objects()
	return mp != nil && sizedElsewhere(mp)
}

// Thief is the owner ID of groups whose owner tag a user has changed.
const Thief = "another-owner"

// TheirGroup is the name of what other people have in the account.
const TheirGroup = "by-hand"

// byHand changes something in the cloud behind the engine's back. What is not ours is left to its owner.
func (w *World) byHand(e Event) error {
	switch e.What {
	case HandOwn:
		w.own()
		return nil
	case HandForeign:
		w.pool.Foreign(e.N)
		return nil
	case HandDropForeign:
		w.own()
		w.dropForeign()
		return nil
	}
	return w.pool.Change(e)
}

// own gives the group back that was taken from us. When the object is gone it stays with whom it was given: we let go of it.
func (w *World) own() {
	if w.Owner(); w.infraThere() {
		w.pool.Own()
	}
}

// dropForeign deletes the group of another owner that has the pool's name.
func (w *World) dropForeign() {
	if w.Scenario.Adopted {
		return // what is not the pool's yet is the group that it adopts
	}
	w.pool.DropForeign()
}

// What people do in the account is noted here: for a moment not every reader can see it.

// Theirs is what a user or another tool puts onto a group of the pool's, and that stays there.
const Theirs = "theirs"

// NoteMoved notes that a user changes the group's size or bounds.
func (w *World) NoteMoved() { w.account.moved = time.Now() }

// NoteDisowned notes that a user takes the owner tag off the pool's group, NoteOwned that the user gives it back.
func (w *World) NoteDisowned() { w.account.disowned = time.Now() }

// NoteOwned notes that a user gives the pool's group back.
func (w *World) NoteOwned() { w.account.owned = time.Now() }

// Disowned reports whether a user has ever taken the owner tag off the pool's group.
func (w *World) Disowned() bool { return !w.account.disowned.IsZero() }

// NoteRewritten notes that a user changes versions of the pool's template.
func (w *World) NoteRewritten() { w.account.rewritten = time.Now() }

// NoteAutoscaled notes a size that the autoscaler changes to another.
func (w *World) NoteAutoscaled(size int) {
	w.account.autoscaled = append(w.account.autoscaled, autoscaled{until: time.Now(), size: size})
}

// NoteKept notes what a user put onto the pool's group and that has to stay there, unless it failed.
func (w *World) NoteKept(what string, err error) error {
	ignores := func(r sim.PlayedFault) bool { return r.Kind == sim.Ignore } // what the cloud ignores is not there
	if err == nil && strings.HasSuffix(what, " "+Theirs) && !slices.ContainsFunc(w.pool.Cloud.Faults().List(), ignores) {
		w.account.notes[what] = "hand"
	}
	return err
}

// NoteDropped notes that the group goes, or another comes, and with it what others put there.
func (w *World) NoteDropped() { w.account.notes = map[string]string{} }

// Snapshot is what exists, in the oracles' words.
func (w *World) Snapshot() oracle.Cloud { return w.pool.Snapshot() }

// autoscaled is a size of an Auto Scaling group that the autoscaler has changed to another.
type autoscaled struct {
	until time.Time
	size  int
}

// autoscaledLately are the sizes that the autoscaler has changed within the window.
func (a *account) autoscaledLately(window time.Duration) []int {
	var sizes []int
	for _, s := range a.autoscaled {
		if time.Since(s.until) < window {
			sizes = append(sizes, s.size)
		}
	}
	return sizes
}
