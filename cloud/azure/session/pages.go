package session

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// pagesMost bounds the requests for one list: far more than the lists of a scale set's thousand instances have.
const pagesMost = 100

// Listed reads a list to its end. A context of wire.Paged says how many pages are expected. A page may be empty and be followed by others
// all the same; a list that has no end is an error, for what was cut off might be what counts.
func Listed[Page, Item any](ctx context.Context, pages *runtime.Pager[Page], items func(Page) []*Item, now time.Time) ([]*Item, error) {
	if wire.PagesOf(ctx) == nil {
		ctx, _ = wire.Paged(ctx, 1)
	}
	var all []*Item
	for range pagesMost {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, Refusal(err, now)
		}
		for _, item := range items(page) {
			if item != nil {
				all = append(all, item)
			}
		}
		if !pages.More() {
			return all, nil
		}
	}
	return nil, &cloud.Error{
		Kind: cloud.Unavailable, Code: "EndlessList",
		Message: fmt.Sprintf("Azure has given %d pages of a list and still has more", pagesMost),
	}
}
