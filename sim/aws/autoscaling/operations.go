package autoscaling

import "github.com/muster-project/muster/sim/aws/account"

// Operations are the actions of Auto Scaling.
var Operations = account.Join(
	account.Of(func(s *Service) *Groups { return s.Groups }, map[string]account.Operation[*Groups]{
		"CreateAutoScalingGroup":         account.Write((*Groups).CreateGroup),
		"UpdateAutoScalingGroup":         account.Write((*Groups).UpdateGroup),
		"DeleteAutoScalingGroup":         account.Write((*Groups).DeleteGroup),
		"SetDesiredCapacity":             account.Write((*Groups).SetDesiredCapacity),
		"CreateOrUpdateTags":             account.Write((*Groups).CreateOrUpdateGroupTags),
		"DeleteTags":                     account.Write((*Groups).DeleteGroupTags),
		"SuspendProcesses":               account.Write((*Groups).suspendProcesses),
		"ResumeProcesses":                account.Write((*Groups).ResumeProcesses),
		"DescribeAutoScalingGroups":      account.Read((*Groups).describeGroups),
		"DescribeTags":                   account.Read((*Groups).describeGroupTags),
		"DescribeLifecycleHookTypes":     account.Read((*Groups).describeLifecycleHookTypes),
		"DescribeScalingProcessTypes":    account.Read((*Groups).describeScalingProcessTypes),
		"DescribeTerminationPolicyTypes": account.Read((*Groups).describeTerminationPolicyTypes),
		"DescribeAccountLimits":          account.Read((*Groups).describeAccountLimits),
	}),
	account.Of(func(s *Service) *Members { return s.Members }, map[string]account.Operation[*Members]{
		"TerminateInstanceInAutoScalingGroup": account.Write((*Members).terminateInGroup),
		"AttachInstances":                     account.Write((*Members).attachInstances),
		"DetachInstances":                     account.Write((*Members).detachInstances),
		"EnterStandby":                        account.Write((*Members).EnterStandby),
		"ExitStandby":                         account.Write((*Members).exitStandby),
		"SetInstanceProtection":               account.Write((*Members).setInstanceProtection),
		"SetInstanceHealth":                   account.Write((*Members).SetInstanceHealth),
		"DescribeAutoScalingInstances":        account.Read((*Members).describeGroupInstances),
	}),
	account.Of(func(s *Service) *Hooks { return s.Hooks }, map[string]account.Operation[*Hooks]{
		"PutLifecycleHook":               account.Write((*Hooks).putLifecycleHook),
		"DeleteLifecycleHook":            account.Write((*Hooks).DeleteLifecycleHook),
		"CompleteLifecycleAction":        account.Write((*Hooks).completeLifecycleAction),
		"RecordLifecycleActionHeartbeat": account.Write((*Hooks).recordLifecycleActionHeartbeat),
		"DescribeLifecycleHooks":         account.Read((*Hooks).describeLifecycleHooks),
	}),
	account.Of(func(s *Service) *Refreshes { return s.Refreshes }, map[string]account.Operation[*Refreshes]{
		"StartInstanceRefresh":      account.Write((*Refreshes).StartInstanceRefresh),
		"CancelInstanceRefresh":     account.Write((*Refreshes).CancelInstanceRefresh),
		"RollbackInstanceRefresh":   account.Write((*Refreshes).rollbackInstanceRefresh),
		"DescribeInstanceRefreshes": account.Read((*Refreshes).describeInstanceRefreshes),
	}),
	account.Of(func(s *Service) *Activities { return s.Activities }, map[string]account.Operation[*Activities]{
		"DescribeScalingActivities": account.Read((*Activities).describeScalingActivities),
	}),
)
