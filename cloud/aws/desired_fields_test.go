package aws_test

import (
	"errors"
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/desired"
)

func TestBlame(t *testing.T) {
	spec := &awsv1.AWSMachinePoolSpec{Subnets: []awsv1.AWSResourceReference{{ID: new("subnet-1")}, {ID: new("subnet-2")}}}
	spec.AWSLaunchTemplate.AdditionalSecurityGroups = []awsv1.AWSResourceReference{{ID: new("sg-1")}}
	full := "You must use a valid fully-formed launch template. "
	for _, c := range []struct{ reason, message, want string }{
		{"a key pair", full + "The key pair 'nope' does not exist", "spec.awsLaunchTemplate.sshKeyName"},
		{"a subnet, by its place in the list", "The subnet ID 'subnet-2' does not exist", "spec.subnets[1].id"},
		{"a subnet that the cluster brought", "The subnet ID 'subnet-9' does not exist", "spec.subnets"},
		{"a security group, by its place in the list", full + "The security group 'sg-1' does not exist",
			"spec.awsLaunchTemplate.additionalSecurityGroups[0].id"},
		{"an image", full + "The image id '[ami-1]' does not exist", "spec.awsLaunchTemplate.ami.id"},
		{"an instance profile", full + "Invalid IamInstanceProfile: nope", "spec.awsLaunchTemplate.iamInstanceProfile"},
		{"a removal that the group's own limit forbids",
			"Currently, desiredSize equals minSize (2). Terminating instance without replacement will violate group's min size constraint.",
			"spec.minSize"},
		{"an instance type", full + "The following supplied instance types do not exist: [m5.nope]", "spec.awsLaunchTemplate.instanceType"},
		{"words that name nothing", "The moon is in the wrong phase", ""},
	} {
		var got *cloud.Error
		if !errors.As(desired.Blame(&cloud.Error{Kind: cloud.Invalid, Code: "ValidationError", Message: c.message}, spec), &got) ||
			got.Field != c.want {
			t.Errorf("%s: want field %q, got %q", c.reason, c.want, got.Field)
		}
	}
}
