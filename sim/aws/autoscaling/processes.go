package autoscaling

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

// processes are those that can be suspended.
var processes = []string{
	"AddToLoadBalancer", "AlarmNotification", "AZRebalance", "HealthCheck", "InstanceRefresh", "Launch", "ReplaceUnhealthy",
	"ScheduledActions", "Terminate",
}

// namedProcesses are the processes that a call is about: those that it names, or all.
func namedProcesses(names []string) ([]string, error) {
	if len(names) == 0 {
		return processes, nil
	}
	for _, n := range names {
		if !slices.Contains(processes, n) {
			return nil, wire.Invalid("Invalid process type: %s. Valid types are %s.", n, strings.Join(processes, ", "))
		}
	}
	return names, nil
}

func (r *Groups) suspendProcesses(in *autoscaling.SuspendProcessesInput) (*autoscaling.SuspendProcessesOutput, error) {
	g, err := r.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	names, err := namedProcesses(in.ScalingProcesses)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if !g.suspended(n) {
			g.Suspended[n] = "User suspended at " + moment(r.Now)
		}
	}
	r.Rows.Touch(g.Name())
	return &autoscaling.SuspendProcessesOutput{}, nil
}

// ResumeProcesses is the action of that name.
func (r *Groups) ResumeProcesses(in *autoscaling.ResumeProcessesInput) (*autoscaling.ResumeProcessesOutput, error) {
	g, err := r.FindGroup(in.AutoScalingGroupName)
	if err != nil {
		return nil, err
	}
	names, err := namedProcesses(in.ScalingProcesses)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		delete(g.Suspended, n)
	}
	r.Members.WakeUp(g)
	r.Rows.Touch(g.Name())
	return &autoscaling.ResumeProcessesOutput{}, nil
}

func (r *Groups) describeLifecycleHookTypes(*autoscaling.DescribeLifecycleHookTypesInput) (*autoscaling.DescribeLifecycleHookTypesOutput,
	error) {
	return &autoscaling.DescribeLifecycleHookTypesOutput{LifecycleHookTypes: []string{TransitionLaunching, TransitionTerminating}}, nil
}

func (r *Groups) describeScalingProcessTypes(*autoscaling.DescribeScalingProcessTypesInput) (*autoscaling.DescribeScalingProcessTypesOutput,
	error) {
	out := &autoscaling.DescribeScalingProcessTypesOutput{}
	for _, p := range processes {
		out.Processes = append(out.Processes, autoscaling.ProcessType{ProcessName: new(p)})
	}
	return out, nil
}

func (r *Groups) describeTerminationPolicyTypes(
	*autoscaling.DescribeTerminationPolicyTypesInput) (*autoscaling.DescribeTerminationPolicyTypesOutput, error) {
	return &autoscaling.DescribeTerminationPolicyTypesOutput{TerminationPolicyTypes: terminationPolicies}, nil
}

func (r *Groups) describeAccountLimits(*autoscaling.DescribeAccountLimitsInput) (*autoscaling.DescribeAccountLimitsOutput, error) {
	return &autoscaling.DescribeAccountLimitsOutput{
		MaxNumberOfAutoScalingGroups: new(int32(r.Quota)), NumberOfAutoScalingGroups: new(int32(r.Rows.Len())),
		MaxNumberOfLaunchConfigurations: new(int32(200)), NumberOfLaunchConfigurations: new(int32(0)),
	}, nil
}
