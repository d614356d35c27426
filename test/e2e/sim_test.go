package e2e

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	simaws "github.com/muster-project/muster/sim/aws"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
)

// TestSimAlone holds that the simulated cloud runs without a world, for anybody's client, and finds its state again.
func TestSimAlone(t *testing.T) {
	t.Parallel()
	world.NeedsBinary(t)
	dir := t.TempDir()
	open := func() (*world.World, account.Account) {
		w := world.Run(t, dir, "sim", "--clouds", "aws", "--dir", dir)
		w.Endpoint = w.Printed(`AWS_ENDPOINT_URL=(\S+)`)
		return w, account.Of(w)
	}
	first, cloud := open()
	out, err := cloud.EC2.RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: aws.String(anyImage(t, cloud)), InstanceType: simaws.InstanceType, SubnetId: aws.String(simaws.SubnetID), MinCount: aws.Int32(1),
		MaxCount: aws.Int32(1)})
	if err != nil {
		t.Fatal(err)
	}
	if c := first.Calls(); c.Total != 2 || c.Mutating != 1 {
		t.Errorf("want two calls, one of them a write, got %s", c)
	}
	first.Kill()
	_, cloud = open()
	if got := cloud.Holds().Instances; len(got) != 1 || got[0] != aws.ToString(out.Instances[0].InstanceId) {
		t.Errorf("want the instance that ran before, got %v", got)
	}
}

// anyImage returns the ID of an image that can be launched.
func anyImage(t *testing.T, cloud account.Account) string {
	t.Helper()
	images, err := cloud.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Owners: []string{"819546954734"}})
	if err != nil || len(images.Images) == 0 {
		t.Fatalf("want images, got %v", err)
	}
	return aws.ToString(images.Images[0].ImageId)
}
