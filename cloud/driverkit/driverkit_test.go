package driverkit_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

// TestStart holds what happens to the cache after a step.
func TestStart(t *testing.T) {
	t.Parallel()
	held := &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited}
	for _, c := range []struct {
		reason string
		err    error
		save   bool
		want   string
	}{
		{"a step that succeeded leaves shared reads out of date", nil, true, "save touch unlock"},
		{"a refused step too, for it may have had its effect", &cloud.Error{Kind: cloud.Unavailable}, true, "save touch unlock"},
		{"a conflict means that something is not as it was observed", &cloud.Error{Kind: cloud.Conflict}, true, "save touch forget unlock"},
		{"a step that Muster's own budget refused has changed nothing", held, true, "save restore unlock"},
		{"without Save what was read is not restored", held, false, "touch unlock"},
	} {
		var did []string
		note := func(what string) func() { return func() { did = append(did, what) } }
		p := &driverkit.Pass{
			Start:  func(context.Context, pool.Step) error { return c.err },
			Redact: func(err error) error { return err },
			Unlock: note("unlock"), Touch: note("touch"), Forget: note("forget"),
		}
		if c.save {
			p.Save = func() func() {
				note("save")()
				return note("restore")
			}
		}
		err := driverkit.Start(t.Context(), func(context.Context, string) (*driverkit.Pass, error) { return p, nil }, "target", pool.Step{})
		if got := strings.Join(did, " "); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: want %q and %v, got %q and %v", c.reason, c.want, c.err, got, err)
		}
	}
}

// TestStartInPart holds that a step of which a part was sent before a rate budget held back the rest is told apart from one that was not
// sent.
func TestStartInPart(t *testing.T) {
	t.Parallel()
	held := &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited}
	read, write := wire.Call{Operation: "Describe", ReadOnly: true}, wire.Call{Operation: "Put"}
	for _, c := range []struct {
		reason string
		sent   []wire.Call
		err    error
		want   bool
	}{
		{"nothing was sent", nil, held, false},
		{"reads begin nothing", []wire.Call{read}, held, false},
		{"a write was sent", []wire.Call{read, write}, held, true},
		{"a refusal of the cloud is the step's", []wire.Call{write}, &cloud.Error{Kind: cloud.Denied}, false},
		{"all of it was accepted", []wire.Call{write}, nil, false},
	} {
		over := wire.New(wire.Options{Base: answering{}})
		p := &driverkit.Pass{Redact: func(err error) error { return err }, Unlock: func() {}, Touch: func() {}, Forget: func() {}}
		p.Start = func(ctx context.Context, _ pool.Step) error {
			for _, call := range c.sent {
				req, err := http.NewRequestWithContext(wire.WithCall(ctx, call), http.MethodPost, "http://cloud", nil)
				if err != nil {
					return err
				}
				reply, err := over.RoundTrip(req)
				if err != nil {
					return err
				}
				_ = reply.Body.Close()
			}
			return c.err
		}
		err := driverkit.Start(t.Context(), func(context.Context, string) (*driverkit.Pass, error) { return p, nil }, "target", pool.Step{})
		if got := cloud.StartedInPart(err); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: want started in part %t and %v, got %t and %v", c.reason, c.want, c.err, got, err)
		}
	}
}

