package desired

// Bookkeeping tags of the group: which of its tags, hooks and suspended processes Muster put there, so that those of other clients are
// never removed. They are not propagated to instances.
const (
	tagOurTags   = "muster.dev/managed-tags"
	tagOurHooks  = "muster.dev/managed-hooks"
	tagSuspended = "muster.dev/suspended-processes"
)

// Bookkeeping reports whether a tag is one of bookkeeping.
func Bookkeeping(key string) bool {
	return key == tagOurTags || key == tagOurHooks || key == tagSuspended
}
