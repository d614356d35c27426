package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	timeFormat = "20060102T150405Z"
	// maxSkew limits the difference between the clock of a request and the service's.
	maxSkew = 15 * time.Minute
)

// What can be wrong with a signature. Services spell these in their own error codes.
var (
	ErrSignatureMissing   = errors.New("request is missing its authentication token")
	ErrSignatureMalformed = errors.New("authorization header is malformed")
	ErrKeyUnknown         = errors.New("access key is not known")
	ErrSignatureMismatch  = errors.New("the request signature we calculated does not match the signature you provided")
	ErrSignatureExpired   = errors.New("signature expired")
)

// Identity is the signer of a request and the scope of the signature.
type Identity struct {
	AccessKeyID, SessionToken string
	Region, Service           string
}

type header struct {
	Identity
	date      string
	signed    []string
	signature string
	// at is when it was signed, valid how long the signature holds.
	at    string
	valid time.Duration
	// presigned is true if the signature is part of the address.
	presigned bool
}

// ParseSignature reads who claims to have signed a request, and for which region and service, without checking it.
func ParseSignature(r *http.Request) (Identity, error) {
	h, err := parseSignature(r)
	return h.Identity, err
}

// VerifySignature checks the signature of a request with this body at this time. secret gives the secret of an access key, and false
// for one that is not known or does not go with the session token.
func VerifySignature(r *http.Request, body []byte, now time.Time, secret func(Identity) (string, bool)) (Identity, error) {
	h, err := parseSignature(r)
	if err != nil {
		return h.Identity, err
	}
	key, ok := secret(h.Identity)
	if !ok {
		return h.Identity, ErrKeyUnknown
	}
	at, err := time.Parse(timeFormat, h.at)
	if err != nil || at.Format("20060102") != h.date {
		return h.Identity, fmt.Errorf("%w: X-Amz-Date and the credential's date are wanted alike", ErrSignatureMalformed)
	}
	if at.Before(now.Add(-h.valid)) || at.After(now.Add(maxSkew)) {
		return h.Identity, fmt.Errorf("%w: %s is not within %s of %s", ErrSignatureExpired, at.Format(timeFormat), h.valid,
			now.UTC().Format(timeFormat))
	}
	payload, err := h.payload(r, body)
	if err != nil {
		return h.Identity, err
	}
	scope := strings.Join([]string{h.date, h.Region, h.Service, "aws4_request"}, "/")
	canonical := sha256.Sum256([]byte(h.canonicalRequest(r, payload)))
	toSign := strings.Join([]string{algorithm, at.Format(timeFormat), scope, hex.EncodeToString(canonical[:])}, "\n")
	want := hex.EncodeToString(mac(signingKey(key, h), toSign))
	if subtle.ConstantTimeCompare([]byte(want), []byte(h.signature)) != 1 {
		return h.Identity, ErrSignatureMismatch
	}
	return h.Identity, nil
}

