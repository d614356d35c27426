package session

import (
	"testing"

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
		failed cloud.ErrorKind
		err    cloud.ErrorKind
		calls  int
	}{
		{zonal + "running", false, "", "", 1}, {zonal + "done", true, "", "", 1}, {zonal + "gone", true, "", "", 1},
		{zonal + "busy", false, "", cloud.Unavailable, 1},
		{regional + "bad", true, cloud.Capacity, "", 1}, {compute1 + "/global/operations/done", true, "", "", 1},
		{"https://evil.example/compute/v1/projects/other/zones/us-central1-a/operations/x", true, "", "", 0}, {"nothing", true, "", "", 0},
	} {
		got, err := in.Poll(t.Context(), c.link)
		failed := cloud.ErrorKind("")
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
