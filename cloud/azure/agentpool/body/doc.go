// Package body translates the specifications of agent pools into the properties that AKS's API has, and compares these with what AKS
// reports. Properties are JSON documents: a manifest or a patch may set any property of any version of the API, and what Muster does not
// know is kept.
package body

// Properties are the properties of an agent pool as AKS's API has them: the values of a decoded JSON document.
type Properties map[string]any

// The properties that Muster sets from the MachinePool.
const (
	Count               = "count"
	OrchestratorVersion = "orchestratorVersion"
	EnableAutoScaling   = "enableAutoScaling"
	MinCount            = "minCount"
	MaxCount            = "maxCount"
)

// The other properties that code depends on.
const (
	VMSize        = "vmSize"
	NodeLabels    = "nodeLabels"
	NodeTaints    = "nodeTaints"
	Tags          = "tags"
	Mode          = "mode"
	Type          = "type"
	ScaleDownMode = "scaleDownMode"
	// NodeImage is read of AKS, and asked for as the oldest node image that machines may have. It is never sent.
	NodeImage = "nodeImageVersion"
)
