package containerservice

import "github.com/muster-project/muster/sim/core/shapes"

// later are the members of versions that are later than the SDK's.
var later = shapes.Types{
	"AgentPoolUpgradeSettings": {
		"maxUnavailable": "string", "undrainableNodeBehavior": "=Cordon|Schedule", "maxBlockedNodes": "string",
	},
	"AgentPoolSecurityProfile":                 {"sshAccess": "=Disabled|EntraId|LocalUser", "enableVTPM": "bool", "enableSecureBoot": "bool"},
	"ManagedClusterAgentPoolProfile":           profileLater,
	"ManagedClusterAgentPoolProfileProperties": profileLater,
	"VirtualMachinesProfile":                   {"scale": "ScaleProfile"},
	"ScaleProfile":                             {"manual": "[]ManualScaleProfile"},
	"ManualScaleProfile":                       {"size": "string", "count": "int"},
}

var profileLater = map[string]string{
	"type": "=AvailabilitySet|" + typeScaleSets + "|" + typeVMs, "securityProfile": "AgentPoolSecurityProfile",
	"virtualMachinesProfile": "VirtualMachinesProfile", "virtualMachineNodesStatus": "!any",
}
