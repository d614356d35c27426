package world

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/script"
)

// OtherOwner is the owner ID of groups whose owner tag a user has changed.
const OtherOwner = "another-owner"

// TheirGroup is the name of what other people have in the account.
const TheirGroup = "by-hand"

// Theirs is the key of a tag that a user or another tool puts onto the pool's group. Muster must keep it.
const Theirs = "theirs"

// Notes records out-of-band changes in the account. For a moment some readers cannot see them.
type Notes struct {
	world *World
	// disowned is the time when a user removed the owner tag from the pool's group.
	disowned time.Time
	// owned is the time when the user restored it.
	owned time.Time
	// moved is the time when a user changed the group's size or bounds out of band, which for a moment some readers cannot see: a removal that
	// was right for the previous size may then leave one machine too few, until the next look.
	moved time.Time
	// autoscaled are the sizes of the group that the autoscaler has changed.
	autoscaled []autoscaled
	// resized is the time when a user changed the wanted number of machines, or something that it follows from.
	resized time.Time
	// rewritten is when a user changed versions of the pool's template, which is read again within minutes only.
	rewritten time.Time
	// notes holds the tags that others put onto the pool's group. They must stay.
	notes map[string]string
}

// Moved records that a user changes the size or bounds of the group.
func (n *Notes) Moved() { n.moved = time.Now() }

// Disowned records that a user removes the owner tag from the pool's group.
func (n *Notes) Disowned() { n.disowned = time.Now() }

// Owned notes that a user gives the pool's group back.
func (n *Notes) Owned() { n.owned = time.Now() }

// EverDisowned reports whether a user has ever taken the owner tag off the pool's group.
func (n *Notes) EverDisowned() bool { return !n.disowned.IsZero() }

// Rewritten notes that a user changes versions of the pool's template.
func (n *Notes) Rewritten() { n.rewritten = time.Now() }

// Autoscaled notes a size that the autoscaler changes to another.
func (n *Notes) Autoscaled(size int) {
	n.autoscaled = append(n.autoscaled, autoscaled{until: time.Now(), size: size})
}

// resizes notes an event that changes how many machines are wanted.
func (n *Notes) resizes(e script.Event) {
	switch e.What {
	case script.Replicas, script.Bounds, script.External, script.Autoscaler, script.Waver, script.GroupEdit, script.HandResize,
		script.HandBounds, script.HandOwn, script.Restored, script.Reapplied, script.Adopt:
		n.resized = time.Now()
	}
}

// resizedFor bounds the time for which there may be too many machines after their number was changed: a drain can take as long.
const resizedFor = 12 * time.Minute

// resizedLately reports whether there may be too many machines because their wanted number or the size was changed.
func (n *Notes) resizedLately() bool {
	for _, at := range []time.Time{n.resized, n.moved} {
		if !at.IsZero() && time.Since(at) < resizedFor {
			return true
		}
	}
	return len(n.autoscaledLately(resizedFor)) > 0
}

// Kept notes what a user put onto the pool's group and that has to stay there, unless it failed.
func (n *Notes) Kept(what string, err error) error {
	ignores := func(r sim.PlayedFault) bool { return r.Kind == sim.Ignore } // what the cloud ignores is not there
	if err == nil && strings.HasSuffix(what, " "+Theirs) && !slices.ContainsFunc(n.world.pool.Cloud.Faults().List(), ignores) {
		n.notes[what] = "hand"
	}
	return err
}

// Dropped notes that the group goes, or another comes, and with it what others put there.
func (n *Notes) Dropped() { n.notes = map[string]string{} }

// autoscaled is a size of an Auto Scaling group that the autoscaler has changed to another.
type autoscaled struct {
	until time.Time
	size  int
}

// autoscaledLately returns the sizes that the autoscaler has changed within the window.
func (n *Notes) autoscaledLately(window time.Duration) []int {
	var sizes []int
	for _, s := range n.autoscaled {
		if time.Since(s.until) < window {
			sizes = append(sizes, s.size)
		}
	}
	return sizes
}

// recently reports whether a user moved the size so lately that not every reader can know.
func (n *Notes) recently() bool { return recent(n.moved) || recent(n.disowned) }

// recent reports whether what was done then may not be visible to every reader yet.
func recent(at time.Time) bool { return !at.IsZero() && time.Since(at) < script.Unseen }
