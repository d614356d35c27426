package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud"
)

// relisted decodes a list that is read again and again. An item whose encoding has not changed is the earlier decoded one: the SDK takes
// longer to decode a scale set or a virtual machine than the rest of a read, and of a large subscription at rest nearly none change. The
// items are shared by the readers of all earlier lists, and must not be changed.
type relisted[Item any] struct {
	mu sync.Mutex
	// known are the items of the last list by the digest of their encoding. The map is not changed.
	known map[[sha256.Size]byte]*Item
}

// read reads the list to its end, and hands over each page.
func read[Page, Item any](ctx context.Context, r *relisted[Item], pages *runtime.Pager[Page], now time.Time, page func([]*Item)) error {
	left, known, seen := &leftOut{}, r.get(), map[[sha256.Size]byte]*Item{}
	var failed error
	_, err := Listed(context.WithValue(ctx, leftOutKey{}, left), pages, func(Page) []*Item {
		list, err := decode(left.items, known, seen)
		if failed = errors.Join(failed, err); err == nil {
			page(list)
		}
		return nil
	}, now)
	if err != nil {
		return err
	}
	if failed == nil {
		r.set(seen)
	}
	return failed
}

// get returns what is known. It is not locked while a list is read: two of them may be read at the same time, and the later one is kept.
func (r *relisted[Item]) get() map[[sha256.Size]byte]*Item {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

func (r *relisted[Item]) set(seen map[[sha256.Size]byte]*Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = seen
}

// decode returns the items of a page, those that are known as they are, and notes them in seen.
func decode[Item any](items []json.RawMessage, known, seen map[[sha256.Size]byte]*Item) ([]*Item, error) {
	list := make([]*Item, 0, len(items))
	for _, raw := range items {
		if bytes.Equal(raw, []byte("null")) {
			continue
		}
		digest := sha256.Sum256(raw)
		item, ok := known[digest]
		if !ok {
			item = new(Item)
			if err := json.Unmarshal(raw, item); err != nil {
				return nil, &cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply,
					Message: Clean(fmt.Sprintf("an item of a list can't be read: %v", err))}
			}
		}
		seen[digest] = item
		list = append(list, item)
	}
	return list, nil
}

// leftOut are the items of a page that the SDK does not get to decode; leftOutKey is their key in a context.
type (
	leftOut    struct{ items []json.RawMessage }
	leftOutKey struct{}
)

// leavesOut takes the items out of the pages of a list whose context has a place for them. What is no page is left to the SDK.
type leavesOut struct{}

// Do sends the request.
func (leavesOut) Do(req *policy.Request) (*http.Response, error) {
	reply, err := req.Next()
	into, ok := req.Raw().Context().Value(leftOutKey{}).(*leftOut)
	if err != nil || !ok || reply.StatusCode != http.StatusOK {
		return reply, err
	}
	body, err := runtime.Payload(reply)
	if err != nil {
		return reply, err
	}
	var page struct {
		Items    []json.RawMessage `json:"value"`
		NextLink *string           `json:"nextLink,omitempty"`
	}
	if json.Unmarshal(body, &page) != nil {
		return reply, nil
	}
	into.items, page.Items = page.Items, nil
	rest, err := json.Marshal(page)
	if err != nil {
		return reply, err
	}
	reply.Body = io.NopCloser(bytes.NewReader(rest))
	return reply, nil
}
