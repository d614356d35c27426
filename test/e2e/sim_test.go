package e2e

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	simaws "github.com/muster-project/muster/sim/aws"
)

// TestSimAlone holds that the simulated cloud runs without a world, for anybody's client, and finds its state again.
func TestSimAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary: left out with -short")
	}
	dir := t.TempDir()
	open := func() (*world, account) {
		w := run(t, dir, "sim", "--clouds", "aws", "--dir", dir)
		w.endpoint = w.printed(`AWS_ENDPOINT_URL=(\S+)`)
		return w, w.account()
	}
	first, cloud := open()
	out, err := cloud.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: aws.String(image(t, cloud)), InstanceType: simaws.InstanceType, SubnetId: aws.String(simaws.SubnetID), MinCount: aws.Int32(1), MaxCount: aws.Int32(1)})
	if err != nil {
		t.Fatal(err)
	}
	if c := first.calls(); c.Total != 2 || c.Mutating != 1 {
		t.Errorf("want two calls, one of them a write, got %s", c)
	}
	first.kill()
	_, cloud = open()
	if got := cloud.holds().instances; len(got) != 1 || got[0] != aws.ToString(out.Instances[0].InstanceId) {
		t.Errorf("want the instance that ran before, got %v", got)
	}
}

// image is one that can be launched.
func image(t *testing.T, cloud account) string {
	t.Helper()
	images, err := cloud.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Owners: []string{"819546954734"}})
	if err != nil || len(images.Images) == 0 {
		t.Fatalf("want images, got %v", err)
	}
	return aws.ToString(images.Images[0].ImageId)
}
