package session

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

// TestRefusals: each type of refusal has a kind, with Scaleway's own words, and a page of something else tells nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	html := http.Header{"Content-Type": {"text/html"}}
	for _, c := range []struct {
		reason string
		reply  reply
		kind   cloud.ErrorKind
		words  string
		absent bool
		part   string
	}{
		{reason: "a pool that does not exist", kind: cloud.Invalid, absent: true, words: "pool: resource is not found", reply: reply{status: 404,
			body: `{"message":"resource is not found","resource":"pool","resource_id":"x","type":"not_found"}`}},
		{reason: "the page of a proxy is no pool that is gone", kind: cloud.Unavailable, words: "404", reply: reply{status: 404, header: html,
			body: "<html>not found</html>"}},
		{reason: "a proxy that calls its page JSON", kind: cloud.Unavailable, words: "404", reply: reply{status: 404, body: "<html>"}},
		{reason: "a 404 without a type is the router's", kind: cloud.Unavailable, words: "404", reply: reply{status: 404, body: `{"message":"no"}`}},
		{reason: "a page in place of a list", kind: cloud.Unavailable, words: "200", reply: reply{header: html, body: "<html>"}},
		{reason: "a gateway that fails", kind: cloud.Unavailable, words: "502", reply: reply{status: 502, header: html, body: "<html>"}},
		{reason: "too many requests, in words that are no JSON", kind: cloud.Throttled, words: "TooManyRequests", reply: reply{status: 429,
			header: http.Header{"Content-Type": {"text/plain"}, "Retry-After": {"7"}}, body: "slow down"}},
		{reason: "an argument", kind: cloud.Invalid, part: "node_type", words: "node_type: unknown type", reply: reply{status: 400,
			body: `{"type":"invalid_arguments","message":"invalid argument(s)","details":[{"argument_name":"node_type","reason":"constraint",` +
				`"help_message":"unknown type"}]}`}},
		{reason: "a quota", kind: cloud.Capacity, words: "quota of instances: 10 of 10 are used", reply: reply{status: 403,
			body: `{"type":"quotas_exceeded","message":"quota exceeded","details":[{"resource":"instances","quota":10,"current":10}]}`}},
		{reason: "a stock", kind: cloud.Capacity, words: "pro2_xxs", reply: reply{status: 412, body: `{"type":"out_of_stock","resource":"pro2_xxs"}`}},
		{reason: "a transient state", kind: cloud.Conflict, words: "the pool is scaling", reply: reply{status: 409,
			body: `{"type":"transient_state","resource":"pool","resource_id":"x","current_state":"scaling"}`}},
		{reason: "a precondition", kind: cloud.Conflict, words: "resize runs", reply: reply{status: 412,
			body: `{"type":"precondition_failed","precondition":"resource_still_in_use","help_message":"resize runs"}`}},
		{reason: "a permission", kind: cloud.Denied, words: "Secret/default/scaleway: permissions_denied: no; write pool", reply: reply{
			status: 403, body: `{"type":"permissions_denied","message":"no","details":[{"resource":"pool","action":"write"}]}`}},
		{reason: "a key that has expired", kind: cloud.Denied, words: "expired", reply: reply{status: 401,
			body: `{"type":"denied_authentication","method":"api_key","reason":"expired"}`}},
		{reason: "a lock", kind: cloud.Denied, words: "locked", reply: reply{status: 403, body: `{"type":"locked","resource":"cluster"}`}},
		{reason: "a type that no list has, by its status", kind: cloud.Unavailable, words: "odd: broken", reply: reply{status: 500,
			body: `{"type":"odd","message":"broken, request id: 0f6f8d5e-1111-4111-8111-111111111111"}`}},
		{reason: "no answer", kind: cloud.Unavailable, words: "no reply", reply: reply{err: errors.New("dial " + secretKey)}},
	} {
		s, _ := over(t, c.reply)
		err := s.Do(t.Context(), Request{Operation: "GetPool", Method: http.MethodGet, Path: "/pools/x"}, &struct{}{})
		if cloud.KindOf(err) != c.kind || Absent(err) != c.absent || driverkit.PartOf(err) != c.part || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: want kind %s with %q about %q, absent %t, got %s, %v about %q", c.reason, c.kind, c.words, c.part, c.absent,
				cloud.KindOf(err), err, driverkit.PartOf(err))
		}
		if strings.Contains(err.Error(), secretKey) || strings.Contains(err.Error(), "0f6f8d5e") {
			t.Errorf("%s: want no secret and no request ID in an error, got %v", c.reason, err)
		}
		var e *cloud.Error
		if c.kind == cloud.Throttled && (!errors.As(err, &e) || e.After != 7*time.Second) {
			t.Errorf("%s: want the time to wait, got %+v", c.reason, e)
		}
	}
}

