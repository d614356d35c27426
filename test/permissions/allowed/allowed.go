// Package allowed restricts a driver on a simulated Azure to the permissions of package providers/azure/permissions, as a custom role
// would, and records their use.
package allowed

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/muster-project/muster/providers/azure/permissions"
)

// Role sends what the role allows. It is safe for concurrent use.
type Role struct {
	role permissions.Role

	mu   sync.Mutex
	uses map[string]int
}

// New makes the role of the options.
func New(o permissions.Options) (*Role, error) {
	o.Scopes = []string{"/subscriptions/0"}
	role, err := permissions.RoleOf(o)
	if err != nil {
		return nil, err
	}
	return &Role{role: role, uses: map[string]int{}}, nil
}

// Wrap sends over a wire.
func (r *Role) Wrap(next http.RoundTripper) http.RoundTripper { return &wire{r, next} }

// Uses returns how often an action was used.
func (r *Role) Uses(action string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.uses[strings.ToLower(action)]
}

type wire struct {
	role *Role
	next http.RoundTripper
}

// RoundTrip refuses in Azure's words what the role does not allow.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	action := ActionOf(req.Method, req.URL.Path)
	if !w.role.role.Allows(action) {
		body := fmt.Sprintf(`{"error":{"code":"AuthorizationFailed","message":"The client 'muster' with object id 'muster' does not have authorization to perform action '%s' over scope '%s'."}}`,
			action, req.URL.Path)
		return &http.Response{
			StatusCode: http.StatusForbidden, Status: "403 Forbidden", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: req,
		}, nil
	}
	w.role.mu.Lock()
	w.role.uses[strings.ToLower(action)]++
	w.role.mu.Unlock()
	return w.next.RoundTrip(req)
}

// ActionOf returns the action of a request to Azure Resource Manager: the provider with the types of the resource, and the operation. The
// case of letters is the request's.
func ActionOf(method, path string) string {
	at := strings.LastIndex(strings.ToLower(path), "/providers/")
	parts := strings.Split(strings.Trim(path[max(at, 0):], "/"), "/")
	if at < 0 || len(parts) < 3 {
		return path
	}
	action := parts[1]
	for i := 2; i < len(parts); i += 2 {
		action += "/" + parts[i]
	}
	switch method {
	case http.MethodGet, http.MethodHead:
		return action + "/read"
	case http.MethodDelete:
		return action + "/delete"
	case http.MethodPost:
		return action + "/action"
	}
	return action + "/write"
}
