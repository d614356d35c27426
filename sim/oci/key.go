package oci

import (
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/oci/rest"
)

// Key is an API key.
type Key struct {
	// ID is TENANCY/USER/FINGERPRINT. Security tokens of a principal have its ID as their subject.
	ID     string
	Public *rsa.PublicKey
	// Permissions are those that policies give to the user; nil is all.
	Permissions []string
}

// SecurityToken returns a token of the principal whose key has the ID, for a session with another key pair. Requests that are signed with
// the private key name the token as "ST$" and the token.
func (c *Cloud) SecurityToken(id string, session *rsa.PublicKey, expires time.Time) (string, error) {
	claims, err := rest.ClaimsOf(id, session, expires)
	if err != nil {
		return "", fmt.Errorf("encode the key of the session: %w", err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode the claims: %w", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"RS256","kid":"asw"}`)) + "." + encode(text)
	return signed + "." + core.Sign(c.Base, signed), nil
}

// keyOf returns the key of a signature, nil where the cloud accepts every key.
func keyOf(c *Cloud, s *rest.Signature, now time.Time) (*Key, error) {
	if s.Token != "" {
		return session(c, s.Token, now)
	}
	if c.options.Keys == nil {
		return nil, nil
	}
	key := apiKey(c, s.KeyID)
	if key == nil {
		return nil, rest.NotAuthenticated("there is no key " + s.KeyID)
	}
	return key, nil
}

// apiKey returns the API key of an ID, nil if there is none.
func apiKey(c *Cloud, id string) *Key {
	at := slices.IndexFunc(c.options.Keys, func(k Key) bool { return k.ID == id })
	if at < 0 {
		return nil
	}
	return &c.options.Keys[at]
}

// session returns the key of the session that a security token is for, with the permissions of its principal.
func session(c *Cloud, token string, now time.Time) (*Key, error) {
	refused := rest.NotAuthenticated("the security token is not valid")
	at := strings.LastIndexByte(token, '.')
	if at < 0 || !core.Signed(c.Base, token[:at], token[at+1:]) {
		return nil, refused
	}
	var claims rest.Claims
	text, err := core.Payload(token)
	if err != nil || json.Unmarshal(text, &claims) != nil || claims.Expires <= now.Unix() {
		return nil, refused
	}
	public, err := claims.PublicKey()
	if err != nil {
		return nil, refused
	}
	out := &Key{ID: claims.Subject, Public: public}
	if c.options.Keys != nil {
		principal := apiKey(c, claims.Subject)
		if principal == nil {
			return nil, refused
		}
		out.Permissions = principal.Permissions
	}
	return out, nil
}
