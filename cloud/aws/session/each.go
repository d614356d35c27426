package session

import (
	"iter"
	"slices"
	"sync"

	"github.com/muster-project/muster/cloud"
)

// DefaultAtOnce is the number of concurrent calls about single instances: a removal by hundreds then takes as long as the
// account's budget makes it, and not as long as its calls one after the other.
const DefaultAtOnce = 10

// codeContention is the error code of Auto Scaling for a call that arrives during another about the same group.
const codeContention = "ResourceContention"

// Each calls do for each ID and hands over its errors in the order of the IDs. The first call goes alone, for what refuses it (credentials,
// a budget) refuses all; the others go several at a time. It begins no further calls once ended returns an error, and returns the first.
func (s *Session) Each(ids []string, do func(id string) error, ended func(id string, err error) error) error {
	for some := range s.waves(ids) {
		var failed error
		for k, err := range together(some, do) {
			if err = ended(some[k], err); err != nil && failed == nil {
				failed = err
			}
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// waves returns the IDs whose calls go together.
func (s *Session) waves(ids []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if len(ids) == 0 || !yield(ids[:1]) {
			return
		}
		for some := range slices.Chunk(ids[1:], max(s.atOnce, 1)) {
			if !yield(some) {
				return
			}
		}
	}
}

// together calls do for all IDs at the same time, and once more, one after the other, for those that stood in each other's way.
func together(ids []string, do func(id string) error) []error {
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for k, id := range ids[1:] {
		all.Go(func() { errs[k+1] = do(id) })
	}
	errs[0] = do(ids[0])
	all.Wait()
	for k, id := range ids {
		if len(ids) > 1 && cloud.CodeOf(errs[k]) == codeContention {
			errs[k] = do(id)
		}
	}
	return errs
}
