package azure

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/core"
)

// caller is the identity of a request.
type caller struct{ claims }

// authenticate finds out who asks. Where no applications were given, any bearer token is good.
func (x *exchange) authenticate() error {
	header := x.Request.Header.Get("Authorization")
	token, bearer := strings.CutPrefix(header, "Bearer ")
	switch {
	case header == "":
		return arm.Refuse(http.StatusUnauthorized, "AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
	case !bearer || strings.TrimSpace(token) == "":
		return arm.Refuse(http.StatusUnauthorized, "AuthenticationFailedInvalidHeader",
			"Authentication failed. The 'Authorization' header is provided in an invalid format.")
	case !x.cloud.guarded:
		return nil
	}
	said, err := readClaims(token)
	at := strings.LastIndexByte(token, '.')
	if err != nil || at < 0 || !core.Signed(x.cloud.Base, token[:at], token[at+1:]) {
		return arm.Refuse(http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is invalid.")
	}
	if x.Began.Unix() >= said.Expires {
		return arm.Refuse(http.StatusUnauthorized, "ExpiredAuthenticationToken",
			"The access token expiry UTC time '%s' is earlier than current UTC time '%s'.",
			time.Unix(said.Expires, 0).UTC().Format(time.RFC1123), x.Began.UTC().Format(time.RFC1123))
	}
	x.caller = &caller{said}
	return nil
}

// applications are all who can sign in.
func (c *Cloud) applications() []Application {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	var out []Application
	for _, a := range c.Worlds[""].secrets.All() {
		out = append(out, *a)
	}
	return out
}

// application returns an application that can sign in, nil for none.
func (c *Cloud) application(tenant, client string) *Application {
	for _, a := range c.applications() {
		if strings.EqualFold(a.TenantID, tenant) && strings.EqualFold(a.ClientID, client) {
			return &a
		}
	}
	return nil
}

// authorize checks that the caller may do in the subscription what is asked.
func (x *exchange) authorize(w *inventory, sub string) error {
	if x.caller == nil {
		return nil
	}
	a := w.secrets.Get(strings.ToLower(x.caller.Tenant + "/" + x.caller.AppID))
	if a == nil {
		return arm.Refuse(http.StatusUnauthorized, "InvalidAuthenticationToken", "The application '%s' is not there any more.", x.caller.AppID)
	}
	s := x.cloud.subscription(sub)
	if s != nil && !strings.EqualFold(s.TenantID, a.TenantID) {
		return arm.Refuse(http.StatusUnauthorized, "InvalidAuthenticationTokenTenant",
			"The access token is from the wrong issuer. It must match the tenant '%s' associated with this subscription.", s.TenantID)
	}
	named := func(id string) bool { return strings.EqualFold(id, sub) }
	if (len(a.Subscriptions) == 0 || slices.ContainsFunc(a.Subscriptions, named)) && a.may(x.route) {
		return nil
	}
	return arm.Refuse(http.StatusForbidden, "AuthorizationFailed",
		"The client '%s' with object id '%s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. "+
			"If access was recently granted, please refresh your credentials.", a.ClientID, a.objectID(), x.route.Permissions[0], x.Path)
}

// may reports whether the application is allowed an operation.
func (a *Application) may(r *route) bool {
	permission := r.Permissions[0]
	for _, denied := range a.Denied {
		prefix, open := strings.CutSuffix(denied, "*")
		if strings.EqualFold(denied, permission) || open && len(permission) >= len(prefix) &&
			strings.EqualFold(prefix, permission[:len(prefix)]) {
			return false
		}
	}
	switch a.Role {
	case "Reader":
		return strings.HasSuffix(permission, "/read")
	case "Contributor":
		return !r.Mutating || r.Service != "authorization"
	}
	return true
}

// PutApplication adds an application that can sign in, or changes it: its secrets, what it may do.
func (c portal) PutApplication(a Application) error {
	return c.cloud.by(func(w *inventory) error {
		w.secrets.Put(a.key(), &a)
		return nil
	})
}
