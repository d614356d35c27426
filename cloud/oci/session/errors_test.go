package session

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/containerengine"
)

func get(t *testing.T, s *Session, id string) error {
	t.Helper()
	_, err := s.Engine.GetNodePool(t.Context(), containerengine.GetNodePoolRequest{NodePoolId: &id})
	return err
}

// TestRefusals: each code has a kind, with Oracle's own words, and a page of something else tells nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html"}}
	for _, c := range []struct {
		reason string
		reply  reply
		kind   cloud.ErrorKind
		words  string
		part   string
	}{
		{reason: "what is denied or gone is denied", kind: cloud.Denied, words: "OCIClusterIdentity/default/tenant: NotAuthorizedOrNotFound: no",
			reply: reply{status: 404, body: `{"code":"NotAuthorizedOrNotFound","message":"no"}`}},
		{reason: "an operation that does not exist is no answer of the service", kind: cloud.Unavailable, words: "404",
			reply: reply{status: 404, body: `{"code":"NotFound","message":"no operation"}`}},
		{reason: "the page of a proxy", kind: cloud.Unavailable, words: "404", reply: reply{status: 404, header: html, body: "<html>"}},
		{reason: "JSON that is no error", kind: cloud.Unavailable, words: "400", reply: reply{status: 400, body: `{"a":1}`}},
		{reason: "a page in place of a node pool", kind: cloud.Unavailable, words: "200", reply: reply{header: html, body: "<html>"}},
		{reason: "a redirect", kind: cloud.Unavailable, words: "307", reply: reply{status: 307,
			header: http.Header{"Location": {"https://e.example/"}}}},
		{reason: "too many requests", kind: cloud.Throttled, words: "TooManyRequests",
			reply: reply{status: 429, body: `{"code":"TooManyRequests","message":"slow down"}`}},
		{reason: "too many requests, in words that are no JSON", kind: cloud.Throttled, words: "TooManyRequests",
			reply: reply{status: 429, body: "slow", header: http.Header{"Retry-After": {"7"}}}},
		{reason: "a parameter", kind: cloud.Invalid, part: "nodeShape", words: "Node shape X is unavailable",
			reply: reply{status: 400, body: `{"code":"InvalidParameter","message":"Invalid nodeShape: Node shape X is unavailable."}`}},
		{reason: "a parameter that is missing", kind: cloud.Invalid, part: "name", words: "must be specified",
			reply: reply{status: 400, body: `{"code":"MissingParameter","message":"name must be specified."}`}},
		{reason: "a limit", kind: cloud.Capacity, words: "LimitExceeded",
			reply: reply{status: 400,
				body: `{"code":"LimitExceeded","message":"The following service limits were exceeded: standard-e4-core-count."}`}},
		{reason: "a quota", kind: cloud.Capacity, words: "QuotaExceeded", reply: reply{status: 400,
			body: `{"code":"QuotaExceeded","message":"q"}`}},
		{reason: "hosts", kind: cloud.Capacity, words: "Out of host capacity",
			reply: reply{status: 500, body: `{"code":"InternalError","message":"Out of host capacity."}`}},
		{reason: "any other internal error", kind: cloud.Unavailable, words: "InternalError",
			reply: reply{status: 500, body: `{"code":"InternalError","message":"An internal server error occurred."}`}},
		{reason: "a state that passes", kind: cloud.Conflict, words: "UPDATING",
			reply: reply{status: 409, body: `{"code":"IncorrectState","message":"The node pool is UPDATING."}`}},
		{reason: "a state that does not pass", kind: cloud.Invalid, words: "Conflict",
			reply: reply{status: 409, body: `{"code":"Conflict","message":"Not both."}`}},
		{reason: "a retry token that is out of date", kind: cloud.Conflict, words: "InvalidatedRetryToken",
			reply: reply{status: 409, body: `{"code":"InvalidatedRetryToken","message":"used"}`}},
		{reason: "an etag", kind: cloud.Conflict, words: "NoEtagMatch", reply: reply{status: 412,
			body: `{"code":"NoEtagMatch","message":"other"}`}},
		{reason: "a key", kind: cloud.Denied, words: "OCIClusterIdentity/default/tenant: NotAuthenticated",
			reply: reply{status: 401, body: `{"code":"NotAuthenticated","message":"no key"}`}},
		{reason: "no answer", kind: cloud.Unavailable, words: "no reply", reply: reply{err: errors.New("dial")}},
	} {
		s, sent := over(t, c.reply)
		err := get(t, s, "ocid1.nodepool.oc1.iad.a")
		if cloud.KindOf(err) != c.kind || driverkit.PartOf(err) != c.part || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: want kind %s with %q about %q, got %s, %v about %q", c.reason, c.kind, c.words, c.part, cloud.KindOf(err), err,
				driverkit.PartOf(err))
		}
		if len(sent.requests) != 1 || !strings.HasPrefix(err.Error(), "containerengine:GetNodePool: ") {
			t.Errorf("%s: want one request and the call named, got %v, %v", c.reason, sent.requests, err)
		}
		var e *cloud.Error
		if c.reply.header.Get("Retry-After") != "" && (!errors.As(err, &e) || e.After != 7*time.Second) {
			t.Errorf("%s: want the time to wait, got %+v", c.reason, e)
		}
	}
}

// TestUnsendable: a text that is no identifier reaches no path.
func TestUnsendable(t *testing.T) {
	t.Parallel()
	s, sent := over(t, reply{})
	if err := get(t, s, "../clusters"); cloud.KindOf(err) != cloud.Invalid || len(sent.requests) > 0 {
		t.Errorf("want an identifier refused before it is sent, got %v after %v", err, sent.requests)
	}
}

// TestBoundedAnswer: an address that a tenant names can't fill the memory.
func TestBoundedAnswer(t *testing.T) {
	t.Parallel()
	s, _ := over(t, reply{body: `"` + strings.Repeat("a", maxBody) + `"`})
	if err := get(t, s, "ocid1.nodepool.oc1.iad.a"); cloud.KindOf(err) != cloud.Unavailable {
		t.Errorf("want an answer that is too long refused, got %v", err)
	}
}

// TestFailures: what nodes and work requests report has the kind of an answer.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, message string
		kind          cloud.ErrorKind
		where         string
	}{
		{"InternalError", "Out of host capacity.", cloud.Capacity, ""},
		{"OutOfCapacity", "none in Uocm:PHX-AD-1", cloud.Capacity, "availability domain Uocm:PHX-AD-1"},
		{"LimitExceeded", "The following service limits were exceeded: standard-e4-core-count. Request", cloud.Capacity,
			"limit standard-e4-core-count"},
		{"InvalidParameter", "Shape is not valid for image", cloud.Invalid, ""},
		{"RegisterTimeout", "1 nodes(s) register timeout", cloud.Unavailable, ""},
	} {
		if e := FailureOf(c.code, c.message); e.Kind != c.kind || e.Where != c.where || e.Code != c.code {
			t.Errorf("%s: want %s at %q, got %+v", c.message, c.kind, c.where, e)
		}
	}
}
