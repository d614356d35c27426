package driverkit_test

import (
	"context"
	"errors"
	"io"
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

// call is a pass of a driver that notes what the frame does with it.
type call struct{ did *[]string }

func (c call) note(what string) { *c.did = append(*c.did, what) }

// kindOf returns a kind whose only step is to resize, with that outcome.
func kindOf(resize func(ctx context.Context) error) driverkit.Kind[call] {
	return driverkit.Kind[call]{
		Group:     "a group",
		Observe:   func(c call, _ context.Context) (pool.Observed, error) { c.note("observe"); return pool.Observed{}, nil },
		Look:      func(c call, _ context.Context, _ pool.Step) error { c.note("look"); return nil },
		Ownership: func(call) driverkit.Ownership { return driverkit.Ownership{} },
		Steps: driverkit.Steps[call]{
			pool.Resize: func(c call, ctx context.Context, _ pool.Step) error { c.note("resize"); return resize(ctx) },
		},
		Save: func(c call) func() {
			c.note("save")
			return func() { c.note("restore") }
		},
		Touch: func(c call) { c.note("touch") }, Forget: func(c call) { c.note("forget") },
	}
}

// over returns a driver of a kind with sessions that never fail. What it does is added to did.
func over(kind driverkit.Kind[call], did *[]string) *driverkit.Driver[string, call, int] {
	return driverkit.Over(kind, func(_ context.Context, _ cloud.Target[string], from *driverkit.Memories[int]) (call, error) {
		*from.Of(time.Unix(0, 0), "session")++
		return call{did: did}, nil
	}, func() {})
}

func target() cloud.Target[string] {
	return cloud.Target[string]{Owner: cloud.Owner{ID: "id", Cluster: "c", Namespace: "ns", Name: "mp", Kind: "pool"}}
}

// TestStart holds in which order a step is begun, and what happens to what is remembered after it.
func TestStart(t *testing.T) {
	t.Parallel()
	held := &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited}
	refused := errors.New("refused")
	type kind = driverkit.Kind[call]
	for _, c := range []struct {
		reason string
		err    error
		change func(k *kind)
		want   string
	}{
		{"a step that succeeded leaves shared reads out of date", nil, nil, "save look resize touch"},
		{"a refused step too, for it may have had its effect", &cloud.Error{Kind: cloud.Unavailable}, nil, "save look resize touch"},
		{"a conflict means that something is not as it was observed", &cloud.Error{Kind: cloud.Conflict}, nil, "save look resize touch forget"},
		{"a step that Muster's own budget refused has changed nothing", held, nil, "save look resize restore"},
		{"without Save what was read is not restored", held, func(k *kind) { k.Save = nil }, "look resize touch"},
		{"a look that fails begins nothing", refused, func(k *kind) {
			k.Look = func(call, context.Context, pool.Step) error { return refused }
		}, "save touch"},
		{"the group of another owner is left alone", &cloud.Error{Kind: cloud.Conflict}, func(k *kind) { k.Ownership = another },
			"save look touch forget"},
		{"except by a step that does not depend on the owner", nil, func(k *kind) {
			k.Ownership, k.AnyOwner = another, []pool.StepKind{pool.Resize}
		}, "save look resize touch"},
		{"a step that is not in the table is not begun", errors.ErrUnsupported, func(k *kind) { k.Steps = nil }, "save touch"},
		{"the kind explains errors", refused, func(k *kind) {
			k.Explain = func(call, error) error { return refused }
		}, "save look resize touch"},
	} {
		var did []string
		k := kindOf(func(context.Context) error { return c.err })
		if c.change != nil {
			c.change(&k)
		}
		err := over(k, &did).Start(t.Context(), target(), pool.Step{Kind: pool.Resize})
		same := errors.Is(err, c.err) || cloud.KindOf(err) != "" && cloud.KindOf(err) == cloud.KindOf(c.err) || k.Steps == nil && err != nil
		if got := strings.Join(did, " "); got != c.want || !same {
			t.Errorf("%s: want %q and %v, got %q and %v", c.reason, c.want, c.err, got, err)
		}
	}
}

