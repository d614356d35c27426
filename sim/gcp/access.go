package gcp

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/gcp/project"
)

// namedToken begins a token that stands for the account named behind it: for clients in the local world that have no key to sign in with.
const namedToken = "simulated:"

// authenticate finds out who asks. Where no accounts were given, any bearer token is good.
func (x *exchange) authenticate() error {
	x.User = "user@example.com"
	token, bearer := strings.CutPrefix(x.Request.Header.Get("Authorization"), "Bearer ")
	if !bearer || strings.TrimSpace(token) == "" {
		return &project.Error{
			Status: http.StatusUnauthorized, Reason: "required", State: "UNAUTHENTICATED", Location: "Authorization", LocationType: "header",
			Message: "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid " +
				"authentication credential. " +
				"See https://developers.google.com/identity/sign-in/web/devconsole-project.",
		}
	}
	said, good := x.cloud.tokenClaims(token)
	if name, named := strings.CutPrefix(token, namedToken); named {
		said, good = claims{Issuer: name, Expires: x.Began.Add(tokenLife).Unix()}, true
	}
	if good {
		x.User = said.Issuer
	}
	if !x.cloud.guarded {
		return nil
	}
	if !good || x.Began.Unix() >= said.Expires {
		return &project.Error{
			Status: http.StatusUnauthorized, Reason: "authError", State: "UNAUTHENTICATED", Location: "Authorization", LocationType: "header",
			Message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication " +
				"credential. " +
				"See https://developers.google.com/identity/sign-in/web/devconsole-project.",
		}
	}
	x.caller = &said
	return nil
}

// account returns a service account, nil for none.
func (c *Cloud) account(email string) *Account {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.Worlds[""].accounts.Get(email)
}

// authorize checks that the caller has the permissions that the operation needs on the resource of its path.
func (x *exchange) authorize(w *inventory) error {
	if x.caller == nil {
		return nil
	}
	a := w.accounts.Get(x.caller.Issuer)
	if a == nil {
		a = &Account{Denied: []string{"*"}}
	}
	for _, permission := range x.route.Permissions {
		if !x.cloud.asked.note(a, permission, a.may(permission)) {
			return x.denied(permission)
		}
	}
	return nil
}

// Asked are the permissions that accounts with limited rights needed for their requests: each with how often it was granted and denied.
type Asked struct {
	Granted, Denied map[string]int
}

// note counts a permission and returns whether the account has it. Permissions of accounts that may do everything are not recorded.
func (k *Asked) note(a *Account, permission string, granted bool) bool {
	if k.Granted == nil {
		k.Granted, k.Denied = map[string]int{}, map[string]int{}
	}
	switch {
	case !granted:
		k.Denied[permission]++
	case len(a.Allowed)+len(a.Denied) > 0:
		k.Granted[permission]++
	}
	return granted
}

// Asked returns which permissions were needed so far.
func (c *Cloud) Asked() Asked {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return Asked{Granted: maps.Clone(c.asked.Granted), Denied: maps.Clone(c.asked.Denied)}
}

// denied is the service's refusal of a caller who lacks a permission.
func (x *exchange) denied(permission string) error {
	if x.route.Service == "container" {
		return gkeDenied(permission, x.resource())
	}
	return project.Forbidden(permission, x.resource())
}

// resource is the path of the resource that a permission is needed on: that of the request, or the project for a list.
func (x *exchange) resource() string {
	path := "projects/" + x.Vars["project"]
	_, rest, found := strings.Cut(strings.Trim(x.Path, "/"), path+"/")
	parts := strings.Split(rest, "/")
	switch {
	case !found || len(parts) < 2 || parts[0] == "aggregated":
		return path
	case parts[0] == "global":
		return joined(path, parts, 3)
	}
	return joined(path, parts, 4)
}

// joined returns the path of a resource with so many parts, or the project's for a shorter path.
func joined(path string, parts []string, n int) string {
	if len(parts) < n {
		return path
	}
	return path + "/" + strings.Join(parts[:n], "/")
}

// may reports whether the account has a permission.
func (a *Account) may(permission string) bool {
	named := func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == permission || open && strings.HasPrefix(permission, prefix)
	}
	if slices.ContainsFunc(a.Denied, named) {
		return false
	}
	return len(a.Allowed) == 0 || slices.ContainsFunc(a.Allowed, named)
}

// PutAccount creates a service account or replaces it.
func (c *Cloud) PutAccount(a Account) error {
	return c.by(func(w *inventory) error {
		w.accounts.Put(a.Email, &a)
		return nil
	})
}
