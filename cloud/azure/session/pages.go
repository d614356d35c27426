package session

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud/wire"
)

// maxPages bounds the requests for one list: far more than the lists of a scale set's thousand instances have.
const maxPages = 100

// Listed reads a list to its end. A context of wire.Paged says how many pages are expected. A page may be empty and be followed by others
// all the same; a list that has no end is an error, for what was cut off might be what counts.
func Listed[Page, Item any](ctx context.Context, pages *runtime.Pager[Page], items func(Page) []*Item, now time.Time) ([]*Item, error) {
	var all []*Item
	err := wire.ReadPages(ctx, maxPages, func(ctx context.Context) (more bool, err error) {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return false, Refusal(err, now)
		}
		for _, item := range items(page) {
			if item != nil {
				all = append(all, item)
			}
		}
		return pages.More(), nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
