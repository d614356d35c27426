package specs

import (
	_ "embed" // the table
	"net/http"
	"sync"
)

// scalewayTable is what Published makes of the OpenAPI document of Scaleway's Kubernetes API.
//
//go:embed scaleway.json
var scalewayTable []byte

// Scaleway returns the operations of Scaleway's Kubernetes API.
var Scaleway = sync.OnceValues(func() (*Discovery, error) { return newDiscovery(scalewayTable) })

// ScalewayRequest returns what the published document of Scaleway's Kubernetes API does not have of a request, and what it demands that the
// request does not have.
func ScalewayRequest(r *http.Request, body string) error {
	d, err := Scaleway()
	if err != nil {
		return err
	}
	return d.request(r, body)
}
