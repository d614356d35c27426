package driverkit_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

func TestReusable(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	for _, c := range []struct {
		why    string
		read   time.Time
		maxAge time.Duration
		want   bool
	}{
		{"never read", time.Time{}, time.Hour, false},
		{"young enough", now.Add(-time.Second), time.Second, true},
		{"too old", now.Add(-2 * time.Second), time.Second, false},
		{"wanted as it is now", now, 0, false},
		{"wanted without shared reads", now, cloud.NoSharedCache, false},
	} {
		if got := driverkit.Reusable(c.read, now, c.maxAge); got != c.want {
			t.Errorf("%s: want %t, got %t", c.why, c.want, got)
		}
	}
}

func TestNotYetShown(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	err := driverkit.NotYetShown("group g", now.Add(-time.Second), now, 2*time.Second)
	if cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "GroupNotShown" {
		t.Errorf("want a conflict right after the creation, got %v", err)
	}
	for _, created := range []time.Time{{}, now.Add(-2 * time.Second)} {
		if err := driverkit.NotYetShown("group g", created, now, 2*time.Second); err != nil {
			t.Errorf("created at %s: want the read to be believed, got %v", created, err)
		}
	}
}

func TestExisting(t *testing.T) {
	t.Parallel()
	if is, err := driverkit.Existing(new(1), "group g"); err != nil || *is != 1 {
		t.Errorf("want the group, got %v and %v", is, err)
	}
	is, err := driverkit.Existing[int](nil, "group g")
	if is != nil || cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "GroupGone" {
		t.Errorf("want a conflict without a group, got %v and %v", is, err)
	}
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	a, b := pool.Template{Ref: "a", Content: "1"}, pool.Template{Ref: "b", Content: "2"}
	for _, c := range []struct {
		why   string
		next  pool.Template
		known bool
		want  []pool.Template
	}{
		{"the next step leads to another", b, true, []pool.Template{b, a}},
		{"it leads to the same", a, true, []pool.Template{a}},
		{"it is not known", b, false, []pool.Template{a}},
	} {
		if got := driverkit.Configurations(c.next, a, c.known); !slices.Equal(got, c.want) {
			t.Errorf("%s: want %v, got %v", c.why, c.want, got)
		}
	}
}

func TestSortByAge(t *testing.T) {
	t.Parallel()
	at := time.Unix(100, 0)
	list := []pool.Instance{{ID: "unknown"}, {ID: "young", Created: at.Add(1)}, {ID: "b", Created: at}, {ID: "a", Created: at}}
	driverkit.SortByAge(list)
	var ids []string
	for _, i := range list {
		ids = append(ids, i.ID)
	}
	if want := []string{"a", "b", "young", "unknown"}; !slices.Equal(ids, want) {
		t.Errorf("want %v, got %v", want, ids)
	}
}

func TestConflictWith(t *testing.T) {
	t.Parallel()
	template := &pool.Cause{Reason: "template"}
	for _, c := range []struct {
		why  string
		o    driverkit.Ownership
		want string
	}{
		{"no group", driverkit.Ownership{}, "template"},
		{"the pool's own group", driverkit.Ownership{Exists: true, Claim: cloud.Claim{Owned: true}}, ""},
		{"a group of another owner", driverkit.Ownership{Exists: true}, cloud.ReasonOwnershipConflict},
	} {
		got := ""
		if cause := c.o.ConflictWith(template); cause != nil {
			got = cause.Reason
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	own, other := driverkit.Ownership{Exists: true, Claim: cloud.Claim{Owned: true}}, driverkit.Ownership{Exists: true}
	none := driverkit.Ownership{}
	if own.Permits(pool.Resize) != nil || none.Permits(pool.CreateGroup) != nil || other.Permits(pool.Adopt, pool.Adopt) != nil {
		t.Error("want the pool's own group changed, one created where there is none, and another one adopted")
	}
	if err := other.Permits(pool.Resize, pool.Adopt); cloud.KindOf(err) != cloud.Conflict {
		t.Errorf("want a conflict for the group of another owner, got %v", err)
	}
}

// TestObserveWanted holds what is observed of what the specification wants, and where the observation ends.
func TestObserveWanted(t *testing.T) {
	t.Parallel()
	next := pool.Template{Ref: "next", Content: "v1:0"}
	failed := &cloud.Error{Kind: cloud.Invalid, Message: "no such size"}
	for _, c := range []struct {
		reason   string
		failed   error
		exists   bool
		wanted   string
		versions int
		issues   int
		ends     bool
	}{
		{"nothing exists: the group is created of the configuration", nil, false, "v1:0", 1, 0, false},
		{"the group exists: its versions are observed with it", nil, true, "v1:0", 0, 0, false},
		{"what can't be made keeps the group from being created", failed, false, "", 0, 0, true},
		{"what can't be made is an issue of a group that exists", failed, true, "", 0, 1, false},
	} {
		var out pool.Observed
		err := driverkit.ObserveWanted(&out, next, c.failed, c.exists)
		var unsatisfiable *cloud.SpecUnsatisfiableError
		if errors.As(err, &unsatisfiable) != c.ends || out.Wanted.Content != c.wanted || out.Wanted.Ref != "" ||
			len(out.Versions) != c.versions || len(out.Issues) != c.issues || len(out.Unresolved) != c.issues {
			t.Errorf("%s: got %v and %+v", c.reason, err, out)
		}
	}
}
