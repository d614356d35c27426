package account

import (
	"cmp"
	"encoding/base64"
	"iter"
	"slices"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/wire"
)

// Values are the second halves of a sequence of pairs.
func Values[K, V any](pairs iter.Seq2[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range pairs {
			if !yield(v) {
				return
			}
		}
	}
}

// Paged cuts one page out of items that are in the order of their keys. The token is the last key shown, so that what comes and
// goes between two pages neither repeats nor hides others.
func Paged[T any](items []T, key func(T) string, token *string, size int) (page []T, next *string, err error) {
	if shapes.Str(token) != "" {
		after, err := base64.RawURLEncoding.DecodeString(*token)
		if err != nil {
			return nil, nil, wire.Refuse("InvalidNextToken", "The token '%s' is invalid", *token)
		}
		at, found := slices.BinarySearchFunc(items, string(after), func(item T, k string) int { return cmp.Compare(key(item), k) })
		if found {
			at++
		}
		items = items[at:]
	}
	if size <= 0 || len(items) <= size {
		return items, nil, nil
	}
	return items[:size], new(base64.RawURLEncoding.EncodeToString([]byte(key(items[size-1])))), nil
}

// MaxTags is how many tags of its user a resource takes.
const MaxTags = 50
