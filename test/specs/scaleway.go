package specs

import (
	_ "embed" // the table
	"net/http"
	"strings"
)

// scalewayTable is what FromOpenAPI makes of the OpenAPI document of Scaleway's Kubernetes API.
//
//go:embed scaleway.json
var scalewayTable []byte

// Scaleway reads the operations of Scaleway's Kubernetes API, once. Types of machines are of another API, whose document it lacks.
var Scaleway = once(func() (*Specification, error) {
	s, err := fromDocuments(scalewayTable)
	if err == nil {
		s.unpublished = func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/instance/") }
	}
	return s, err
})
