package pool

// Guard is somebody who lets go of an instance before it is removed, after a drain and hooks of his own: a Machine that
// stands for it is deleted first. While there is one, our drain of the instance is to ask him, he says when it has ended,
// and no timeout of ours overtakes him.
type Guard struct {
	// Requested says that he was asked to let go, by us or by anybody else.
	Requested bool
	// Released says that he has let go: the drain has ended and nobody holds the instance any more.
	Released bool
	// WaitReasons says what he waits for, for people.
	WaitReasons []string
}

// guarded says, for people, which instance is not let go yet by a guard who was asked, and what he waits for.
func (i *Instance) guarded() (name string, waits []string, ok bool) {
	if i.Guard == nil || !i.Guard.Requested || i.Guard.Released {
		return "", nil, false
	}
	name = i.ID
	if i.Node != nil {
		name = i.Node.Name
	}
	return name, i.Guard.WaitReasons, true
}
