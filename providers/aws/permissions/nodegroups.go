package permissions

// nodeGroups are the grants about EKS node groups and the Auto Scaling groups behind them.
func nodeGroups(o Options) []Grant {
	cluster, group := o.arn("eks", "cluster/*"), o.arn("eks", "nodegroup/*/*/*")
	return []Grant{
		{
			Name: "MusterReadNodeGroups", Resources: []string{cluster, group}, Actions: []Action{
				{Name: "eks:DescribeNodegroup", Why: "each pass looks at the node group, whose owner shows only then"},
				{Name: "eks:DescribeUpdate", Why: "how far an update is, and why it failed"},
				{Name: "eks:ListNodegroups", Why: "whether another node group could be the pool's, before one is created"},
				{Name: "eks:ListUpdates", Why: "which update is the last one"},
			},
		},
		{
			Name: "MusterCreateNodeGroups", Resources: []string{cluster, group}, Conditions: madeOurs(), Actions: []Action{
				{Name: "eks:CreateNodegroup", Why: "the node group of a pool is made with our owner tag"},
			},
		},
		{
			Name: "MusterOwnNodeGroups", Resources: []string{group}, Conditions: ours(), Actions: []Action{
				{Name: "eks:DeleteNodegroup", Why: "the pool is deleted"},
				{Name: "eks:TagResource", Why: "tags that differ from the specification"},
				{Name: "eks:UntagResource", Why: "tags that the specification no longer has"},
				{Name: "eks:UpdateNodegroupConfig", Why: "sizes, labels, taints, update and repair configuration"},
				{Name: "eks:UpdateNodegroupVersion", Why: "Kubernetes version, release, launch template"},
			},
		},
		{
			Name: "MusterTagNewNodeGroups", Resources: []string{group}, Conditions: madeOurs(), Actions: []Action{
				{Name: "eks:TagResource", ByService: true, Why: "asked about when a node group is made with tags"},
			},
		},
		{
			Name:       "MusterGroupsBehind",
			Resources:  []string{o.arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/eks-*")},
			Conditions: Conditions{"Null": {"aws:ResourceTag/eks:nodegroup-name": {"false"}}},
			Actions: []Action{
				{Name: "autoscaling:CreateOrUpdateTags", Why: "tags that reach the instances"},
				{Name: "autoscaling:DeleteTags", Why: "Muster's tags that the specification no longer has"},
				{Name: "autoscaling:TerminateInstanceInAutoScalingGroup", Why: "chosen, drained instances go"},
			},
		},
		{
			Name: "MusterTagNodes", Resources: []string{o.arn("ec2", "instance/*")},
			Conditions: Conditions{"Null": {"aws:ResourceTag/eks:nodegroup-name": {"false"}}},
			Actions: []Action{
				{Name: "ec2:CreateTags", Why: "tags of instances that the pool's template did not give them"},
			},
		},
		{
			Name: "MusterReadNodeRoles", Resources: []string{o.role("*")}, Actions: []Action{
				{Name: "iam:GetRole", Why: "the node role by its name, and whose it is"},
				{Name: "iam:ListAttachedRolePolicies", Why: "which policies Muster's role lacks"},
			},
		},
	}
}

// madeRoles are the names of the roles that are made for nodes where the specification names none.
var madeRoles = []string{"*_nodegroup-iam-service-role"}

// nodePolicies lists the policies that every node needs.
var nodePolicies = []string{"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"}

// nodeRoles returns the grants for roles that are created for nodes. The policies that may be attached are restricted: a principal that may
// attach any policy to a machine's role could gain any permission.
func nodeRoles(o Options) []Grant {
	attach := Grant{
		Name: "MusterNodeRolePolicies", Resources: []string{o.role("*")}, Conditions: ours(), Actions: []Action{
			{Name: "iam:AttachRolePolicy", Why: "policies that every node needs"},
			{Name: "iam:DetachRolePolicy", Why: "a role is deleted without its policies alone"},
		},
	}
	if !o.EKSAddRoles {
		var arns []string
		for _, name := range nodePolicies {
			arns = append(arns, "arn:"+o.Partition+":iam::aws:policy/"+name)
		}
		attach.Conditions["ArnEquals"] = map[string][]string{"iam:PolicyARN": arns}
	}
	return []Grant{
		{
			Name: "MusterCreateNodeRoles", Resources: []string{o.role("*")}, Conditions: madeOurs(), Actions: []Action{
				{Name: "iam:CreateRole", Why: "a node role that does not exist is made with our owner tag"},
				{Name: "iam:TagRole", ByService: true, Why: "asked about when a role is made with tags"},
			},
		},
		{
			Name: "MusterOwnNodeRoles", Resources: []string{o.role("*")}, Conditions: ours(), Actions: []Action{
				{Name: "iam:DeleteRole", Why: "the pool is deleted"},
				{Name: "iam:ListInstanceProfilesForRole", Why: "what still holds the role of a pool that is deleted"},
			},
		},
		attach,
	}
}
