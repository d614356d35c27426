package aws_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/aws/wire"
)

// FuzzParseSignature holds that no header, however odd, does worse than be refused, and that none is verified by chance.
func FuzzParseSignature(f *testing.F) {
	f.Add("AWS4-HMAC-SHA256 Credential=a/b/c/d/aws4_request, SignedHeaders=host, Signature=00", "20300102T030405Z", "body")
	f.Add("AWS4-HMAC-SHA256 Credential="+signingKey+"/20300102/eu-west-1/ec2/aws4_request, SignedHeaders=host;x-amz-date, Signature=00",
		"20300102T030405Z", "")
	f.Add("AWS4-HMAC-SHA256 ,,,=", "", "")
	f.Add("AWS4-HMAC-SHA256 Credential=////aws4_request,SignedHeaders=;host;;,Signature==", "x", "")
	f.Fuzz(func(t *testing.T, authorization, date, body string) {
		r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/"}, Host: "sim",
			Header: http.Header{"Authorization": {authorization}, "X-Amz-Date": {date}}}
		id, err := wire.ParseSignature(r)
		parts := strings.Split(authorization, "/")
		if err == nil && (len(parts) < 5 || !strings.Contains(authorization, id.Region+"/"+id.Service+"/aws4_request")) {
			t.Errorf("%q: want an identity out of the header, got %+v", authorization, id)
		}
		if _, err := wire.VerifySignature(r, []byte(body), signedAt, knownKey); err == nil {
			t.Errorf("%q of %q: want it refused: it is not signed", authorization, date)
		}
	})
}

// FuzzVerifySignature holds that whatever the SDK signs is verified, and no other body, path, query or time is with that signature.
func FuzzVerifySignature(f *testing.F) {
	f.Add("", "", "Action=DescribeVpcs&Version=2016-11-15", "text", int64(0))
	f.Add("clusters/a b/c+d", "b=2&a=x%20y&a=1&c=%2F%2B~*", "{}", "  a   b ", int64(600))
	f.Add("%2F//..", "a&b=&=c", "", "\u00e9", int64(-901))
	f.Fuzz(func(t *testing.T, path, query, body, header string, skew int64) {
		values, err := url.ParseQuery(query)
		if err != nil || !orderly(values) || strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }) {
			return
		}
		target := url.URL{Scheme: "http", Host: "sim", Path: "/" + path, RawQuery: query}
		if again, err := url.Parse(target.String()); err != nil || again.RawQuery != query || again.Path != target.Path {
			return
		}
		r := signRequest(t, http.MethodPost, target.String(), body, http.Header{"X-Amz-Meta": {header}})
		skew %= 3600
		_, err = wire.VerifySignature(r, []byte(body), signedAt.Add(time.Duration(skew)*time.Second), knownKey)
		if inTime := skew >= -900 && skew <= 900; (err == nil) != inTime {
			t.Fatalf("%s: want verified %t at %d s, got %v", r.URL, inTime, skew, err)
		}
		if _, err := wire.VerifySignature(r, []byte(body+"x"), signedAt, knownKey); err == nil {
			t.Errorf("%s: want another body refused", r.URL)
		}
		r.URL.Path += "x"
		r.URL.RawPath = ""
		if _, err := wire.VerifySignature(r, []byte(body), signedAt, knownKey); err == nil {
			t.Errorf("%s: want another path refused", r.URL)
		}
	})
}

// orderly reports whether names and values have one order, escaped or not. The published rule is to escape first, and the SDK
// does not.
func orderly(values url.Values) bool {
	same := func(list []string) bool {
		return slices.IsSortedFunc(slices.Sorted(slices.Values(list)), func(a, b string) int { return strings.Compare(escaped(a), escaped(b)) })
	}
	for _, list := range values {
		if !same(list) {
			return false
		}
	}
	return same(slices.Collect(maps.Keys(values)))
}

func escaped(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
