// Package shapes holds what Oracle publishes of its services, taken from their Swagger documents, and for work requests and identities from
// the Go SDK.
package shapes

import (
	_ "embed" // for the services

	"github.com/muster-project/muster/sim/core/shapes"
)

//go:embed containerengine.json
var containerEngine []byte

// ContainerEngine is the service of managed clusters.
var ContainerEngine = shapes.Embedded(containerEngine)

//go:embed core.json
var core []byte

// Core is the part of the Core Services that manages instance pools.
var Core = shapes.Embedded(core)

//go:embed workrequests.json
var workRequests []byte

// WorkRequests is the service of the work requests of the Core Services.
var WorkRequests = shapes.Embedded(workRequests)

//go:embed identity.json
var identity []byte

// Identity is the part of the service of identities that lists the domains of a region.
var Identity = shapes.Embedded(identity)
