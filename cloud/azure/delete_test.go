package azure_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/muster-project/muster/pool"
	simazure "github.com/muster-project/muster/sim/azure"
)

// stuck is a wire on which a deletion is taken and comes to nothing.
type stuck struct {
	next    http.RoundTripper
	deleted bool
}

var succeeded = regexp.MustCompile(`"provisioningState":\s*"Succeeded"`)

// RoundTrip takes deletions without passing them on, and lets the scale set be in the state Failed from then on.
func (s *stuck) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodDelete {
		s.deleted = true
		at := http.Header{"Azure-Asyncoperation": {endpoint + "/subscriptions/" + simazure.SubscriptionID +
			"/providers/Microsoft.Compute/locations/westus2/operations/x"}}
		return &http.Response{StatusCode: http.StatusAccepted, Header: at, Body: http.NoBody, Request: req}, nil
	}
	reply, err := s.next.RoundTrip(req)
	if err != nil || !s.deleted || req.Method != http.MethodGet ||
		!strings.HasSuffix(strings.ToLower(req.URL.Path), "/virtualmachinescalesets/"+setName) {
		return reply, err
	}
	body, err := io.ReadAll(reply.Body)
	if err = errors.Join(err, reply.Body.Close()); err != nil {
		return nil, err
	}
	reply.Body = io.NopCloser(bytes.NewReader(succeeded.ReplaceAll(body, []byte(`"provisioningState": "Failed"`))))
	reply.ContentLength = -1
	return reply, nil
}

// A deletion that Azure gives up is told about, and rests before it is tried again.
func TestDeletionFails(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 1)
		w.wire.next = &stuck{next: w.wire.next}
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		o := w.observe(target)
		if o.Group == nil || o.Group.DeleteFailedAt.IsZero() || o.Group.Failed == nil || o.Group.Deleting || !o.Group.ScaleUpFailedAt.IsZero() {
			t.Fatalf("want the deletion failed, and no growth, got %+v", o.Group)
		}
		first := o.Group.DeleteFailedAt
		settle()
		if o = w.observe(target); !o.Group.DeleteFailedAt.Equal(first) {
			t.Errorf("want the moment kept at which that was seen, %s, got %s", first, o.Group.DeleteFailedAt)
		}
	})
}
