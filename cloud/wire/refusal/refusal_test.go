package refusal_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

func table() *refusal.Table {
	return refusal.New(refusal.Table{
		Spelling:  strings.ToLower,
		Codes:     map[cloud.ErrorKind][]string{cloud.Conflict: {"InUse"}, cloud.Denied: {"No", "InvalidToken"}},
		Manners:   []refusal.Manner{{Suffix: "quotaexceeded", Kind: cloud.Capacity}, {Prefix: "invalid", Kind: cloud.Invalid}},
		Absent:    []string{"NotFound"},
		Rewritten: append(refusal.Dropped(regexp.MustCompile(` \(request \w+\)`)), refusal.Rewritten{Part: regexp.MustCompile(`op-\d+`), By: "operation"}),
		Places:    []refusal.Place{{Name: regexp.MustCompile(`quota (\w+)`), Label: "quota "}, {Name: regexp.MustCompile(`zone-\w`)}},
	})
}

func TestKind(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]cloud.ErrorKind{"INUSE": cloud.Conflict, "no": cloud.Denied, "invalidToken": cloud.Denied,
		"InvalidName": cloud.Invalid, "CPUQuotaExceeded": cloud.Capacity, "Surprise": "", "": ""} {
		if got, ok := table().Kind(code); got != want || ok != (want != "") {
			t.Errorf("%q: want %q, got %q (%t)", code, want, got, ok)
		}
	}
	if kind, ok := table().Known("InvalidName"); ok {
		t.Errorf("want a code that only its manner tells not to be documented, got %q", kind)
	}
	for code, want := range map[string]bool{"notfound": true, "InUse": false, "": false} {
		if got := table().IsAbsent(&cloud.Error{Code: code}); got != want {
			t.Errorf("%q: want absent %t, got %t", code, want, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why     string
		failure refusal.ServiceError
		want    cloud.Error
	}{
		{"waiting helps", refusal.ServiceError{Kind: cloud.Throttled, Code: "c", Message: "m in zone-a"},
			cloud.Error{Kind: cloud.Throttled, Code: "c", Message: "m in zone-a", After: time.Second}},
		{"a lack of capacity has a place", refusal.ServiceError{Kind: cloud.Capacity, Code: "c", Message: "quota CPUS of zone-a"},
			cloud.Error{Kind: cloud.Capacity, Code: "c", Message: "quota CPUS of zone-a", Where: "quota CPUS, zone-a"}},
		{"what differs is left out",
			refusal.ServiceError{Kind: cloud.Denied, Message: "op-12 (request a1) failed.\n See https://x/y for more. Wait"},
			cloud.Error{Kind: cloud.Denied, Message: "operation failed. Wait"}},
		{"of a message of links alone the words stay", refusal.ServiceError{Kind: cloud.Denied, Message: "See https://x/y"},
			cloud.Error{Kind: cloud.Denied, Message: "See"}},
		{"nothing is said", refusal.ServiceError{Kind: cloud.Invalid, Status: http.StatusNotFound},
			cloud.Error{Kind: cloud.Invalid, Code: "NotFound"}},
	} {
		c.want.Op = "op"
		got := cloud.Error{Op: "op", After: time.Second}
		if table().Describe(&got, c.failure); got != c.want {
			t.Errorf("%s: want %+v, got %+v", c.why, c.want, got)
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]cloud.Error{
		http.StatusTooManyRequests:    {Kind: cloud.Throttled, Code: cloud.CodeNoCredentials, After: 3 * time.Second},
		http.StatusBadGateway:         {Kind: cloud.Unavailable, Code: cloud.CodeNoCredentials, After: 3 * time.Second},
		http.StatusBadRequest:         {Kind: cloud.Denied, Code: cloud.CodeNoCredentials},
		http.StatusServiceUnavailable: {Kind: cloud.Unavailable, Code: cloud.CodeNoCredentials, After: 3 * time.Second},
	} {
		var got cloud.Error
		table().Token(&got, refusal.ServiceError{Status: status}, http.Header{"Retry-After": {"3"}}, time.Time{})
		if got != want {
			t.Errorf("%d: want %+v, got %+v", status, want, got)
		}
	}
}

func TestUnsent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want cloud.ErrorKind
	}{
		{fmt.Errorf("sdk: %w", &wire.RateLimitedError{After: time.Second}), cloud.Throttled},
		{fmt.Errorf("sdk: %w", &refusal.Astray{Host: "elsewhere", Not: "ours"}), cloud.Denied},
		{errors.New("reset"), ""},
	} {
		var got cloud.Error
		if unsent := refusal.Unsent(&got, c.err); unsent != (c.want != "") || got.Kind != c.want {
			t.Errorf("%v: want %q, got %+v (%t)", c.err, c.want, got, unsent)
		}
	}
	for body, want := range map[string]bool{" <html>": true, "{}": false, "": false} {
		got := refusal.NotFromService(http.StatusNotFound, []byte(body))
		if got != want || refusal.NotFromService(http.StatusBadGateway, []byte(body)) {
			t.Errorf("%q: want %t for 404 and false for 502", body, want)
		}
	}
}
