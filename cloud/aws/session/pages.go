package session

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud/wire"
)

// maxPages bounds the requests for one list: far more than lists of this kind have pages, and no more than a rate budget
// lets through at once.
const maxPages = 100

// pager is a list of the SDK that comes in pages. A page may hold fewer items than were asked for, or none, and be followed by
// others all the same.
type pager[Out, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (*Out, error)
}

// Listed reads a list to its end, or until there are as many items as can be used; a limit of zero means all. A list that has no
// end is an error: what was cut off might be what counts.
func Listed[Out, Options, Item any](ctx context.Context, pages pager[Out, Options], items func(*Out) []Item, limit int,
	now time.Time) ([]Item, error) {
	var all []Item
	err := wire.ReadPages(ctx, maxPages, func(ctx context.Context) (more bool, err error) {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return false, Refusal(err, now)
		}
		all = append(all, items(page)...)
		return pages.HasMorePages() && (limit <= 0 || len(all) < limit), nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
