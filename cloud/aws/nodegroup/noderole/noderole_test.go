package noderole

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// TestPartitions have policies and a service of their own.
func TestPartitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, partition, region, policy, service string }{
		{"the commercial regions", "", "eu-west-1", "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com"},
		{"China", "", "cn-north-1", "arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com.cn"},
		{"the government's regions", "", "us-gov-west-1", "arn:aws-us-gov:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com"},
		{"the cluster names one", "aws-cn", "eu-west-1", "arn:aws-cn:iam::aws:policy/AmazonEKS_CNI_Policy", "ec2.amazonaws.com.cn"},
	} {
		p := Pass{Session: &session.Session{Region: c.region}, Spec: Spec{Partition: c.partition, Policies: []string{"arn:x"}}}
		if list := p.policies(); !slices.Contains(list, c.policy) || len(list) != len(nodePolicies) {
			t.Errorf("%s: want %s among the policies that every node needs, and no more, got %v", c.why, c.policy, list)
		}
		if got := instanceService(p.Spec.partition(c.region)); got != c.service {
			t.Errorf("%s: want the service %s, got %s", c.why, c.service, got)
		}
		p.Spec.MayAttach = true
		if list := p.policies(); !slices.Contains(list, "arn:x") {
			t.Errorf("%s: want the specification's own policies where they are allowed, got %v", c.why, list)
		}
	}
}

// TestNames holds which role a pool has.
func TestNames(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:iam::1:role/path/theirs"
	for _, c := range []struct {
		why, want string
		spec      Spec
	}{
		{"the user names one", "mine", Spec{Name: "mine", Current: arn, MayCreate: true}},
		{"the node group has one", "theirs", Spec{Current: arn, MayCreate: true}},
		{"none may be created", commonRole, Spec{Cluster: "c", Group: "workers"}},
		{"one may be created", "c-workers_nodegroup-iam-service-role", Spec{Cluster: "c", Group: "workers", MayCreate: true}},
	} {
		if got := c.spec.roleName(); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
	if got := (Spec{Cluster: "c", Group: strings.Repeat("n", 63)}).ownName(); len(got) != maxNameLength {
		t.Errorf("want a long name cut to %d characters, got %q", maxNameLength, got)
	}
}

// TestNotYetVisible holds that EKS's rejection of a new role is tried again, and other rejections are not.
func TestNotYetVisible(t *testing.T) {
	t.Parallel()
	now := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why     string
		message string
		made    time.Time
		want    cloud.ErrorKind
	}{
		{"a role of a moment ago", "The role with name x cannot be found.", now.Add(-time.Minute), cloud.Conflict},
		{"a role of long ago", "The role with name x cannot be found.", now.Add(-time.Hour), cloud.Invalid},
		{"another owner's role of unknown age", "The role with name x cannot be found.", time.Time{}, cloud.Invalid},
		{"something else", "The subnet ID 'subnet-1' does not exist", now.Add(-time.Minute), cloud.Invalid},
	} {
		err := Memory{made: c.made}.NotYetVisible(&cloud.Error{Kind: cloud.Invalid, Code: "InvalidParameterException", Message: c.message}, now)
		if cloud.KindOf(err) != c.want {
			t.Errorf("%s: want an error of kind %s, got %v", c.why, c.want, err)
		}
	}
	role := Memory{made: now}
	if other := errors.New("role"); !errors.Is(role.NotYetVisible(other, now), other) || role.NotYetVisible(nil, now) != nil {
		t.Error("want other errors, and none, left as they are")
	}
}
