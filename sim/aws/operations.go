package aws

import "strconv"

// operation is how one action is answered.
type operation struct {
	run func(*realm, *exchange) (any, error)
	// mutating actions write; list actions are charged more when they ask for everything at once.
	mutating, list bool
}

// on reads the parameters into the input shape and calls the operation.
func on[In, Out any](f func(*realm, *In) (*Out, error)) func(*realm, *exchange) (any, error) {
	return func(r *realm, x *exchange) (any, error) {
		in := new(In)
		if err := x.decode(in); err != nil {
			return nil, err
		}
		return f(r, in)
	}
}

func read[In, Out any](f func(*realm, *In) (*Out, error)) operation {
	return operation{run: on(f)}
}

func list[In, Out any](f func(*realm, *In) (*Out, error)) operation {
	return operation{run: on(f), list: true}
}

func write[In, Out any](f func(*realm, *In) (*Out, error)) operation {
	return operation{run: on(f), mutating: true}
}

// operations are all actions that are answered, by service.
var operations = map[string]map[string]operation{
	serviceEC2: {
		"CreateLaunchTemplate":         write((*realm).createLaunchTemplate),
		"CreateLaunchTemplateVersion":  write((*realm).createLaunchTemplateVersion),
		"ModifyLaunchTemplate":         write((*realm).modifyLaunchTemplate),
		"DeleteLaunchTemplate":         write((*realm).deleteLaunchTemplate),
		"DeleteLaunchTemplateVersions": write((*realm).deleteLaunchTemplateVersions),
		"RunInstances":                 write((*realm).runInstances),
		"TerminateInstances":           write((*realm).terminateInstances),
		"CreateTags":                   write((*realm).createTags),
		"DeleteTags":                   write((*realm).deleteTags),

		"DescribeLaunchTemplates":        read((*realm).describeLaunchTemplates),
		"DescribeLaunchTemplateVersions": read((*realm).describeLaunchTemplateVersions),
		"DescribeInstances":              list((*realm).describeInstances),
		"DescribeInstanceStatus":         list((*realm).describeInstanceStatus),
		"DescribeSpotInstanceRequests":   list((*realm).describeSpotInstanceRequests),
		"GetConsoleOutput":               read((*realm).getConsoleOutput),
		"DescribeImages":                 read((*realm).describeImages),
		"DescribeInstanceTypes":          read((*realm).describeInstanceTypes),
		"DescribeInstanceTypeOfferings":  read((*realm).describeInstanceTypeOfferings),
		"DescribeSubnets":                read((*realm).describeSubnets),
		"DescribeSecurityGroups":         list((*realm).describeSecurityGroups),
		"DescribeKeyPairs":               read((*realm).describeKeyPairs),
		"DescribeAvailabilityZones":      read((*realm).describeAvailabilityZones),
		"DescribeVpcs":                   read((*realm).describeVpcs),
		"DescribeRegions":                read((*realm).describeRegions),
		"DescribeTags":                   read((*realm).describeTags),
	},
	serviceAutoScaling: {
		"CreateAutoScalingGroup":              write((*realm).createGroup),
		"UpdateAutoScalingGroup":              write((*realm).updateGroup),
		"DeleteAutoScalingGroup":              write((*realm).deleteGroup),
		"SetDesiredCapacity":                  write((*realm).setDesiredCapacity),
		"TerminateInstanceInAutoScalingGroup": write((*realm).terminateInGroup),
		"AttachInstances":                     write((*realm).attachInstances),
		"DetachInstances":                     write((*realm).detachInstances),
		"EnterStandby":                        write((*realm).enterStandby),
		"ExitStandby":                         write((*realm).exitStandby),
		"CreateOrUpdateTags":                  write((*realm).createOrUpdateGroupTags),
		"DeleteTags":                          write((*realm).deleteGroupTags),
		"PutLifecycleHook":                    write((*realm).putLifecycleHook),
		"DeleteLifecycleHook":                 write((*realm).deleteLifecycleHook),
		"CompleteLifecycleAction":             write((*realm).completeLifecycleAction),
		"RecordLifecycleActionHeartbeat":      write((*realm).recordLifecycleActionHeartbeat),
		"SuspendProcesses":                    write((*realm).suspendProcesses),
		"ResumeProcesses":                     write((*realm).resumeProcesses),
		"SetInstanceProtection":               write((*realm).setInstanceProtection),
		"SetInstanceHealth":                   write((*realm).setInstanceHealth),
		"StartInstanceRefresh":                write((*realm).startInstanceRefresh),
		"CancelInstanceRefresh":               write((*realm).cancelInstanceRefresh),
		"RollbackInstanceRefresh":             write((*realm).rollbackInstanceRefresh),

		"DescribeAutoScalingGroups":      read((*realm).describeGroups),
		"DescribeAutoScalingInstances":   read((*realm).describeGroupInstances),
		"DescribeTags":                   read((*realm).describeGroupTags),
		"DescribeLifecycleHooks":         read((*realm).describeLifecycleHooks),
		"DescribeLifecycleHookTypes":     read((*realm).describeLifecycleHookTypes),
		"DescribeScalingActivities":      read((*realm).describeScalingActivities),
		"DescribeScalingProcessTypes":    read((*realm).describeScalingProcessTypes),
		"DescribeTerminationPolicyTypes": read((*realm).describeTerminationPolicyTypes),
		"DescribeInstanceRefreshes":      read((*realm).describeInstanceRefreshes),
		"DescribeAccountLimits":          read((*realm).describeAccountLimits),
	},
	serviceSSM: {
		"GetParameter":        read((*realm).getParameter),
		"GetParameters":       read((*realm).getParameters),
		"GetParametersByPath": read((*realm).getParametersByPath),
	},
	serviceSTS: {
		"GetCallerIdentity": {run: getCallerIdentity},
		"AssumeRole":        {run: assumeRole, mutating: true},
	},
	serviceIAM: {
		"CreateRole":                    write((*realm).createRole),
		"DeleteRole":                    write((*realm).deleteRole),
		"UpdateAssumeRolePolicy":        write((*realm).updateAssumeRolePolicy),
		"PutRolePermissionsBoundary":    write((*realm).putRoleBoundary),
		"DeleteRolePermissionsBoundary": write((*realm).deleteRoleBoundary),
		"TagRole":                       write((*realm).tagRole),
		"UntagRole":                     write((*realm).untagRole),
		"AttachRolePolicy":              write((*realm).attachRolePolicy),
		"DetachRolePolicy":              write((*realm).detachRolePolicy),
		"PutRolePolicy":                 write((*realm).putRolePolicy),
		"DeleteRolePolicy":              write((*realm).deleteRolePolicy),
		"CreatePolicy":                  write((*realm).createPolicy),
		"DeletePolicy":                  write((*realm).deletePolicy),
		"CreateInstanceProfile":         write((*realm).createInstanceProfile),
		"DeleteInstanceProfile":         write((*realm).deleteInstanceProfile),
		"AddRoleToInstanceProfile":      write((*realm).addRoleToInstanceProfile),
		"RemoveRoleFromInstanceProfile": write((*realm).removeRoleFromInstanceProfile),
		"CreateServiceLinkedRole":       write((*realm).createServiceLinkedRole),

		"GetRole":                     read((*realm).getRole),
		"ListRoles":                   read((*realm).listRoles),
		"ListRoleTags":                read((*realm).listRoleTags),
		"ListAttachedRolePolicies":    read((*realm).listAttachedRolePolicies),
		"GetRolePolicy":               read((*realm).getRolePolicy),
		"ListRolePolicies":            read((*realm).listRolePolicies),
		"GetPolicy":                   read((*realm).getPolicy),
		"GetPolicyVersion":            read((*realm).getPolicyVersion),
		"GetInstanceProfile":          read((*realm).getInstanceProfile),
		"ListInstanceProfilesForRole": read((*realm).listInstanceProfilesForRole),
	},
	serviceS3: {
		"PutObject":    {run: putObject, mutating: true},
		"CopyObject":   {run: copyObject, mutating: true},
		"DeleteObject": {run: deleteObject, mutating: true},
		"GetObject":    {run: getObject},
		"HeadObject":   {run: headObject},
	},
	serviceEKS: {
		"CreateCluster":          write((*realm).createCluster),
		"DeleteCluster":          write((*realm).deleteCluster),
		"UpdateClusterVersion":   write((*realm).updateClusterVersion),
		"CreateNodegroup":        write((*realm).createNodegroup),
		"UpdateNodegroupConfig":  write((*realm).updateNodegroupConfig),
		"UpdateNodegroupVersion": write((*realm).updateNodegroupVersion),
		"DeleteNodegroup":        write((*realm).deleteNodegroup),
		"CancelUpdate":           write((*realm).cancelUpdate),
		"TagResource":            write((*realm).tagResource),
		"UntagResource":          write((*realm).untagResource),

		"DescribeCluster":     read((*realm).describeCluster),
		"ListClusters":        read((*realm).listClusters),
		"DescribeNodegroup":   read((*realm).describeNodegroup),
		"ListNodegroups":      read((*realm).listNodegroups),
		"ListUpdates":         read((*realm).listUpdates),
		"DescribeUpdate":      read((*realm).describeUpdate),
		"ListTagsForResource": read((*realm).listEKSTags),
	},
}

// atoi is a number that was read before, 0 for anything else.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
