package specs

import (
	"net/http"

	"github.com/muster-project/muster/sim/oci/shapes"
)

// OCI returns the operations of Oracle's services.
var OCI = once(func() (*Specification, error) {
	all := types{nulls: true}.operations(shapes.ContainerEngine(), shapes.Core(), shapes.WorkRequests(), shapes.Identity())
	return &Specification{operations: all, find: byPath(all), unpublished: func(*http.Request) bool { return false }}, nil
})
