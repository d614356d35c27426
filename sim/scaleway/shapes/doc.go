// Package shapes holds what Scaleway publishes of its Kubernetes API, taken from its OpenAPI document.
package shapes

import (
	_ "embed" // for the service

	"github.com/muster-project/muster/sim/core/shapes"
)

//go:embed kubernetes.json
var kubernetes []byte

// Kubernetes is the service.
var Kubernetes = shapes.Embedded(kubernetes)