// answering is a cloud that accepts everything.
type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	denied, conflict := &cloud.Error{Kind: cloud.Denied}, &cloud.Error{Kind: cloud.Conflict}
	var r driverkit.Refusal
	var reads []time.Duration
	read := func(after time.Duration, err error) error {
		return r.Tolerate(now.Add(after), 10*time.Second, func() error {
			reads = append(reads, after)
			return err
		})
	}
	if err := read(0, denied); err != nil || !errors.Is(r.Err, denied) {
		t.Errorf("want a denied read kept, got %v and %v", err, r.Err)
	}
	if err := read(time.Second, conflict); err != nil {
		t.Errorf("want no second read so soon, got %v", err)
	}
	if err := read(10*time.Second, conflict); !errors.Is(err, conflict) || r.Err != nil {
		t.Errorf("want any other error returned, got %v and %v", err, r.Err)
	}
	if want := []time.Duration{0, 10 * time.Second}; !slices.Equal(reads, want) {
		t.Errorf("want reads after %v, got %v", want, reads)
	}
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	named := driverkit.NamedGroup{ID: "id", Conflict: &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: "named"}}
	base := driverkit.Ownership{Group: "group g", Kind: "group", Tag: "muster.dev/owner", Rename: "in spec.name"}
	with := func(change func(*driverkit.Ownership)) driverkit.Ownership {
		o := base
		change(&o)
		return o
	}
	const left = " It is left alone. Delete it, or give this pool's group another name in spec.name"
	for _, c := range []struct {
		reason string
		o      driverkit.Ownership
		want   string
	}{
		{"no group", base, ""},
		{"the pool's own", with(func(o *driverkit.Ownership) { o.Exists, o.Owned = true, true }), ""},
		{"without a tag", with(func(o *driverkit.Ownership) { o.Exists = true }),
			"group g exists and is not this pool's: its tag muster.dev/owner is missing." + left},
		{"of another owner", with(func(o *driverkit.Ownership) { o.Exists, o.Owner = true, "x" }),
			`group g exists and is not this pool's: its tag muster.dev/owner is "x".` + left},
		{"the object names another group", with(func(o *driverkit.Ownership) { o.Named, o.GroupID = named, "id" }), "named"},
		{"the object named another group before", with(func(o *driverkit.Ownership) { o.Named, o.GroupID = named, "other" }), ""},
		{"the pool's own goes before the one that is named",
			with(func(o *driverkit.Ownership) { o.Exists, o.Owned, o.Named, o.GroupID = true, true, named, "id" }), ""},
	} {
		got := ""
		if cause := c.o.Conflict(); cause != nil {
			got = cause.Message
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
		if err := driverkit.Owned(c.o.Conflict()); (err != nil) != (c.want != "") || err != nil && cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("%s: want a conflict for a step: %t, got %v", c.reason, c.want != "", err)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	refused, unread := errors.New("exists"), errors.New("unread")
	for _, c := range []struct {
		reason  string
		readErr error
		created bool
		want    error
	}{
		{"an earlier request created it", nil, true, nil},
		{"another client created it", nil, false, refused},
		{"unknown until it is read", unread, true, unread},
	} {
		if got := driverkit.Confirm(refused, c.readErr, func() bool { return c.created }); !errors.Is(got, c.want) ||
			(got == nil) != (c.want == nil) {
			t.Errorf("%s: want %v, got %v", c.reason, c.want, got)
		}
	}
}

// TestSurgeRemoval holds what a removal leaves of a surge until it is recorded.
func TestSurgeRemoval(t *testing.T) {
	t.Parallel()
	if removal := driverkit.RemovalFromSurge("2-6", pool.PlannedSurge{Size: 6}, []string{"a"}); removal != nil {
		t.Errorf("want nothing remembered where there is no surge, got %+v", removal)
	}
	removal := driverkit.RemovalFromSurge("2-6", pool.PlannedSurge{Surge: 2, Size: 6}, []string{"a", "b", "c"})
	if removal.Under("2-6") != removal || removal.Under("1-5") != nil || removal.Under("") != nil {
		t.Error("want it remembered under its record alone")
	}
	for _, c := range []struct {
		why  string
		stay []string
		want pool.PlannedSurge
	}{
		{"more go than the surge has", []string{"d"}, pool.PlannedSurge{Surge: 0, Size: 3}},
		{"one goes", []string{"b", "c", "d"}, pool.PlannedSurge{Surge: 1, Size: 5}},
		{"refused", []string{"a", "b", "c", "d"}, pool.PlannedSurge{Surge: 2, Size: 6}},
	} {
		if got := removal.Left(c.stay); got != c.want {
			t.Errorf("%s: want %+v, got %+v", c.why, c.want, got)
		}
	}
}
