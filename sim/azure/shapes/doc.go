// Package shapes holds what Azure's services publish of the operations that the simulator serves, taken from the clients and the models of
// its SDK.
package shapes

import (
	_ "embed" // for the services

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	//go:embed compute.json
	compute []byte
	//go:embed containerservice.json
	containerService []byte
	//go:embed authorization.json
	authorization []byte
	//go:embed resources.json
	resources []byte
	//go:embed msi.json
	msi []byte
	//go:embed network.json
	network []byte
)

// The services of Azure. Members that ContainerService has in later versions than the SDK's are added by the simulator.
var (
	Compute          = shapes.Embedded(compute)
	ContainerService = shapes.Embedded(containerService)
	Authorization    = shapes.Embedded(authorization)
	Resources        = shapes.Embedded(resources)
	MSI              = shapes.Embedded(msi)
	Network          = shapes.Embedded(network)
)
