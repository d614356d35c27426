package rest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxSkew limits the difference between the clock of a client and the service's.
const maxSkew = 5 * time.Minute

// tokenPrefix begins the IDs of keys that are security tokens.
const tokenPrefix = "ST$"

// Signature is the parsed header Authorization of a request.
type Signature struct {
	// KeyID is TENANCY/USER/FINGERPRINT. Token is the security token in its place, "" for none.
	KeyID, Token string
	headers      []string
	signature    []byte
}

// partOf matches a part of the header.
var partOf = regexp.MustCompile(`(\w+)="([^"]*)"`)

// ParseSignature returns the signature of a request.
func ParseSignature(r *http.Request) (*Signature, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Signature") {
		return nil, NotAuthenticated("the request has no signature")
	}
	parts := map[string]string{}
	for _, m := range partOf.FindAllStringSubmatch(text, -1) {
		parts[m[1]] = m[2]
	}
	s := &Signature{KeyID: parts["keyId"], headers: strings.Fields(strings.ToLower(parts["headers"]))}
	var err error
	s.signature, err = base64.StdEncoding.DecodeString(parts["signature"])
	switch {
	case parts["version"] != "1":
		return nil, NotAuthenticated("the version of the signature is not 1")
	case parts["algorithm"] != "rsa-sha256":
		return nil, NotAuthenticated("the algorithm is not rsa-sha256")
	case err != nil || len(s.signature) == 0 || s.KeyID == "":
		return nil, NotAuthenticated("the signature has no keyId or no signature")
	}
	if token, isToken := strings.CutPrefix(s.KeyID, tokenPrefix); isToken {
		s.Token = token
	}
	return s, nil
}

// Check returns why the parts of a request that have to be signed are not as the signature needs them. The key is not looked at.
func (s *Signature) Check(r *http.Request, body []byte, now time.Time) error {
	need := []string{"(request-target)", "host"}
	if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		need = append(need, "content-length", "content-type", "x-content-sha256")
	}
	date := "date"
	if slices.Contains(s.headers, "x-date") {
		date = "x-date"
	}
	for _, name := range append(need, date) {
		if !slices.Contains(s.headers, name) {
			return NotAuthenticated(name + " is not signed")
		}
	}
	at, err := http.ParseTime(r.Header.Get(date))
	if err != nil || now.Sub(at).Abs() > maxSkew {
		return NotAuthenticated(fmt.Sprintf("%s %q is more than %s off", date, r.Header.Get(date), maxSkew))
	}
	sum := sha256.Sum256(body)
	if slices.Contains(need, "x-content-sha256") &&
		r.Header.Get("X-Content-Sha256") != base64.StdEncoding.EncodeToString(sum[:]) {
		return NotAuthenticated("x-content-sha256 is not the hash of the body")
	}
	return nil
}

// Verify returns an error for a signature that is not made with a key.
func (s *Signature) Verify(r *http.Request, key *rsa.PublicKey) error {
	lines := make([]string, len(s.headers))
	for i, name := range s.headers {
		value := r.Header.Get(name)
		switch name {
		case "(request-target)":
			value = strings.ToLower(r.Method) + " " + r.URL.RequestURI()
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		lines[i] = name + ": " + value
	}
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], s.signature) != nil {
		return NotAuthenticated("the signature does not match")
	}
	return nil
}

// Claims are the contents of a security token.
type Claims struct {
	// Subject is the principal, Expires the time in seconds of Unix.
	Subject string `json:"sub"`
	Expires int64  `json:"exp"`
	// Key is the public key of the session as the text of a JSON web key.
	Key string `json:"jwk"`
}

// webKey is a JSON web key of RSA.
type webKey struct {
	Type     string `json:"kty"`
	Modulus  string `json:"n"`
	Exponent string `json:"e"`
}

// ClaimsOf returns the claims of a principal with a key.
func ClaimsOf(subject string, key *rsa.PublicKey, expires time.Time) (Claims, error) {
	number := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	text, err := json.Marshal(webKey{"RSA", number(key.N), number(big.NewInt(int64(key.E)))})
	return Claims{subject, expires.Unix(), string(text)}, err
}

// PublicKey returns the key of a session.
func (c Claims) PublicKey() (*rsa.PublicKey, error) {
	var key webKey
	if err := json.Unmarshal([]byte(c.Key), &key); err != nil {
		return nil, fmt.Errorf("decode the key of the session: %w", err)
	}
	modulus, err := base64.RawURLEncoding.DecodeString(key.Modulus)
	exponent, bad := base64.RawURLEncoding.DecodeString(key.Exponent)
	if err := errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("decode the key of the session: %w", err)
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: int(new(big.Int).SetBytes(exponent).Int64())}, nil
}