// another is the ownership of a group of another owner.
func another(call) driverkit.Ownership {
	return driverkit.Ownership{Exists: true, Claim: cloud.Claim{Tag: "owner", ID: "other"}}
}

// TestRemembered holds that what is remembered of a pool is its own, and that an owner without an ID is refused before anything is read.
func TestRemembered(t *testing.T) {
	t.Parallel()
	var did []string
	var counts []int
	d := driverkit.Over(kindOf(nil), func(_ context.Context, t cloud.Target[string], from *driverkit.Memories[int]) (call, error) {
		m := from.Of(time.Unix(0, 0), "session", t.Spec)
		*m++
		counts = append(counts, *m)
		return call{did: &did}, nil
	}, func() {})
	preview, other := target(), target()
	preview.AssumeOwned, other.Spec = true, "other"
	for _, one := range []cloud.Target[string]{target(), target(), preview, other, target()} {
		if _, err := d.Observe(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{1, 2, 1, 1, 3}; !slices.Equal(counts, want) {
		t.Errorf("want how often each was observed %v, got %v", want, counts)
	}
	if _, err := d.Observe(t.Context(), cloud.Target[string]{}); cloud.KindOf(err) != cloud.Invalid || len(counts) != 5 {
		t.Errorf("want an owner without an ID refused, got %v", err)
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
		transport, did := wire.New(wire.Options{Base: answering{}}), []string{}
		d := over(kindOf(func(ctx context.Context) error {
			for _, one := range c.sent {
				req, err := http.NewRequestWithContext(wire.WithCall(ctx, one), http.MethodPost, "http://cloud", nil)
				if err != nil {
					return err
				}
				reply, err := transport.RoundTrip(req)
				if err != nil {
					return err
				}
				_ = reply.Body.Close()
			}
			return c.err
		}), &did)
		err := d.Start(t.Context(), target(), pool.Step{Kind: pool.Resize})
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

// TestRefusal holds which failures of a read an observation goes on without, and when the read is tried again.
func TestRefusal(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	denied, unavailable := &cloud.Error{Kind: cloud.Denied}, &cloud.Error{Kind: cloud.Unavailable}
	throttled := &cloud.Error{Kind: cloud.Throttled, After: 20 * time.Second}
	held := &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited}
	conflict := &cloud.Error{Kind: cloud.Conflict}
	type read struct {
		after    time.Duration
		err      error
		returned bool
		// resting is true if the read is not tried.
		resting bool
	}
	for _, c := range []struct {
		reason string
		reads  []read
	}{
		{"a read that succeeds", []read{{}, {after: time.Second}}},
		{"a denied read is kept, and rests", []read{{err: denied}, {after: time.Second, resting: true}, {after: 10 * time.Second}}},
		{"so is one without an answer", []read{{err: unavailable}, {after: time.Second, resting: true}, {after: 10 * time.Second}}},
		{"so is an error that no cloud answered", []read{{err: io.EOF}, {after: time.Second, resting: true}}},
		{"what is not as it was read is read again", []read{{err: conflict, returned: true}, {after: 1}}},
		{"a budget of Muster's own is waited for, however long", []read{
			{err: held, returned: true}, {after: time.Hour, err: held, returned: true}}},
		{"a throttled look is repeated for a minute, and then rests as long as the cloud asks", []read{
			{err: throttled, returned: true}, {after: 59 * time.Second, err: throttled, returned: true}, {after: time.Minute, err: throttled},
			{after: 79 * time.Second, resting: true}, {after: 80 * time.Second}}},
		{"one that is throttled much later begins a minute of its own", []read{
			{err: throttled, returned: true}, {after: 10 * time.Minute, err: throttled, returned: true}}},
	} {
		var r driverkit.Refusal
		for k, is := range c.reads {
			tried := false
			err := r.Tolerate(now.Add(is.after), 10*time.Second, func() error { tried = true; return is.err })
			if tried == is.resting || (err != nil) != is.returned {
				t.Errorf("%s, read %d: want tried %t and the error returned %t, got %t and %v", c.reason, k, !is.resting, is.returned, tried, err)
			}
			if kept := is.err != nil && !is.returned || is.resting; (r.Cause() != nil) != kept {
				t.Errorf("%s, read %d: want the failure kept %t, got %v", c.reason, k, kept, r.Cause())
			}
		}
	}
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	named := driverkit.NamedGroup{ID: "id", Conflict: &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: "named"}}
	base := driverkit.Ownership{Group: "group g", Kind: "group", Rename: "in spec.name"}
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
		{"the pool's own", with(func(o *driverkit.Ownership) { o.Exists, o.Claim.Owned = true, true }), ""},
		{"without a tag", with(func(o *driverkit.Ownership) { o.Exists, o.Claim.Tag = true, "muster.dev/owner" }),
			"group g exists and is not this pool's: its tag muster.dev/owner is missing." + left},
		{"of another owner", with(func(o *driverkit.Ownership) { o.Exists, o.Claim = true, cloud.Claim{Tag: "muster.dev/owner", ID: "x"} }),
			`group g exists and is not this pool's: its tag muster.dev/owner is "x".` + left},
		{"with the pool's ID, and another object's name", with(func(o *driverkit.Ownership) { o.Exists, o.Claim.Differs = true, "DIFFERS" }),
			"group g exists and is not this pool's: it has this pool's owner ID, and its other tags name another object: DIFFERS. " +
				"It is left alone. If the pool was moved, have the operator of the account change these tags (docs/identity.md); otherwise " +
				"remove the annotation muster.dev/owner-id from this object"},
		{"the object names another group", with(func(o *driverkit.Ownership) { o.Named, o.GroupID = named, "id" }), "named"},
		{"the object named another group before", with(func(o *driverkit.Ownership) { o.Named, o.GroupID = named, "other" }), ""},
		{"the pool's own goes before the one that is named",
			with(func(o *driverkit.Ownership) { o.Exists, o.Claim.Owned, o.Named, o.GroupID = true, true, named, "id" }), ""},
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

// TestSurge holds how a record is read, what is left of the surge, and how that is recorded.
func TestSurge(t *testing.T) {
	t.Parallel()
	spelling := driverkit.SurgeSpelling{Numbers: "-", Notes: "_"}
	for _, c := range []struct {
		why, record string
		size, count int
		stale       bool
		planned     pool.PlannedSurge
		want        string
	}{
		{"nothing is recorded", "", 4, 0, false, pool.PlannedSurge{}, "0-4"},
		{"all of it is there", "2-6", 6, 2, false, pool.PlannedSurge{}, "2-6"},
		{"an autoscaler has added others", "2-6", 9, 2, false, pool.PlannedSurge{}, "2-9"},
		{"a removal has used up a part", "2-6", 5, 1, true, pool.PlannedSurge{}, "1-5"},
		{"removals have used up more", "2-6", 3, 0, true, pool.PlannedSurge{}, "0-3"},
		{"the next surge does not count yet", "0-3_2-5", 4, 0, false, pool.PlannedSurge{Surge: 2, Size: 5}, "0-4_2-5"},
		{"no record", "yes", 4, 0, false, pool.PlannedSurge{}, "0-4"},
		{"no surge can be negative", "-2-6", 6, 0, false, pool.PlannedSurge{}, "0-6"},
	} {
		s := spelling.Read(c.record, c.size, nil)
		got := spelling.Record(pool.PlannedSurge{Surge: s.Count(), Size: s.Size}, s.Planned)
		if s.Count() != c.count || s.Stale() != c.stale || s.Planned != c.planned || got != c.want {
			t.Errorf("%s: want %d, stale %t, planned %+v, %q, got %+v, %q", c.why, c.count, c.stale, c.planned, c.want, s, got)
		}
	}
	s := spelling.Read("2-6", 6, nil)
	s.Removal, s.Stay = s.Without([]string{"a"}), []string{"b"}
	if s.Now() != (pool.PlannedSurge{Surge: 1, Size: 5}) || spelling.Read("1-5", 6, s.Removal).Removal != nil {
		t.Errorf("want the removal counted until the record counts it, got %+v", s)
	}
	if again := spelling.Read("2-6", 6, s.Removal); again.Removal == nil || spelling.Read("", 6, s.Removal).Without([]string{"b"}) != nil {
		t.Errorf("want the removal remembered under its record alone, got %+v", again)
	}
}
