package permissions

// groups are the grants about Auto Scaling groups.
func groups(o Options) []Grant {
	group := []string{o.arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/*")}
	return []Grant{
		{
			Name: "MusterReadGroups", Resources: []string{"*"}, Actions: []Action{
				{Name: "autoscaling:DescribeAutoScalingGroups", Why: "each pass looks at the group with its instances"},
				{Name: "autoscaling:DescribeInstanceRefreshes", Why: "how far a refresh is, and why it failed"},
				{Name: "autoscaling:DescribeLifecycleHooks", Why: "which of Muster's hooks are missing or differ"},
				{Name: "autoscaling:DescribeScalingActivities", Why: "why instances don't come, in the service's words"},
			},
		},
		{
			Name: "MusterCreateGroups", Resources: group, Conditions: madeOurs(), Actions: []Action{
				{Name: "autoscaling:CreateAutoScalingGroup", Why: "the group of a pool is made with our owner tag"},
			},
		},
		{
			Name: "MusterOwnGroups", Resources: group, Conditions: ours(), Actions: []Action{
				{Name: "autoscaling:CancelInstanceRefresh", Why: "a refresh towards a template that is no longer wanted is cancelled"},
				{Name: "autoscaling:CompleteLifecycleAction", Why: "an instance whose node is drained is let go"},
				{Name: "autoscaling:CreateOrUpdateTags", Why: "tags that differ from the specification"},
				{Name: "autoscaling:DeleteAutoScalingGroup", Why: "the pool is deleted"},
				{Name: "autoscaling:DeleteLifecycleHook", Why: "hooks that the specification no longer has"},
				{Name: "autoscaling:DeleteTags", Why: "tags that the specification no longer has"},
				{Name: "autoscaling:EnterStandby", Why: "instances are set aside so that others come before they go"},
				{Name: "autoscaling:PutLifecycleHook", Why: "the hook that holds instances until they are drained, and those of the specification"},
				{Name: "autoscaling:RecordLifecycleActionHeartbeat", Why: "a drain takes longer than the hook holds"},
				{Name: "autoscaling:ResumeProcesses", Why: "processes that the specification no longer suspends"},
				{Name: "autoscaling:SetDesiredCapacity", Why: "the pool's replicas"},
				{Name: "autoscaling:SetInstanceProtection", Why: "a refresh leaves the instances that it is not to replace"},
				{Name: "autoscaling:StartInstanceRefresh", Why: "the group replaces its instances itself"},
				{Name: "autoscaling:SuspendProcesses", Why: "processes that the specification suspends"},
				{Name: "autoscaling:TerminateInstanceInAutoScalingGroup", Why: "chosen, drained instances go"},
				{Name: "autoscaling:UpdateAutoScalingGroup", Why: "sizes, subnets, template of the group"},
			},
		},
	}
}

// templates are the grants about launch templates.
func templates(o Options) []Grant {
	template := []string{o.arn("ec2", "launch-template/*")}
	return []Grant{
		{
			Name: "MusterCreateTemplates", Resources: template, Conditions: madeOurs(), Actions: []Action{
				{Name: "ec2:CreateLaunchTemplate", Why: "the launch template of a pool is made with our owner tag"},
			},
		},
		{
			Name: "MusterOwnTemplates", Resources: template, Conditions: ours(), Actions: []Action{
				{Name: "ec2:CreateLaunchTemplateVersion", Why: "the specification or the bootstrap data changed"},
				{Name: "ec2:DeleteLaunchTemplate", Why: "the pool is deleted"},
				{Name: "ec2:DeleteLaunchTemplateVersions", Why: "unused versions beyond versionsToKeep"},
				{Name: "ec2:ModifyLaunchTemplate", Why: "the default version follows the one in use"},
			},
		},
		{
			Name: "MusterMarkOwn", Resources: []string{o.arn("ec2", "instance/*")}, Conditions: ours(), Actions: []Action{
				{Name: "ec2:CreateTags", Why: "marks on instances that are set aside, or kept from a refresh"},
				{Name: "ec2:DeleteTags", Why: "marks that are no longer true"},
			},
		},
	}
}

// launches are the grants that services check before they launch instances.
func launches(o Options) []Grant {
	services := []string{o.service("ec2")}
	linked := []string{"autoscaling.amazonaws.com", "spot.amazonaws.com"}
	if o.EKS {
		services = append(services, o.service("eks"))
		linked = append(linked, "eks-nodegroup.amazonaws.com")
	}
	return []Grant{
		{
			Name: "MusterLaunch", Resources: []string{"*"},
			Conditions: Conditions{"ArnLike": {"ec2:LaunchTemplate": {o.arn("ec2", "launch-template/*")}}},
			Actions: []Action{
				{Name: "ec2:RunInstances", ByService: true, Why: "asked about when a group is given a launch template"},
			},
		},
		{
			Name: "MusterTagNew",
			Resources: []string{o.arn("ec2", "instance/*"), o.arn("ec2", "launch-template/*"), o.arn("ec2", "network-interface/*"),
				o.arn("ec2", "spot-instances-request/*"), o.arn("ec2", "volume/*")},
			Conditions: Conditions{"StringEquals": {"ec2:CreateAction": {"CreateLaunchTemplate", "RunInstances"}}},
			Actions: []Action{
				{Name: "ec2:CreateTags", ByService: true, Why: "asked about when something is made with tags"},
			},
		},
		{
			Name: "MusterPassNodeRole", Resources: o.nodeRoleARNs(),
			Conditions: Conditions{"StringEquals": {"iam:PassedToService": services}},
			Actions: []Action{
				{Name: "iam:PassRole", ByService: true, Why: "asked about when machines are given a role"},
			},
		},
		{
			Name: "MusterServiceLinkedRoles", Resources: []string{o.role("aws-service-role/*")},
			Conditions: Conditions{"StringEquals": {"iam:AWSServiceName": linked}},
			Actions: []Action{
				{Name: "iam:CreateServiceLinkedRole", ByService: true, Why: "asked about when an account uses a service for the first time"},
			},
		},
	}
}

// lookups are the grants for what a specification names by its properties. These actions know no resources.
func lookups(o Options) []Grant {
	return []Grant{
		{
			Name: "MusterLookUp", Resources: []string{"*"}, Actions: []Action{
				{Name: "ec2:DescribeImages", Why: "images by name, and the root device of an image"},
				{Name: "ec2:DescribeInstanceTypes", Why: "which architecture an image must have"},
				{Name: "ec2:DescribeInstances", Why: "when and from what an instance was launched"},
				{Name: "ec2:DescribeLaunchTemplateVersions", Why: "the template's history"},
				{Name: "ec2:DescribeLaunchTemplates", Why: "the template, and whose it is"},
				{Name: "ec2:DescribeSecurityGroups", Why: "security groups by filters"},
				{Name: "ec2:DescribeSpotInstanceRequests", Why: "notices of spot interruptions; without it none are seen, and all else works"},
				{Name: "ec2:DescribeSubnets", Why: "subnets by filters"},
			},
		},
		{
			Name: "MusterImages", Resources: []string{"arn:" + o.Partition + ":ssm:*::parameter/aws/service/*"}, Actions: []Action{
				{Name: "ssm:GetParameter", Why: "images that EKS recommends"},
			},
		},
	}
}

// ecosystemRoles are the names of the roles that the ecosystem's tools make for nodes.
var ecosystemRoles = []string{"*.cluster-api-provider-aws.sigs.k8s.io"}

func (o Options) nodeRoleARNs() []string {
	names := append(ecosystemRoles[:len(ecosystemRoles):len(ecosystemRoles)], o.NodeRoles...)
	if o.EKSIAM {
		names = append(names, madeRoles...)
	}
	var arns []string
	for _, name := range names {
		arns = append(arns, o.role(name))
	}
	return arns
}
