// Package shapes holds what GKE and Compute Engine publish of the operations that the simulator serves, taken from their discovery
// documents.
package shapes

import (
	_ "embed" // for the services

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	//go:embed container.json
	container []byte
	//go:embed compute.json
	compute []byte
	//go:embed computebeta.json
	computeBeta []byte
)

// The services of Google. ComputeBeta has the operations of Compute Engine's beta without the types of their bodies.
var (
	Container   = shapes.Embedded(container)
	Compute     = shapes.Embedded(compute)
	ComputeBeta = shapes.Embedded(computeBeta)
)
