// Package wire holds the protocols that the services of the simulated AWS speak: how requests are read, answers and errors are written.
package wire

import (
	"net/http"
	"net/url"
)

// Call is one request of a service.
type Call struct {
	Request *http.Request
	Body    []byte
	// Service and Action as AWS names them, Params what names the resource, and for the query protocol all parameters.
	Service, Action string
	Params          url.Values
	// RequestID is the ID that the answer carries.
	RequestID string
	// BucketOf returns the caller's bucket that a host is named after, "" for none.
	BucketOf func(host string) string
}
