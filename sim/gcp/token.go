package gcp

import (
	"cmp"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

const (
	// tokenPath is where service accounts sign in.
	tokenPath = "/token"
	// tokenLife is the validity of an access token.
	tokenLife = time.Hour
	grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// Account is a service account with what it may do.
type Account struct {
	Email string
	// PublicKey is the key that verifies its assertions, in PEM; "" accepts any.
	PublicKey string
	// Denied are the permissions that it lacks, such as compute.instanceGroupManagers.update or compute.*. All others are granted where
	// Allowed is empty.
	Denied []string
	// Allowed are the only permissions that it has, where there are any.
	Allowed []string
}

// claims are the contents of tokens.
type claims struct {
	Issuer  string `json:"iss"`
	Expires int64  `json:"exp"`
}

// tokenRequest is a request to the token endpoint.
type tokenRequest struct{ *exchange }

func (x tokenRequest) isToken() bool { return x.Path == tokenPath }

// serveToken answers in the protocol of OAuth.
func (x tokenRequest) serveToken(w http.ResponseWriter) {
	out, drop, err := x.token()
	code := ""
	switch {
	case drop:
		sim.Drop(w)
		code = "connectionDropped"
	case err != nil:
		e := project.ToError(err)
		code = e.Reason
		send(w, e.Status, []byte(document.Written(document.Object{"error": e.Reason, "error_description": e.Message})))
	default:
		send(w, http.StatusOK, []byte(document.Written(out)))
	}
	x.Log(code)
}

// token plays the faults in force and issues a token.
func (x tokenRequest) token() (out document.Object, drop bool, err error) {
	x.Asked = sim.Request{Service: "oauth2", Action: "token"}
	return core.Play(x.Request.Context(), &x.Trace, x.cloud.Faults().ForRequest(x.Asked), tokenErrors{}, x.grant)
}

// tokenErrors are the errors of the token endpoint. It has no limits of its own.
type tokenErrors struct{}

// Throttle takes nothing.
func (tokenErrors) Throttle() error { return nil }

// Throttled is the error for too many requests.
func (tokenErrors) Throttled(sim.Fault) error {
	return project.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests.")
}

// Failed is a fault's error, by default that for an internal failure.
func (tokenErrors) Failed(f sim.Fault) error {
	e := project.Refuse(http.StatusInternalServerError, "internal_failure", "Internal failure.")
	f.Message = cmp.Or(f.Message, e.Message)
	e.Reason, e.Message, e.Status = core.Worded(f, e.Reason, e.Message, e.Status)
	return e
}

// grant issues a token for a signed assertion.
func (x tokenRequest) grant() (document.Object, error) {
	form, err := url.ParseQuery(string(x.Body))
	if err != nil || form.Get("grant_type") != grantType {
		return nil, project.Refuse(http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type: %s", form.Get("grant_type"))
	}
	assertion := form.Get("assertion")
	said, err := readClaims(assertion)
	switch {
	case err != nil:
		return nil, project.Refuse(http.StatusBadRequest, "invalid_grant", "Bad Request")
	case said.Expires > 0 && x.Began.Unix() >= said.Expires:
		return nil, project.Refuse(http.StatusBadRequest, "invalid_grant",
			"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the "+
				"JWT claim.")
	}
	if x.cloud.guarded {
		a := x.cloud.account(said.Issuer)
		if a == nil {
			return nil, project.Refuse(http.StatusBadRequest, "invalid_grant", "Invalid grant: account not found")
		}
		if !a.signed(assertion) {
			return nil, project.Refuse(http.StatusBadRequest, "invalid_grant", "Invalid JWT Signature.")
		}
	}
	token := x.cloud.sign(claims{Issuer: said.Issuer, Expires: x.Began.Add(tokenLife).Unix()})
	return document.Object{"access_token": token, "expires_in": int(tokenLife.Seconds()) - 1, "token_type": "Bearer"}, nil
}

// signed reports whether the account's key has signed an assertion.
func (a *Account) signed(assertion string) bool {
	if a.PublicKey == "" {
		return true
	}
	block, _ := pem.Decode([]byte(a.PublicKey))
	at := strings.LastIndexByte(assertion, '.')
	if block == nil || at < 0 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(assertion[at+1:])
	if err != nil {
		return false
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, isRSA := parsed.(*rsa.PublicKey)
	if err != nil || !isRSA {
		return false
	}
	sum := sha256.Sum256([]byte(assertion[:at]))
	return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
}

// sign makes an access token.
func (c *Cloud) sign(what claims) string {
	body := base64.RawURLEncoding.EncodeToString([]byte(document.Written(what)))
	return "ya29.sim." + body + "." + core.Sign(c.Base, body)
}

// readClaims reads the claims of an assertion without checking its signature.
func readClaims(token string) (claims, error) {
	var out claims
	b, err := core.Payload(token)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return out, err
	}
	return out, nil
}

// tokenClaims reads the claims of an access token that the endpoint has issued.
func (c *Cloud) tokenClaims(token string) (claims, bool) {
	var out claims
	parts := strings.Split(token, ".")
	if len(parts) != 4 {
		return out, false
	}
	if !core.Signed(c.Base, parts[2], parts[3]) {
		return out, false
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[2])
	return out, err == nil && json.Unmarshal(b, &out) == nil
}
