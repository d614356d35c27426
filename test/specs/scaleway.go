package specs

import (
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/scaleway/shapes"
)

// recordedOfScaleway are members that the service shows in recorded traffic and does not publish any more.
var recordedOfScaleway = map[string]bool{
	"Pool.error_message": true, "Node.conditions": true, "Node.public_ip_v4": true, "Node.public_ip_v6": true,
}

// Scaleway returns the operations of Scaleway's Kubernetes API. Types of machines are of another API, whose document it lacks.
var Scaleway = once(func() (*Specification, error) {
	all := types{nulls: true, shown: recordedOfScaleway}.operations(shapes.Kubernetes())
	return &Specification{
		operations: all, find: byPath(all),
		unpublished: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/instance/") },
	}, nil
})
