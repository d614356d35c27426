package instancegroup_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// failing accepts the creation of a group and fails its operation afterwards.
type failing struct {
	next  http.RoundTripper
	asked int
	// running is true while the operation goes on.
	running bool
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	const link = "https://www.googleapis.com/compute/v1/projects/" + project + "/zones/" + zone + "/operations/operation-1"
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instanceGroupManagers"):
		body = `{"name":"operation-1","status":"RUNNING","selfLink":"` + link + `"}`
	case strings.HasSuffix(r.URL.Path, "/operations/operation-1"):
		f.asked++
		if body = `{"name":"operation-1","status":"RUNNING"}`; f.running {
			break
		}
		body = `{"name":"operation-1","status":"DONE","error":{"errors":[{"code":"QUOTA_EXCEEDED","message":"Quota 'INSTANCE_GROUP_MANAGERS' exceeded.  Limit: 5.0 in region us-central1."}]}}`
	default:
		return f.next.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestFailedOperation holds that an operation which fails after it was accepted is told in Compute Engine's words, also by a process that
// has not begun it, and asked for once.
func TestFailedOperation(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		f := &failing{next: sim.Transport{Handler: w.cloud}}
		var err error
		if w.driver, err = instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: f}); err != nil {
			w.Fatal(err)
		}
		w.start(pool.Step{Kind: pool.PutTemplate})
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1, Template: w.observe().Latest().Ref})
		const want = "QUOTA_EXCEEDED: Quota 'INSTANCE_GROUP_MANAGERS' exceeded. Limit: 5.0 in region us-central1."
		o := w.observe()
		if len(o.Issues) != 1 || o.Issues[0] != (pool.Cause{Reason: string(cloud.Capacity), Message: want}) || len(o.Operations) != 1 {
			w.Fatalf("want the failure told, got %+v, %+v", o.Issues, o.Operations)
		}
		time.Sleep(time.Minute)
		if w.observe(); f.asked != 1 {
			w.Errorf("want the operation asked for once, got %d", f.asked)
		}
		if w.driver, err = instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: f}); err != nil {
			w.Fatal(err)
		}
		w.target.Operations = o.Operations
		if again := w.observe(); len(again.Issues) != 1 || again.Issues[0] != o.Issues[0] {
			w.Errorf("want the failure told by another process, got %+v", again.Issues)
		}
	})
}

// TestSlowCreation holds that a group whose creation goes on is not taken for one that does not exist: its object would be released.
func TestSlowCreation(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		f := &failing{next: sim.Transport{Handler: w.cloud}, running: true}
		var err error
		if w.driver, err = instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: f}); err != nil {
			w.Fatal(err)
		}
		w.start(pool.Step{Kind: pool.PutTemplate})
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1, Template: w.observe().Latest().Ref})
		w.target.Deleting = true
		if _, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want to be told to look again, got %v", err)
		}
		f.running = false
		if o := w.observe(); o.Group != nil || len(o.Issues) != 1 {
			w.Errorf("want the group known not to exist, and why, got %+v", o)
		}
	})
}

// TestLostReplies holds that a group whose creation was sent and not answered is not taken for one that does not exist while reads may be
// from before it: its object would be released, or the group created a second time. One whose deletion was not answered is being deleted.
func TestLostReplies(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.start(pool.Step{Kind: pool.PutTemplate})
		create := pool.Step{Kind: pool.CreateGroup, Size: 1, Template: w.observe().Latest().Ref}
		for _, f := range []sim.Fault{
			{Kind: sim.DropAfter, Action: "instanceGroupManagers.insert", Times: 1},
			{Kind: sim.DropAfter, Action: "instanceGroupManagers.delete", Times: 1},
			{Kind: sim.Stale, Action: "instanceGroupManagers.*", Delay: sim.Duration(time.Minute)},
		} {
			if err := w.cloud.Faults().Add(f); err != nil {
				w.Fatal(err)
			}
		}
		if err := w.driver.Start(w.Context(), w.target, create); cloud.KindOf(err) != cloud.Unavailable {
			w.Fatalf("want the reply lost, got %v", err)
		}
		time.Sleep(time.Second)
		if o, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want to be told to look again, got %+v, %v", o.Group, err)
		}
		settle()
		if o := w.observe(); o.Group == nil {
			w.Fatal("want the group that the lost request has created, got none")
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.DeleteGroup}); cloud.KindOf(err) != cloud.Unavailable {
			w.Fatalf("want the reply lost, got %v", err)
		}
		time.Sleep(time.Second)
		if o := w.observe(); o.Group == nil || !o.Group.Deleting {
			w.Errorf("want the group being deleted although it is shown as before, got %+v", o.Group)
		}
	})
}

// TestRemovalWithoutEffect holds that machines which an accepted request has left are removed by the next one.
func TestRemovalWithoutEffect(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		gone := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: w.create(2).Instances[0].ID}}}
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "instanceGroupManagers.deleteInstances", Times: 1}); err != nil {
			w.Fatal(err)
		}
		w.start(gone)
		if o := w.observe(); len(o.Instances) != 2 {
			w.Fatalf("want the first request without an effect, got %+v", o.Instances)
		}
		w.start(gone)
		if o := w.observe(); len(o.Instances) != 1 || o.Group.Size != 1 {
			w.Errorf("want the second request carried out, got %+v", o)
		}
	})
}
