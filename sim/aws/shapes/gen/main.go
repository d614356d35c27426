// Command gen writes the request and response shapes of the simulated AWS.
//
// It reads the serializers and deserializers of the SDK in the module cache, takes from them the name that every field has on
// the wire, and writes plain structs with those names as tags. The simulator thus speaks exactly what the SDK speaks without
// importing it. It also writes the operations with what they require and declare, for test/specs.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// service is one SDK module with the operations that are wanted from it.
type service struct {
	name       string
	operations []string
	// shapeless is set for services of which only the table of operations is written: their requests and answers are few.
	shapeless bool
}

var services = []service{
	{name: "ec2", operations: []string{
		"CreateLaunchTemplate", "CreateLaunchTemplateVersion", "DescribeLaunchTemplates", "DescribeLaunchTemplateVersions",
		"ModifyLaunchTemplate", "DeleteLaunchTemplate", "DeleteLaunchTemplateVersions", "RunInstances", "DescribeInstances",
		"DescribeInstanceStatus", "DescribeSpotInstanceRequests", "TerminateInstances", "GetConsoleOutput", "DescribeImages",
		"DescribeInstanceTypes",
		"DescribeInstanceTypeOfferings", "DescribeSubnets", "DescribeSecurityGroups", "DescribeKeyPairs",
		"DescribeAvailabilityZones", "DescribeVpcs", "DescribeRegions", "CreateTags", "DeleteTags", "DescribeTags",
	}},
	{name: "autoscaling", operations: []string{
		"CreateAutoScalingGroup", "UpdateAutoScalingGroup", "DeleteAutoScalingGroup", "DescribeAutoScalingGroups",
		"DescribeAutoScalingInstances", "SetDesiredCapacity", "TerminateInstanceInAutoScalingGroup", "AttachInstances",
		"DetachInstances", "CreateOrUpdateTags", "DeleteTags", "DescribeTags", "PutLifecycleHook", "DescribeLifecycleHooks",
		"DeleteLifecycleHook", "CompleteLifecycleAction", "RecordLifecycleActionHeartbeat", "SuspendProcesses",
		"ResumeProcesses", "DescribeScalingActivities", "StartInstanceRefresh", "DescribeInstanceRefreshes",
		"CancelInstanceRefresh", "RollbackInstanceRefresh", "SetInstanceProtection", "SetInstanceHealth", "EnterStandby",
		"ExitStandby", "DescribeAccountLimits", "DescribeLifecycleHookTypes", "DescribeScalingProcessTypes",
		"DescribeTerminationPolicyTypes",
	}},
	{name: "sts", operations: []string{"GetCallerIdentity", "AssumeRole"}},
	{name: "iam", operations: []string{
		"CreateRole", "GetRole", "DeleteRole", "ListRoles", "TagRole", "UntagRole", "ListRoleTags", "UpdateAssumeRolePolicy",
		"PutRolePermissionsBoundary", "DeleteRolePermissionsBoundary", "CreateServiceLinkedRole",
		"AttachRolePolicy", "DetachRolePolicy", "ListAttachedRolePolicies", "PutRolePolicy", "GetRolePolicy", "DeleteRolePolicy",
		"ListRolePolicies",
		"CreatePolicy", "GetPolicy", "DeletePolicy", "GetPolicyVersion",
		"CreateInstanceProfile", "GetInstanceProfile", "DeleteInstanceProfile", "AddRoleToInstanceProfile", "RemoveRoleFromInstanceProfile",
		"ListInstanceProfilesForRole",
	}},
	{name: "eks", operations: []string{
		"CreateCluster", "DescribeCluster", "DeleteCluster", "ListClusters", "UpdateClusterVersion",
		"CreateNodegroup", "DescribeNodegroup", "ListNodegroups", "UpdateNodegroupConfig", "UpdateNodegroupVersion", "DeleteNodegroup",
		"ListUpdates", "DescribeUpdate", "CancelUpdate", "TagResource", "UntagResource", "ListTagsForResource",
	}},
	{name: "ssm", operations: []string{"GetParameter", "GetParameters", "GetParametersByPath"}, shapeless: true},
	{name: "s3", operations: []string{"CopyObject", "DeleteObject", "GetObject", "HeadObject", "PutObject"}, shapeless: true},
}

func main() {
	all := map[string]operation{}
	for _, s := range services {
		if err := generate(s, all); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
	if err := writeOperations(all); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate(s service, all map[string]operation) error {
	dir, version, err := moduleDir("github.com/aws/aws-sdk-go-v2/service/" + s.name)
	if err != nil {
		return err
	}
	m, err := readModel(dir)
	if err != nil {
		return err
	}
	if err := m.published(s, dir, all); err != nil || s.shapeless {
		return err
	}
	out, err := m.write(s, version, all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.name, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.name, "shapes.gen.go"), out, 0o644)
}

func moduleDir(path string) (dir, version string, err error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}} {{.Version}}", path).Output()
	if err != nil {
		return "", "", fmt.Errorf("find the module %s: %w", path, err)
	}
	dir, version, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return dir, version, nil
}
