package session

import (
	"errors"
	"testing"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
)

func TestPoll(t *testing.T) {
	t.Parallel()
	const zonal, regional = compute1 + "/zones/us-central1-a/operations/", compute1 + "/regions/us-central1/operations/"
	st := newStand(t, map[string]answer{
		"GET " + zonal + "running": {status: 200, body: `{"status":"RUNNING"}`},
		"GET " + zonal + "done":    {status: 200, body: `{"status":"DONE"}`},
		"GET " + zonal + "gone":    {status: 404, body: `{"error":{"code":404,"message":"no","errors":[{"reason":"notFound"}]}}`},
		"GET " + zonal + "busy":    {status: 503, body: `{"error":{"code":503,"message":"no","errors":[{"reason":"backendError"}]}}`},
		"GET " + regional + "bad": {status: 200, body: `{"status":"DONE","error":{"errors":[{"code":"ZONE_RESOURCE_POOL_EXHAUSTED",
			"message":"The zone 'projects/p/zones/us-central1-a' does not have enough resources available to fulfill the request."}]}}`},
		"GET " + compute1 + "/global/operations/done": {status: 200, body: `{"status":"DONE"}`},
	})
	in := st.session(t, Credentials{})
	for _, c := range []struct {
		link   string
		done   bool
		failed cloud.Kind
		err    cloud.Kind
		calls  int
	}{
		{zonal + "running", false, "", "", 1}, {zonal + "done", true, "", "", 1}, {zonal + "gone", true, "", "", 1}, {zonal + "busy", false, "", cloud.Unavailable, 1},
		{regional + "bad", true, cloud.Capacity, "", 1}, {compute1 + "/global/operations/done", true, "", "", 1},
		{"https://evil.example/compute/v1/projects/other/zones/us-central1-a/operations/x", true, "", "", 0}, {"nothing", true, "", "", 0},
	} {
		got, err := in.Poll(t.Context(), c.link)
		failed := cloud.Kind("")
		if got.Failed != nil {
			failed = got.Failed.Kind
		}
		if got.Done != c.done || failed != c.failed || c.err == "" && err != nil || c.err != "" && cloud.KindOf(err) != c.err {
			t.Errorf("%s: got %+v, %v", c.link, got, err)
		}
		if calls := st.take(); len(calls) != c.calls {
			t.Errorf("%s: want %d calls, got %v", c.link, c.calls, calls)
		}
	}
}

// TestOnce holds that a repeated request has the ID of the one before, and another one after an operation that has failed: its failure would
// be the answer for an hour.
func TestOnce(t *testing.T) {
	t.Parallel()
	failed := &compute.Operation{Status: "DONE", Error: &compute.OperationError{Errors: []*compute.OperationErrorErrors{{Code: "RESOURCE_IN_USE"}}}}
	known, sent := map[string]*compute.Operation{}, []string(nil)
	send := func(id string) (*compute.Operation, error) {
		sent = append(sent, id)
		if known[id] == nil {
			known[id] = &compute.Operation{Status: "RUNNING"}
		}
		return known[id], nil
	}
	for _, c := range []struct {
		why    string
		calls  int
		others int
		fails  bool
	}{
		{why: "a new request", calls: 1, others: 1}, {why: "a repeated one", calls: 1, others: 1}, {why: "after it has failed", calls: 2, others: 2, fails: true},
		{why: "after it has failed again", calls: 3, others: 3, fails: true},
	} {
		if c.fails {
			known[sent[len(sent)-1]] = failed
		}
		sent = nil
		op, err := Once(send, "owner", "delete", "a/1")
		if err != nil || Failed(op) != nil || len(sent) != c.calls || len(known) != c.others {
			t.Errorf("%s: want %d calls, got %v, %v, %v", c.why, c.calls, sent, op, err)
		}
	}
	if _, err := Once(send, "owner", "delete", "b/2"); err != nil || len(known) != 4 {
		t.Errorf("want another ID for other instances, got %v, %v", known, err)
	}
	refused, calls := errors.New("no"), 0
	if _, err := Once(func(string) (*compute.Operation, error) { calls++; return nil, refused }, "x"); !errors.Is(err, refused) || calls != 1 {
		t.Errorf("want the refusal of one call, got %v after %d", err, calls)
	}
	calls = 0
	if op, err := Once(func(string) (*compute.Operation, error) { calls++; return failed, nil }, "x"); err != nil || Failed(op) == nil || calls != attemptsMost {
		t.Errorf("want the failure in the end, got %v, %v after %d", op, err, calls)
	}
}
