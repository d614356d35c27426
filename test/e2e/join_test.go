package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// TestLongSeed003 applies the older published manifest, unchanged and without its cluster: the world creates the cluster, the pool reports
// exactly that its version is too old, and runs once it is not.
func TestLongSeed003(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "-f", "../compat/testdata/seed-003.yaml")
	w.Eventually("the pool to say that its version is too old", func() error {
		got := w.Conditions("capa-mp-0")
		if !regexp.MustCompile(`BootstrapConfigReady=False .*v?1\.16\.8.*1\.22`).MatchString(got) {
			return fmt.Errorf("the conditions are\n%s", got)
		}
		return nil
	})
	if err := account.Of(w).Holds().Empty(); err != nil {
		t.Errorf("want nothing in the cloud before there is bootstrap data: %v", err)
	}
	// The control plane comes first, as in life: the world's is as old as its pools.
	w.Kubectl("patch", "localcontrolplane/capa", "--type=merge", "-p", `{"spec":{"version":"v1.30.2"}}`)
	w.Kubectl("patch", "machinepool/capa-mp-0", "--type=merge", "-p", `{"spec":{"template":{"spec":{"version":"v1.30.2"}}}}`)
	w.Ready("capa-mp-0", 2)
	if got := w.ReadFrom("capa", "{.items[*].status.nodeInfo.kubeletVersion}", "nodes"); got != "v1.30.2 v1.30.2" {
		t.Errorf("want nodes of the version that the pool asks for, got %s", got)
	}
}

// bootstrapToken finds a bootstrap token in bootstrap data.
var bootstrapToken = regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`)

// expiredToken has a machine start with an expired token: it runs, never joins, and its console, read through the cloud, shows why without
// the token.
func expiredToken(w *world.World) {
	w.T.Helper()
	const expired = "abcdef.0123456789abcdef"
	copyBootstrapData(w, "late-data", func(data string) string { return bootstrapToken.ReplaceAllString(data, expired) })
	w.Apply(account.PoolOf("late", dataFrom("late")...))
	w.Wait("awsmachinepool/late", "{.status.replicas}", "1")
	cloud := account.Of(w)
	id := w.Read("{.status.instances[0].instanceID}", "awsmachinepool/late")
	w.Eventually("the console to name the token that failed", func() error {
		text := consoleOf(cloud, id)
		if strings.Contains(text, expired) {
			w.T.Fatalf("the console gives away the token:\n%s", text)
		}
		if !regexp.MustCompile(`(?i)token.*abcdef|abcdef.*token`).MatchString(text) {
			return fmt.Errorf("the console of %s is\n%s", id, text)
		}
		return nil
	})
	if got := strings.Fields(w.Workload("capa", "get", "nodes", "-o", "name")); len(got) != 2 {
		w.T.Errorf("want the two nodes of the other pool and no third, got %v", got)
	}
	if got := w.Conditions("late"); !regexp.MustCompile(`InstancesReady=False|Ready=False`).MatchString(got) {
		w.T.Errorf("want the pool to say that its machine is not there, got\n%s", got)
	}
	w.Kubectl("delete", "machinepool/late", "--timeout", world.WaitLimit.String())
}

// consoleOf reads the console of an instance.
func consoleOf(a account.Account, id string) string {
	a.T.Helper()
	out, err := a.EC2.GetConsoleOutput(a.T.Context(), &ec2.GetConsoleOutputInput{InstanceId: aws.String(id)})
	if err != nil {
		a.T.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(aws.ToString(out.Output))
	if err != nil {
		a.T.Fatal(err)
	}
	return string(text)
}

// launchTemplateData returns the main fields of the launch template data of the good pool.
func launchTemplateData(ctx context.Context, w *world.World, cloud account.Account) *ec2types.RequestLaunchTemplateData {
	w.T.Helper()
	groups, err := cloud.Scaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
	if err != nil || len(groups.AutoScalingGroups) == 0 {
		w.T.Fatalf("want the good pool's group: %v", err)
	}
	versions, err := cloud.EC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: groups.AutoScalingGroups[0].LaunchTemplate.LaunchTemplateId, Versions: []string{"$Latest"}})
	if err != nil || len(versions.LaunchTemplateVersions) == 0 {
		w.T.Fatalf("want the good pool's launch template: %v", err)
	}
	return &ec2types.RequestLaunchTemplateData{
		ImageId: versions.LaunchTemplateVersions[0].LaunchTemplateData.ImageId, InstanceType: ec2types.InstanceType(simaws.InstanceType),
	}
}
