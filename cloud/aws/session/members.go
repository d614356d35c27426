package session

import (
	"fmt"
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/pool"
)

// ProviderID is what the Node of an instance carries.
func ProviderID(i asgtypes.Instance) string {
	return fmt.Sprintf("aws:///%s/%s", Deref(i.AvailabilityZone), Deref(i.InstanceId))
}

// StateOf puts the service's lifecycle states into pool's. Warm instances do not belong to the group's size, and detached
// ones do not belong to the group.
func StateOf(i asgtypes.Instance) (state pool.InstanceState, member bool) {
	name := string(i.LifecycleState)
	first, _, _ := strings.Cut(name, ":")
	switch first {
	case "Warmed", "Detached", "Terminated":
		return "", false
	case "Terminating", "Detaching":
		return pool.Terminating, true
	}
	if strings.EqualFold(Deref(i.HealthStatus), "Unhealthy") {
		return pool.Failed, true
	}
	if first == "Pending" {
		return pool.Pending, true
	}
	return pool.Running, true
}

// InStandby says that the group does not count the instance although it runs.
func InStandby(i asgtypes.Instance) bool {
	return i.LifecycleState == asgtypes.LifecycleStateStandby || i.LifecycleState == asgtypes.LifecycleStateEnteringStandby
}

// ReplacesUnhealthy says that nobody has suspended what takes unhealthy instances away.
func ReplacesUnhealthy(is *asgtypes.AutoScalingGroup) bool {
	return !slices.ContainsFunc(Suspended(is), func(name string) bool { return name == "ReplaceUnhealthy" || name == "Terminate" })
}

// Suspended are the processes of the group that are suspended, by whomever.
func Suspended(is *asgtypes.AutoScalingGroup) []string {
	var names []string
	for _, p := range is.SuspendedProcesses {
		names = append(names, Deref(p.ProcessName))
	}
	return names
}
