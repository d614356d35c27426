package aws

// Bookkeeping on the group itself: which of its tags, hooks and suspended processes we put there, so that what others put
// there is never taken away. It is not passed on to instances.
const (
	tagOurTags   = "muster.dev/managed-tags"
	tagOurHooks  = "muster.dev/managed-hooks"
	tagSuspended = "muster.dev/suspended-processes"
)

// tagSetAside is on instances that we put into standby. One in standby without it was put there by another client.
const tagSetAside = "muster.dev/set-aside"

// tagKept is on instances that we protected from scale-in so that a refresh leaves them.
const tagKept = "muster.dev/kept"

func bookkeeping(key string) bool {
	return key == tagOurTags || key == tagOurHooks || key == tagSuspended
}