func parseSignature(r *http.Request) (header, error) {
	v := r.Header.Get("Authorization")
	if v == "" && r.URL.Query().Has("X-Amz-Signature") {
		return parsePresigned(r.URL.Query())
	}
	if v == "" {
		return header{}, ErrSignatureMissing
	}
	rest, ok := strings.CutPrefix(v, algorithm+" ")
	if !ok {
		return header{}, fmt.Errorf("%w: %s is wanted", ErrSignatureMalformed, algorithm)
	}
	parts := map[string]string{}
	for p := range strings.SplitSeq(rest, ",") {
		k, val, _ := strings.Cut(strings.TrimSpace(p), "=")
		parts[k] = val
	}
	scope := strings.Split(parts["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || parts["SignedHeaders"] == "" || parts["Signature"] == "" {
		return header{}, fmt.Errorf("%w: Credential, SignedHeaders and Signature are wanted", ErrSignatureMalformed)
	}
	h := header{at: r.Header.Get("X-Amz-Date"), valid: maxSkew, date: scope[1], signed: strings.Split(parts["SignedHeaders"], ";"),
		signature: parts["Signature"]}
	h.Identity = Identity{AccessKeyID: scope[0], Region: scope[2], Service: scope[3], SessionToken: r.Header.Get("X-Amz-Security-Token")}
	if !slices.Contains(h.signed, "host") {
		return h, fmt.Errorf("%w: host must be a signed header", ErrSignatureMalformed)
	}
	return h, nil
}

// parsePresigned reads a signature that stands in the address, which any holder of the address can use for a while.
func parsePresigned(q url.Values) (header, error) {
	scope := strings.Split(q.Get("X-Amz-Credential"), "/")
	seconds, err := strconv.Atoi(q.Get("X-Amz-Expires"))
	if q.Get("X-Amz-Algorithm") != algorithm || len(scope) != 5 || scope[4] != "aws4_request" || err != nil || seconds < 1 ||
		seconds > maxPresigned {
		return header{}, fmt.Errorf("%w: X-Amz-Algorithm, X-Amz-Credential and X-Amz-Expires of at most a week are wanted", ErrSignatureMalformed)
	}
	return header{
		Identity: Identity{AccessKeyID: scope[0], Region: scope[2], Service: scope[3], SessionToken: q.Get("X-Amz-Security-Token")},
		date:     scope[1], signed: strings.Split(q.Get("X-Amz-SignedHeaders"), ";"), signature: q.Get("X-Amz-Signature"),
		at: q.Get("X-Amz-Date"), valid: time.Duration(seconds) * time.Second, presigned: true,
	}, nil
}

const (
	// maxPresigned limits the validity of an address in seconds: a week.
	maxPresigned = 7 * 24 * 60 * 60
	// unsigned stands for the hash of a body that is not signed.
	unsigned = "UNSIGNED-PAYLOAD"
	// plainPaths is the service whose paths are signed as they are on the wire.
	plainPaths = "s3"
)

// payload is what stands for the body in what is signed. Where the client says what its hash is, it must be that.
func (h header) payload(r *http.Request, body []byte) (string, error) {
	hashed := sha256.Sum256(body)
	sum := hex.EncodeToString(hashed[:])
	switch said := r.Header.Get("X-Amz-Content-Sha256"); {
	case h.Service != plainPaths:
	case h.presigned, said == unsigned:
		return unsigned, nil
	case said != sum:
		return "", fmt.Errorf("%w: the body is not the one of X-Amz-Content-Sha256", ErrSignatureMismatch)
	}
	return sum, nil
}

func (h header) canonicalRequest(r *http.Request, payload string) string {
	var b strings.Builder
	path := r.URL.EscapedPath()
	if h.Service != plainPaths {
		// Paths are escaped once more than they are on the wire, slashes apart.
		path = strings.ReplaceAll(escape(path), "%2F", "/")
	}
	if path == "" {
		path = "/"
	}
	query := r.URL.Query()
	if h.presigned {
		query.Del("X-Amz-Signature")
	}
	b.WriteString(r.Method + "\n" + path + "\n" + canonicalQuery(query) + "\n")
	for _, name := range h.signed {
		b.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	b.WriteString("\n" + strings.Join(h.signed, ";") + "\n" + payload)
	return b.String()
}

func headerValue(r *http.Request, name string) string {
	switch name {
	case "host":
		if r.Host != "" {
			return r.Host
		}
		return r.URL.Host
	case "content-length":
		return strconv.FormatInt(r.ContentLength, 10)
	}
	values := r.Header.Values(name)
	trimmed := make([]string, len(values))
	for i, v := range values {
		trimmed[i] = strings.Join(strings.Fields(v), " ")
	}
	return strings.Join(trimmed, ",")
}

// canonicalQuery is in the order of the names, then of the values: "a" comes before "a-b", whatever follows it.
func canonicalQuery(q url.Values) string {
	var pairs [][2]string
	for k, values := range q {
		for _, v := range values {
			pairs = append(pairs, [2]string{escape(k), escape(v)})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	lines := make([]string, len(pairs))
	for i, p := range pairs {
		lines[i] = p[0] + "=" + p[1]
	}
	return strings.Join(lines, "&")
}

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func signingKey(secret string, h header) []byte {
	key := []byte("AWS4" + secret)
	for _, part := range []string{h.date, h.Region, h.Service, "aws4_request"} {
		key = mac(key, part)
	}
	return key
}

func mac(key []byte, s string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(s))
	return m.Sum(nil)
}
