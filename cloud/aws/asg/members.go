package asg

import (
	"fmt"
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/pool"
)

// statusDeleting is the prefix of an Auto Scaling group's status while it is being deleted.
const statusDeleting = "Delete in progress"

// ProviderID returns the provider ID that the Node of an instance has.
func ProviderID(i asgtypes.Instance) string {
	return fmt.Sprintf("aws:///%s/%s", ptr.Deref(i.AvailabilityZone, ""), ptr.Deref(i.InstanceId, ""))
}

// StateOf returns the state of an instance, and whether it is a member of the group: warm instances do not belong to the group's size, and
// detached ones, which run on, do not belong to the group.
func StateOf(i asgtypes.Instance) (state pool.InstanceState, member bool) {
	name := string(i.LifecycleState)
	first, _, _ := strings.Cut(name, ":")
	switch first {
	case "Warmed", "Detaching", "Detached", "Terminated":
		return "", false
	case "Terminating":
		return pool.Terminating, true
	}
	if strings.EqualFold(ptr.Deref(i.HealthStatus, ""), "Unhealthy") {
		return pool.Failed, true
	}
	if first == "Pending" {
		return pool.Pending, true
	}
	return pool.Running, true
}

// Present reports whether an instance is a member of the group that is not being terminated.
func Present(i asgtypes.Instance) bool {
	state, member := StateOf(i)
	return member && state != pool.Terminating
}

// Member returns the instance with an ID as the group shows it, or nil.
func Member(is *asgtypes.AutoScalingGroup, id string) *asgtypes.Instance {
	for k := range is.Instances {
		if ptr.Deref(is.Instances[k].InstanceId, "") == id {
			return &is.Instances[k]
		}
	}
	return nil
}

// InStandby reports whether an instance runs without being counted in the group's size.
func InStandby(i asgtypes.Instance) bool {
	return i.LifecycleState == asgtypes.LifecycleStateStandby || i.LifecycleState == asgtypes.LifecycleStateEnteringStandby
}

// Standby returns the provider IDs, in order, of the instances in standby that meet a condition. A group that is nil has none.
func Standby(is *asgtypes.AutoScalingGroup, meets func(id string) bool) []string {
	if is == nil {
		return nil
	}
	var ids []string
	for _, i := range is.Instances {
		if InStandby(i) && meets(ptr.Deref(i.InstanceId, "")) {
			ids = append(ids, ProviderID(i))
		}
	}
	slices.Sort(ids)
	return ids
}

// ReplacesUnhealthy reports whether the group replaces unhealthy instances: neither that process nor termination is suspended.
func ReplacesUnhealthy(is *asgtypes.AutoScalingGroup) bool {
	return !slices.ContainsFunc(Suspended(is), func(name string) bool { return name == "ReplaceUnhealthy" || name == "Terminate" })
}

// Unhealthy returns the termination notice of an instance that the group found unhealthy and replaces; nil for any other.
func Unhealthy(is *asgtypes.AutoScalingGroup, i asgtypes.Instance) *pool.Cause {
	if state, _ := StateOf(i); state == pool.Failed && !InStandby(i) && ReplacesUnhealthy(is) {
		return &pool.Cause{Reason: "Unhealthy", Message: "the Auto Scaling group has found the instance unhealthy and replaces it"}
	}
	return nil
}

// Suspended returns the names of the group's suspended processes.
func Suspended(is *asgtypes.AutoScalingGroup) []string {
	var names []string
	for _, p := range is.SuspendedProcesses {
		names = append(names, ptr.Deref(p.ProcessName, ""))
	}
	return names
}