// TestIdentities: what is wrong with an identity is told by the key of its Secret, and never by what the Secret holds.
func TestIdentities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		change func(*scalewayv1.ClusterView)
		words  string
	}{
		{"no credentials", func(v *scalewayv1.ClusterView) { v.Identity = nil }, "spec.scalewaySecretName"},
		{"the access key", func(v *scalewayv1.ClusterView) { v.Identity.AccessKey = "hidden" }, "SCW_ACCESS_KEY"},
		{"the secret key", func(v *scalewayv1.ClusterView) { v.Identity.SecretKey = common.NewSecret("hidden") }, "SCW_SECRET_KEY"},
		{"the address", func(v *scalewayv1.ClusterView) { v.Identity.APIURL = "http://hidden.example" }, "SCW_API_URL"},
		{"an address with a key", func(v *scalewayv1.ClusterView) { v.Identity.APIURL = "https://a:hidden@example.com" }, "SCW_API_URL"},
		{"the region", func(v *scalewayv1.ClusterView) { v.Region = "nowhere" }, "spec.region"},
		{"the project", func(v *scalewayv1.ClusterView) { v.ProjectID = "p" }, "spec.projectID"},
	} {
		sessions, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := view()
		c.change(&v)
		if _, err = sessions.Of(v); err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: want %q named and nothing shown, got %v", c.reason, c.words, err)
		}
	}
	if _, err := New(Options{Endpoint: "http://api.example"}); err == nil {
		t.Error("want plain HTTP refused where a key could be read on its way")
	}
}

// TestSessions: one session for each place and identity, and another one once its keys have changed.
func TestSessions(t *testing.T) {
	t.Parallel()
	sessions, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := view()
	first, err := sessions.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sessions.Of(view()); err != nil || again != first {
		t.Errorf("want the same session again, got another one, %v", err)
	}
	v.Identity.SecretKey = common.NewSecret("22222222-1111-4111-8111-111111111111")
	if rotated, err := sessions.Of(v); err != nil || rotated == first {
		t.Errorf("want another session for another key, got the same, %v", err)
	}
	v.Region = "nl-ams"
	if other, err := sessions.Of(v); err != nil || other.Key == first.Key || other.Region != "nl-ams" {
		t.Errorf("want another session for another region, got %+v, %v", other, err)
	}
}

// TestRedirect: the keys go nowhere but to the API.
func TestRedirect(t *testing.T) {
	t.Parallel()
	s, sent := over(t, reply{status: http.StatusTemporaryRedirect, header: http.Header{"Location": {"https://elsewhere.example/"}}})
	err := s.Do(t.Context(), Request{Operation: "GetPool", Method: http.MethodGet, Path: "/pools/x"}, &struct{}{})
	if err == nil || len(sent.requests) != 1 {
		t.Errorf("want a redirect refused, got %v after %v", err, sent.requests)
	}
	if key := sent.sent[0].Header.Get("X-Auth-Token"); key != secretKey {
		t.Errorf("want the request authorized by the secret key")
	}
}
