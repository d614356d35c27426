package world

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
