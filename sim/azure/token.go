package azure

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

const (
	// tokenLife is for how long an access token is good.
	tokenLife = time.Hour
	// metadataPath is where managed identities get their tokens.
	metadataPath = "/metadata/identity/oauth2/token"
	// assertionType is what a client sends with a signed assertion instead of a secret.
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// Application is an identity that can sign in: a service principal or a managed identity.
type Application struct {
	// TenantID is the directory's, ClientID the application's own, ObjectID that of its principal; empty stands for one made of
	// the ClientID.
	TenantID, ClientID, ObjectID string
	// Secrets that are good now. Certificates are those whose keys may sign instead, in PEM.
	Secrets      []string
	Certificates []string
	// Federated are the tokens of others that are taken, by issuer and subject, as for workload identities.
	Federated []Federation
	// Managed lets it get tokens from the metadata endpoint; ResourceID is its own there.
	Managed    bool
	ResourceID string
	// Subscriptions that it may use; none means all. Role is what it may do there: Owner, Contributor or Reader; "" means Owner.
	Subscriptions []string
	Role          string
	// Denied are permissions that it has not, such as Microsoft.Compute/virtualMachineScaleSets/write; one may end with an asterisk.
	Denied []string
}

// Federation is an issuer of tokens and the subject in them.
type Federation struct{ Issuer, Subject string }

// DefaultApplication is who can sign in unless told otherwise.
func DefaultApplication() Application {
	return Application{TenantID: TenantID, ClientID: ClientID, Secrets: []string{ClientSecret}, Managed: true}
}

func (a *Application) key() string { return strings.ToLower(a.TenantID + "/" + a.ClientID) }

func (a *Application) objectID() string {
	if a.ObjectID != "" {
		return a.ObjectID
	}
	return sim.Seed(0).UUID("object", a.ClientID)
}

// claims are the contents of a token.
type claims struct {
	Audience string `json:"aud"`
	Issuer   string `json:"iss,omitempty"`
	Subject  string `json:"sub,omitempty"`
	Tenant   string `json:"tid,omitempty"`
	AppID    string `json:"appid,omitempty"`
	ObjectID string `json:"oid,omitempty"`
	Expires  int64  `json:"exp"`
}

// tokenRequest is a request of the token endpoint.
type tokenRequest struct{ exchange *exchange }

// isToken reports whether the request is one for a token, or for where to get one.
func (x tokenRequest) isToken() bool {
	path := x.exchange.Path
	return path == metadataPath || strings.HasSuffix(path, "/oauth2/v2.0/token") || strings.HasSuffix(path, "/oauth2/token") ||
		strings.HasSuffix(path, "/.well-known/openid-configuration") || strings.HasSuffix(path, "/discovery/instance")
}

// serveToken answers for the token endpoints.
func (x tokenRequest) serveToken(w http.ResponseWriter) {
	var body document.Object
	var err error
	switch {
	case strings.HasSuffix(x.exchange.Path, "/discovery/instance"):
		body = x.discovery()
	case strings.HasSuffix(x.exchange.Path, "/.well-known/openid-configuration"):
		body = x.configuration()
	case x.exchange.Path == metadataPath:
		body, err = x.managedToken()
	default:
		body, err = x.clientToken()
	}
	status, code := http.StatusOK, ""
	if e, refused := errors.AsType[*arm.Error](err); refused {
		status, code, body = e.Status, e.Code, document.Object{"error": e.Code, "error_description": e.Message}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(document.Written(body))) // the client went away
	x.exchange.Asked.Resource = strings.TrimPrefix(x.exchange.Path, "/")
	x.exchange.Log(code)
}

// tenant is the directory that a token is asked of.
func (x tokenRequest) tenant() string {
	tenant, _, _ := strings.Cut(strings.Trim(x.exchange.Path, "/"), "/")
	return tenant
}

func (x tokenRequest) discovery() document.Object {
	host := x.exchange.Request.Host
	return document.Object{
		"tenant_discovery_endpoint": x.exchange.Base() + "/" + TenantID + "/v2.0/.well-known/openid-configuration", "api-version": "1.1",
		"metadata": []any{document.Object{"preferred_network": host, "preferred_cache": host, "aliases": []any{host}}},
	}
}

func (x tokenRequest) configuration() document.Object {
	at := x.exchange.Base() + "/" + x.tenant()
	return document.Object{
		"token_endpoint": at + "/oauth2/v2.0/token", "authorization_endpoint": at + "/oauth2/v2.0/authorize", "issuer": at + "/v2.0",
		"device_authorization_endpoint": at + "/oauth2/v2.0/devicecode", "jwks_uri": at + "/discovery/v2.0/keys",
	}
}

// clientToken gives a token to an application that shows a secret or an assertion.
func (x tokenRequest) clientToken() (document.Object, error) {
	form, err := url.ParseQuery(string(x.exchange.Body))
	if err != nil || form.Get("grant_type") != "client_credentials" {
		return nil, arm.Refuse(http.StatusBadRequest, "unsupported_grant_type", "AADSTS70003: The app requested an unsupported grant type '%s'.",
			form.Get("grant_type"))
	}
	a := x.exchange.cloud.application(x.tenant(), form.Get("client_id"))
	if a == nil {
		return nil, arm.Refuse(http.StatusBadRequest, "unauthorized_client",
			"AADSTS700016: Application with identifier '%s' was not found in the directory '%s'.", form.Get("client_id"), x.tenant())
	}
	if err := x.checkClient(a, form); err != nil {
		return nil, err
	}
	resource := strings.TrimSuffix(form.Get("scope"), "/.default")
	if form.Has("resource") {
		resource = form.Get("resource")
	}
	return x.issue(a, resource), nil
}

func (x tokenRequest) checkClient(a *Application, form url.Values) error {
	if form.Has("client_secret") {
		if slices.Contains(a.Secrets, form.Get("client_secret")) {
			return nil
		}
		return arm.Refuse(http.StatusUnauthorized, "invalid_client",
			"AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request "+
				"is the client secret value, not the client secret ID, for a secret added to app '%s'.", a.ClientID)
	}
	if form.Get("client_assertion_type") != assertionType {
		return arm.Refuse(http.StatusUnauthorized, "invalid_client",
			"AADSTS7000216: 'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type.")
	}
	assertion := form.Get("client_assertion")
	said, err := readClaims(assertion)
	if err != nil {
		return arm.Refuse(http.StatusUnauthorized, "invalid_client", "AADSTS50027: JWT token is invalid or malformed.")
	}
	if said.Expires > 0 && x.exchange.Began.Unix() >= said.Expires {
		return arm.Refuse(http.StatusUnauthorized, "invalid_client", "AADSTS700024: Client assertion is not within its valid time range.")
	}
	if slices.Contains(a.Federated, Federation{Issuer: said.Issuer, Subject: said.Subject}) || signedBy(a.Certificates, assertion) {
		return nil
	}
	if said.Issuer == a.ClientID {
		return arm.Refuse(http.StatusUnauthorized, "invalid_client",
			"AADSTS700027: The certificate with identifier used to sign the client assertion is not registered on application.")
	}
	return arm.Refuse(http.StatusUnauthorized, "invalid_client",
		"AADSTS70021: No matching federated identity record found for presented assertion. Assertion Issuer: '%s'. Assertion Subject: '%s'.",
		said.Issuer, said.Subject)
}

// signedBy reports whether one of the certificates' keys has signed the token.
func signedBy(certificates []string, token string) bool {
	at := strings.LastIndexByte(token, '.')
	if at < 0 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(token[:at]))
	for _, c := range certificates {
		block, _ := pem.Decode([]byte(c))
		if block == nil {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		key, isRSA := cert.PublicKey.(*rsa.PublicKey)
		if isRSA && (rsa.VerifyPSS(key, crypto.SHA256, sum[:], signature, nil) == nil ||
			rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil) {
			return true
		}
	}
	return false
}

// managedToken gives a token to a machine's managed identity.
func (x tokenRequest) managedToken() (document.Object, error) {
	if x.exchange.Request.Header.Get("Metadata") != "true" {
		return nil, arm.Refuse(http.StatusBadRequest, "invalid_request", "Required metadata header not specified")
	}
	for _, a := range x.exchange.cloud.applications() {
		if !a.Managed {
			continue
		}
		if id := x.exchange.Query.Get("client_id"); id != "" && !strings.EqualFold(id, a.ClientID) {
			continue
		}
		if id := x.exchange.Query.Get("msi_res_id") + x.exchange.Query.Get("mi_res_id"); id != "" && !strings.EqualFold(id, a.ResourceID) {
			continue
		}
		return x.issue(&a, x.exchange.Query.Get("resource")), nil
	}
	return nil, arm.Refuse(http.StatusBadRequest, "invalid_request", "Identity not found")
}

// issue makes an access token.
func (x tokenRequest) issue(a *Application, resource string) document.Object {
	expires := x.exchange.Began.Add(tokenLife)
	token := x.exchange.cloud.sign(claims{
		Audience: resource, Tenant: a.TenantID, AppID: a.ClientID, ObjectID: a.objectID(), Expires: expires.Unix(),
	})
	if x.exchange.Path == metadataPath {
		return document.Object{
			"access_token": token, "expires_in": strconv.Itoa(int(tokenLife.Seconds())), "expires_on": strconv.Itoa(int(expires.Unix())),
			"resource":   resource,
			"token_type": "Bearer", "client_id": a.ClientID,
		}
	}
	return document.Object{"access_token": token, "expires_in": int(tokenLife.Seconds()), "ext_expires_in": int(tokenLife.Seconds()),
		"token_type": "Bearer"}
}

// sign makes a token.
func (c *Cloud) sign(what claims) string {
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
	token := head + "." + base64.RawURLEncoding.EncodeToString([]byte(document.Written(what)))
	return token + "." + core.Sign(c.Base, token)
}

// readClaims reads the claims of a token without checking its signature.
func readClaims(token string) (claims, error) {
	var out claims
	b, err := core.Payload(token)
	if err != nil {
		return out, err
	}
	var loose map[string]any // an audience may be a list
	if err := json.Unmarshal(b, &loose); err != nil {
		return out, err
	}
	out.Issuer, out.Subject, out.Tenant = document.Text(loose, "iss"), document.Text(loose, "sub"), document.Text(loose, "tid")
	out.AppID, out.ObjectID, out.Audience = document.Text(loose, "appid"), document.Text(loose, "oid"), document.Text(loose, "aud")
	exp, _ := document.Number(loose, "exp")
	out.Expires = int64(exp)
	return out, nil
}
