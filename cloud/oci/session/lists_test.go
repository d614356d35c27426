package session

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
)

func page(next string, from, to int) reply {
	var items []string
	for i := from; i < to; i++ {
		items = append(items, fmt.Sprintf(`{"id":"ocid1.nodepool.oc1.iad.p%d","name":"p%d"}`, i, i))
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if next != "" {
		h.Set("Opc-Next-Page", next)
	}
	return reply{body: "[" + strings.Join(items, ",") + "]", header: h}
}

// TestLists: a list ends with the page that names no other, and an empty page is no end.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason   string
		replies  []reply
		pools    int
		requests int
		kind     cloud.ErrorKind
	}{
		{"one page", []reply{page("", 0, 3)}, 3, 1, ""},
		{"an empty page in the midst", []reply{page("a", 0, 2), page("b", 2, 2), page("", 2, 3)}, 3, 3, ""},
		{"an item that is shown twice", []reply{page("a", 0, 2), page("", 1, 3)}, 3, 2, ""},
		{"a list that is refused in its midst", []reply{page("a", 0, 2), {status: 404, body: `{"code":"NotAuthorizedOrNotFound"}`}}, 0, 2,
			cloud.Denied},
	} {
		s, sent := over(t, c.replies...)
		list, _, err := s.NodePools(t.Context(), compartment, 0)
		if len(list.Items) != c.pools || len(sent.requests) != c.requests || (err != nil) != (c.kind != "") ||
			err != nil && cloud.KindOf(err) != c.kind {
			t.Errorf("%s: want %d pools after %d requests, %q, got %d after %v, %v", c.reason, c.pools, c.requests, c.kind, len(list.Items),
				sent.requests, err)
		}
	}
}

// TestSharedLists: pools of a compartment share one list, and one after a write does not.
func TestSharedLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sessions, sent := with(t, Options{Now: time.Now}, page("", 0, 3))
		s, err := sessions.Of(view())
		if err != nil {
			t.Fatal(err)
		}
		all := func() {
			var pools sync.WaitGroup
			for range 10 {
				pools.Go(func() {
					if list, _, err := s.NodePools(t.Context(), compartment, time.Minute); err != nil || len(list.Items) != 3 {
						t.Errorf("want 3 pools, got %d, %v", len(list.Items), err)
					}
				})
			}
			pools.Wait()
		}
		all()
		all()
		s.TouchNodePools(compartment)
		all()
		if len(sent.requests) != 2 {
			t.Errorf("want 2 requests for 30 looks, got %v", sent.requests)
		}
		if want := "GET /20180222/nodePools?compartmentId=" + compartment + "&limit=1000"; sent.requests[0] != want {
			t.Errorf("want %s, got %s", want, sent.requests[0])
		}
	})
}

// TestLargeLists: a server of a tenant can't exhaust the memory, neither by pages without end nor by objects without content.
func TestLargeLists(t *testing.T) {
	t.Parallel()
	large := page("more", 0, 1)
	large.body = `[{"id":"a","name":"` + strings.Repeat("x", 10<<20) + `"}]`
	empty := page("", 0, 0)
	empty.body = "[" + strings.TrimSuffix(strings.Repeat("{},", 1_000_000), ",") + "]"
	null := page("", 0, 0)
	null.body = "[" + strings.TrimSuffix(strings.Repeat("null,", 1_000_000), ",") + "]"
	for _, c := range []struct {
		reason   string
		reply    reply
		requests int
	}{
		{"pages without end", large, 7}, {"objects without content", empty, 1}, {"objects that are none", null, 1},
	} {
		s, sent := over(t, c.reply)
		list, _, err := s.NodePools(t.Context(), compartment, 0)
		if cloud.CodeOf(err) != "AnswerTooLarge" || len(list.Items) != 0 || len(sent.requests) != c.requests {
			t.Errorf("%s: want the list given up after %d requests, got %d pools after %d, %v", c.reason, c.requests, len(list.Items),
				len(sent.requests), err)
		}
	}
}
