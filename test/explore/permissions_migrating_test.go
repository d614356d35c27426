package explore

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/providers/aws/permissions"
)

// theirs are the actions on pools and node groups in the policy that clusterawsadm creates for the controllers of cluster-api-provider-aws,
// with IAM enabled for EKS, as its source has them (cmd/clusterawsadm/cloudformation/bootstrap/cluster_api_controller.go).
var theirs = strings.Fields(`
autoscaling:DescribeAutoScalingGroups autoscaling:DescribeInstanceRefreshes autoscaling:DescribeLifecycleHooks autoscaling:PutLifecycleHook
autoscaling:DeleteLifecycleHook autoscaling:CreateAutoScalingGroup autoscaling:UpdateAutoScalingGroup autoscaling:DeleteAutoScalingGroup
autoscaling:CreateOrUpdateTags autoscaling:DeleteTags autoscaling:StartInstanceRefresh autoscaling:CancelInstanceRefresh
ec2:CreateLaunchTemplate ec2:CreateLaunchTemplateVersion ec2:DescribeLaunchTemplates ec2:DescribeLaunchTemplateVersions
ec2:DeleteLaunchTemplate
ec2:DeleteLaunchTemplateVersions ec2:DescribeImages ec2:DescribeInstanceTypes ec2:DescribeInstances ec2:DescribeSubnets
ec2:DescribeSecurityGroups
ec2:DescribeKeyPairs ec2:DescribeVpcs ec2:DescribeDhcpOptions ec2:DescribeNetworkInterfaces ec2:CreateTags ec2:DeleteTags ec2:RunInstances
ec2:TerminateInstances eks:CreateNodegroup eks:DescribeNodegroup eks:UpdateNodegroupConfig eks:UpdateNodegroupVersion eks:DeleteNodegroup
eks:TagResource eks:UntagResource ssm:GetParameter iam:GetRole iam:ListAttachedRolePolicies iam:CreateRole iam:DeleteRole iam:TagRole
iam:AttachRolePolicy iam:DetachRolePolicy iam:CreateServiceLinkedRole iam:PassRole`)

// TestTheirPolicy holds that docs/migrating.md names exactly the actions that Muster needs in addition to that policy.
func TestTheirPolicy(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	const from, to = "The policy that `clusterawsadm` creates", "While they are missing"
	_, text, _ := strings.Cut(string(page), from)
	text, _, found := strings.Cut(text, to)
	if !found {
		t.Fatalf("want what is missing between %q and %q", from, to)
	}
	var named []string
	service := ""
	for _, word := range regexp.MustCompile("`(?:([a-z0-9]+):)?([A-Z][A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
		if word[1] != "" {
			service = word[1]
		}
		named = append(named, service+":"+word[2])
	}
	missing := slices.DeleteFunc(allowed(t, permissions.Options{EKS: true, EKSIAM: true}),
		func(action string) bool { return slices.Contains(theirs, action) })
	slices.Sort(named)
	if !slices.Equal(named, missing) {
		t.Errorf("want the page to name %v, it names %v", missing, named)
	}
}
