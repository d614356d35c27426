package ec2

import "github.com/muster-project/muster/sim/aws/account"

// Operations are the actions of EC2.
var Operations = account.Join(
	account.Of(func(s *Service) *Templates { return s.Templates }, map[string]account.Operation[*Templates]{
		"CreateLaunchTemplate":           account.Write((*Templates).CreateLaunchTemplate),
		"CreateLaunchTemplateVersion":    account.Write((*Templates).CreateLaunchTemplateVersion),
		"ModifyLaunchTemplate":           account.Write((*Templates).modifyLaunchTemplate),
		"DeleteLaunchTemplate":           account.Write((*Templates).deleteLaunchTemplate),
		"DeleteLaunchTemplateVersions":   account.Write((*Templates).DeleteLaunchTemplateVersions),
		"DescribeLaunchTemplates":        account.Read((*Templates).describeLaunchTemplates),
		"DescribeLaunchTemplateVersions": account.Read((*Templates).describeLaunchTemplateVersions),
	}),
	account.Of(func(s *Service) *Instances { return s.Instances }, map[string]account.Operation[*Instances]{
		"RunInstances":                 account.Write((*Instances).runInstances),
		"TerminateInstances":           account.Write((*Instances).terminateInstances),
		"DescribeInstances":            account.List((*Instances).describeInstances),
		"DescribeInstanceStatus":       account.List((*Instances).describeInstanceStatus),
		"DescribeSpotInstanceRequests": account.List((*Instances).describeSpotInstanceRequests),
		"GetConsoleOutput":             account.Read((*Instances).getConsoleOutput),
	}),
	account.Of(func(s *Service) *Tags { return s.Tags }, map[string]account.Operation[*Tags]{
		"CreateTags":   account.Write((*Tags).createTags),
		"DeleteTags":   account.Write((*Tags).deleteTags),
		"DescribeTags": account.Read((*Tags).describeTags),
	}),
	account.Of(func(s *Service) *Images { return s.Images }, map[string]account.Operation[*Images]{
		"DescribeImages":                account.Read((*Images).describeImages),
		"DescribeInstanceTypes":         account.Read((*Images).describeInstanceTypes),
		"DescribeInstanceTypeOfferings": account.Read((*Images).describeInstanceTypeOfferings),
	}),
	account.Of(func(s *Service) *Network { return s.Network }, map[string]account.Operation[*Network]{
		"DescribeSubnets":           account.Read((*Network).describeSubnets),
		"DescribeSecurityGroups":    account.List((*Network).describeSecurityGroups),
		"DescribeKeyPairs":          account.Read((*Network).describeKeyPairs),
		"DescribeAvailabilityZones": account.Read((*Network).describeAvailabilityZones),
		"DescribeVpcs":              account.Read((*Network).describeVpcs),
		"DescribeRegions":           account.Read((*Network).describeRegions),
	}),
)
