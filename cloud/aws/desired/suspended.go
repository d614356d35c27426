package desired

import (
	"fmt"
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/pool"
)

// SuspendedIssues returns an issue for each suspended process that the group needs now.
func SuspendedIssues(is *asgtypes.AutoScalingGroup, roll *pool.ProviderRollout) (issues []pool.Cause) {
	launching, unhealthy, running := asg.Missing(is), false, 0
	for _, i := range is.Instances {
		switch state, _ := asg.StateOf(i); state {
		case pool.Pending:
			launching = true
		case pool.Failed:
			unhealthy = true
		case pool.Running:
			running++
		}
	}
	balanced := len(is.LoadBalancerNames)+len(is.TargetGroupARNs)+len(is.TrafficSources) > 0
	for _, c := range []struct {
		process string
		needed  bool
		effect  string
	}{
		{"Launch", asg.Missing(is), "no instance is launched"},
		{"Terminate", unhealthy || running > int(ptr.Deref(is.DesiredCapacity, 0)), "the group terminates no instance"},
		{"AddToLoadBalancer", launching && balanced, "instances that are launched now get no traffic, also after it has been resumed"},
		{"InstanceRefresh", roll.Runs(), "the instance refresh does not go on"},
	} {
		if c.needed && slices.Contains(asg.Suspended(is), c.process) {
			issues = append(issues, pool.Cause{Reason: c.process + "Suspended", Message: fmt.Sprintf(
				"process %s of Auto Scaling group %s is suspended (%s): %s. Resume it", c.process, ptr.Deref(is.AutoScalingGroupName, ""),
				suspendedBy(is, c.process), c.effect)})
		}
	}
	return issues
}

// suspendedBy returns where a process can be resumed: in the specification, if the bookkeeping tag names the process.
func suspendedBy(is *asgtypes.AutoScalingGroup, process string) string {
	if slices.Contains(splitList(asg.Tag(is, tagSuspended)), process) {
		return FieldProcesses
	}
	return "by another client"
}
