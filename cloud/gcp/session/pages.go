package session

import (
	"context"
	"fmt"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// pagesMost bounds the requests for one list.
	pagesMost = 200
	// pageSize is the most that Compute Engine puts into a page.
	pageSize = 500
)

// Listed reads a list to its end: page reads the one of a token, and returns the next one's. A context of wire.Paged says how many pages
// are expected. A list that has no end is an error, for what was cut off might be what counts.
func (s *Session) Listed(ctx context.Context, page func(ctx context.Context,
	token string) (next string, err error)) (pages int, err error) {
	if wire.PagesOf(ctx) == nil {
		ctx, _ = wire.Paged(ctx, 1)
	}
	token := ""
	for pages < pagesMost {
		if token, err = page(ctx, token); err != nil {
			return pages, s.Refusal(err)
		}
		if pages++; token == "" {
			return pages, nil
		}
	}
	return pages, &cloud.Error{
		Kind: cloud.Unavailable, Code: "EndlessList", Message: fmt.Sprintf("the list has %d pages and still goes on", pagesMost),
	}
}
