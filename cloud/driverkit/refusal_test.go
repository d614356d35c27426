package driverkit_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

func TestFailureOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    cloud.Error
		want pool.Cause
	}{
		{cloud.Error{Kind: cloud.Capacity, Code: "c", Message: "m"}, pool.Cause{Reason: "Capacity", Message: "c: m"}},
		{cloud.Error{Kind: cloud.Denied, Code: "c"}, pool.Cause{Reason: "Denied", Message: "c"}},
		{cloud.Error{Kind: cloud.Unavailable, Message: "m"}, pool.Cause{Reason: "LaunchFailed", Message: "m"}},
	} {
		if got := driverkit.FailureOf(&c.e); got != c.want {
			t.Errorf("%+v: want %+v, got %+v", c.e, c.want, got)
		}
	}
}

func TestVanishedAs(t *testing.T) {
	t.Parallel()
	for absent, want := range map[bool]cloud.ErrorKind{true: cloud.Conflict, false: cloud.Invalid} {
		if err := driverkit.VanishedAs(&cloud.Error{Kind: cloud.Invalid}, absent); cloud.KindOf(err) != want {
			t.Errorf("absent %t: want %s, got %v", absent, want, err)
		}
	}
}

func TestTargetOf(t *testing.T) {
	t.Parallel()
	invalid := &cloud.Error{Kind: cloud.Invalid}
	err := driverkit.AboutPart(invalid, "diskSize")
	if driverkit.PartOf(err) != "diskSize" || !errors.Is(err, invalid) {
		t.Errorf("want the target and the refusal, got %q and %v", driverkit.PartOf(err), err)
	}
	for _, err := range []error{nil, invalid, driverkit.AboutPart(invalid, ""),
		driverkit.AboutPart(&cloud.Error{Kind: cloud.Denied}, "diskSize")} {
		if target := driverkit.PartOf(err); target != "" {
			t.Errorf("%v: want no target, got %q", err, target)
		}
	}
}

func TestClockSkew(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct {
		why   string
		reply http.Header
		want  time.Duration
	}{
		{"no header", nil, 0},
		{"the second in which it was under way", dated(now.Add(-time.Second)), 0},
		{"behind", dated(now.Add(-2 * time.Second)), -2 * time.Second},
		{"ahead", dated(now.Add(time.Minute)), time.Minute},
	} {
		if got := driverkit.ClockSkew(c.reply, now); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

func dated(at time.Time) http.Header { return http.Header{"Date": {at.Format(http.TimeFormat)}} }
