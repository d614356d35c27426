package session

import (
	"context"

	"github.com/muster-project/muster/cloud/wire"
)

const (
	// maxPages bounds the requests for one list.
	maxPages = 200
	// pageSize is the most that Compute Engine puts into a page.
	pageSize = 500
)

// Listed reads a list to its end: page reads the one of a token, and returns the next one's. A context of wire.Paged says how many pages
// are expected. A list that has no end is an error, for what was cut off might be what counts.
func (s *Session) Listed(ctx context.Context, page func(ctx context.Context,
	token string) (next string, err error)) (pages int, err error) {
	token := ""
	err = wire.ReadPages(ctx, maxPages, func(ctx context.Context) (more bool, err error) {
		if token, err = page(ctx, token); err != nil {
			return false, s.Refusal(err)
		}
		pages++
		return token != "", nil
	})
	return pages, err
}
