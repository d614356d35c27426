package aws_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/muster-project/muster/sim/aws/wire"
)

const signingKey, signingSecret = "AKIAEXAMPLE", "secret/of+example"

var signedAt = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// signRequest makes a request that the SDK's own signer has signed.
func signRequest(t *testing.T, method, url, body string, headers http.Header) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range headers {
		r.Header[k] = v
	}
	sum := sha256.Sum256([]byte(body))
	credentials := aws.Credentials{AccessKeyID: signingKey, SecretAccessKey: signingSecret}
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials, r, hex.EncodeToString(sum[:]), "ec2", "eu-west-1", signedAt); err != nil {
		t.Fatal(err)
	}
	return r
}

func knownKey(i wire.Identity) (string, bool) { return signingSecret, i.AccessKeyID == signingKey }

// Whatever form a request has, what the SDK's signer signs is verified.
func TestVerifiesWhatTheSDKSigns(t *testing.T) {
	for _, c := range []struct {
		why, method, url, body string
		headers                http.Header
	}{
		{"a form", http.MethodPost, "http://sim/", "Action=DescribeVpcs", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
		{"a query out of order with odd letters", http.MethodGet, "http://sim/?b=2&a=x%20y&a=1&c=%2F%2B~*", "", nil},
		{"a name that begins another one", http.MethodGet, "http://sim/?a-b=1&a=2&a.b=3", "", nil},
		{"no path", http.MethodGet, "http://sim", "", nil},
		{"a path with odd letters", http.MethodGet, "http://sim/clusters/a%20b/c+d", "", nil},
		{"headers with spaces and several values", http.MethodPost, "http://sim:8080/", "{}",
			http.Header{"X-Amz-Target": {"AmazonSSM.GetParameter"}, "X-Amz-Meta": {"  a   b ", "c"}}},
	} {
		r := signRequest(t, c.method, c.url, c.body, c.headers)
		id, err := wire.VerifySignature(r, []byte(c.body), signedAt.Add(time.Minute), knownKey)
		if err != nil {
			t.Errorf("%s: want it verified, got %v", c.why, err)
		}
		if want := (wire.Identity{AccessKeyID: signingKey, Region: "eu-west-1", Service: "ec2"}); id != want {
			t.Errorf("%s: want %+v, got %+v", c.why, want, id)
		}
	}
}

func TestRefusesSignatures(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(*http.Request)
		body   string
		at     time.Time
		want   error
	}{
		{"another body", func(*http.Request) {}, "Action=Other", signedAt, wire.ErrSignatureMismatch},
		{"another query", func(r *http.Request) { r.URL.RawQuery = "x=y" }, "Action=This", signedAt, wire.ErrSignatureMismatch},
		{"another path", func(r *http.Request) { r.URL.Path = "/other" }, "Action=This", signedAt, wire.ErrSignatureMismatch},
		{"another method", func(r *http.Request) { r.Method = http.MethodPut }, "Action=This", signedAt, wire.ErrSignatureMismatch},
		{"another key", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=OTHER/20300102/eu-west-1/ec2/aws4_request, SignedHeaders=host, Signature=00")
		}, "Action=This", signedAt, wire.ErrKeyUnknown},
		{"no signature", func(r *http.Request) { r.Header.Del("Authorization") }, "Action=This", signedAt, wire.ErrSignatureMissing},
		{"another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Basic eDp5") }, "Action=This", signedAt,
			wire.ErrSignatureMalformed},
		{"a date that does not fit", func(r *http.Request) { r.Header.Set("X-Amz-Date", "20300103T030405Z") }, "Action=This", signedAt,
			wire.ErrSignatureMalformed},
		{"host not signed", func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+signingKey+
				"/20300102/eu-west-1/ec2/aws4_request, SignedHeaders=x-amz-date, Signature=00")
		}, "Action=This", signedAt, wire.ErrSignatureMalformed},
		{"too old", func(*http.Request) {}, "Action=This", signedAt.Add(16 * time.Minute), wire.ErrSignatureExpired},
		{"from the future", func(*http.Request) {}, "Action=This", signedAt.Add(-16 * time.Minute), wire.ErrSignatureExpired},
	} {
		r := signRequest(t, http.MethodPost, "http://sim/", "Action=This", nil)
		c.change(r)
		if _, err := wire.VerifySignature(r, []byte(c.body), c.at, knownKey); !errors.Is(err, c.want) {
			t.Errorf("%s: want %v, got %v", c.why, c.want, err)
		}
	}
}
