package specs

import (
	"net/http"

	"github.com/muster-project/muster/sim/gcp/shapes"
)

// recordedOfGroups are members that Compute Engine shows in version v1 in recorded traffic and publishes in the description of its beta
// alone.
var recordedOfGroups = map[string]bool{
	"InstanceGroupManager.serviceAccount": true, "InstanceGroupManagerUpdatePolicy.minReadySec": true,
	"InstanceGroupManagerStatusStateful.isStateful": true,
}

// Google returns the operations of GKE and Compute Engine.
var Google = once(func() (*Specification, error) {
	all := types{shown: recordedOfGroups}.operations(shapes.Container(), shapes.Compute())
	return &Specification{operations: all, find: byPath(all), unpublished: func(*http.Request) bool { return false }}, nil
})

// GoogleBeta returns the operations of the beta of Compute Engine, without their bodies.
var GoogleBeta = once(func() (*Specification, error) {
	return &Specification{operations: types{}.operations(shapes.ComputeBeta())}, nil
})
