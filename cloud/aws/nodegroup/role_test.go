package nodegroup

import (
	"errors"
	"slices"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// TestPartitions have policies and a service of their own.
func TestPartitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, said, region, policy, service string }{
		{"the commercial regions", "", "eu-west-1", "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com"},
		{"China", "", "cn-north-1", "arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com.cn"},
		{"the government's regions", "", "us-gov-west-1", "arn:aws-us-gov:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com"},
		{"what the cluster says counts", "aws-cn", "eu-west-1", "arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com.cn"},
	} {
		own := aTarget(t, func(s *awsv1.AWSManagedMachinePoolSpec) { s.RoleAdditionalPolicies = []string{"arn:x"} })
		own.cluster.Partition = c.said
		p := &pass{driver: &Driver{}, c: &session.Session{Region: c.region}, t: own}
		if list := p.policies(); !slices.Contains(list, c.policy) || len(list) != len(nodePolicies) {
			t.Errorf("%s: want %s among the policies that every node needs, and no more, got %v", c.why, c.policy, list)
		}
		if got := p.instanceService(); got != c.service {
			t.Errorf("%s: want the service %s, got %s", c.why, c.service, got)
		}
		p.driver.options.AllowAddRoles = true
		if list := p.policies(); !slices.Contains(list, "arn:x") {
			t.Errorf("%s: want the specification's own policies where they are allowed, got %v", c.why, list)
		}
	}
}

// TestRolesThatEKSDoesNotSeeYet are asked for again, and roles that it refuses are not.
func TestRolesThatEKSDoesNotSeeYet(t *testing.T) {
	t.Parallel()
	now := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why     string
		message string
		made    time.Time
		want    cloud.Kind
	}{
		{"a role of a moment ago", "The role with name x cannot be found.", now.Add(-time.Minute), cloud.Conflict},
		{"a role of long ago", "The role with name x cannot be found.", now.Add(-time.Hour), cloud.Invalid},
		{"a role of others of which nothing is known", "The role with name x cannot be found.", time.Time{}, cloud.Invalid},
		{"something else", "The subnet ID 'subnet-1' does not exist", now.Add(-time.Minute), cloud.Invalid},
	} {
		p := &pass{now: now, memory: &memory{reads: reads{role: roleRead{made: c.made}}}}
		err := p.roleNotSeenYet(&cloud.Error{Kind: cloud.Invalid, Code: "InvalidParameterException", Message: c.message})
		if cloud.KindOf(err) != c.want {
			t.Errorf("%s: want an error of kind %s, got %v", c.why, c.want, err)
		}
	}
	p := &pass{now: now, memory: &memory{reads: reads{role: roleRead{made: now}}}}
	if other := errors.New("role"); !errors.Is(p.roleNotSeenYet(other), other) || p.roleNotSeenYet(nil) != nil {
		t.Error("want other errors, and none, left as they are")
	}
}
