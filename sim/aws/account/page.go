package account

import (
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
)

// Paged returns one page of items that are in the order of their keys, and the token of the next page, nil for the last. w is nil where the
// service documents that order.
func Paged[T any](w *Core, items []T, key func(T) string, token *string, size int) (page []T, next *string, err error) {
	page, after, err := core.Page(core.List[T]{Items: items, Key: key, Sorted: true,
		Reversed: w != nil && w.Switches.On(core.ReversesLists)}, shapes.Str(token), size)
	if err != nil {
		return nil, nil, wire.Refuse("InvalidNextToken", "The token '%s' is invalid", *token)
	}
	if after != "" {
		next = &after
	}
	return page, next, nil
}

// MaxTags limits the user's tags of a resource.
const MaxTags = 50
