package aws_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/muster-project/muster/sim/aws"
)

const workerPolicy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"

// inIAM runs a test with a client of IAM in one region, and one in another, where the same is seen.
func inIAM(t *testing.T, f func(t *testing.T, here, there *iam.Client)) {
	t.Helper()
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		a := aws.DefaultAccount()
		client := func(region string) *iam.Client {
			return iam.NewFromConfig(config(checked{w.server, w.t}, a.AccessKeyID, a.SecretAccessKey, "", region))
		}
		f(t, client(aws.Region), client("us-east-1"))
	})
}

// A role is made with all that belongs to it, shown in every region, and goes once nothing hangs on it.
func TestRoleLife(t *testing.T) {
	inIAM(t, func(t *testing.T, here, there *iam.Client) {
		ctx, name := t.Context(), awssdk.String("Workers")
		tag := func(k, v string) types.Tag { return types.Tag{Key: &k, Value: &v} }
		made, err := here.CreateRole(ctx, &iam.CreateRoleInput{
			RoleName: name, Path: awssdk.String("/muster/"), AssumeRolePolicyDocument: awssdk.String(trust("ec2.amazonaws.com")),
			PermissionsBoundary: awssdk.String("arn:aws:iam::aws:policy/AdministratorAccess"), Tags: []types.Tag{tag("a", "1"), tag("b", "2")},
		})
		ok(t, err)
		if *made.Role.Arn != "arn:aws:iam::"+aws.AccountID+":role/muster/Workers" || !strings.HasPrefix(*made.Role.RoleId, "AROA") {
			t.Errorf("want its ARN and ID, got %s, %s", *made.Role.Arn, *made.Role.RoleId)
		}
		_, err = here.CreateRole(ctx, &iam.CreateRoleInput{RoleName: awssdk.String("workers"),
			AssumeRolePolicyDocument: awssdk.String(trust("ec2.amazonaws.com"))})
		wantCode(t, err, "EntityAlreadyExists")
		_, err = here.TagRole(ctx, &iam.TagRoleInput{RoleName: name, Tags: []types.Tag{tag("a", "3"), tag("c", "4")}})
		ok(t, err)
		_, err = here.UntagRole(ctx, &iam.UntagRoleInput{RoleName: name, TagKeys: []string{"b"}})
		ok(t, err)
		for _, arn := range []string{workerPolicy, workerPolicy, "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"} {
			_, err = here.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: &arn})
			ok(t, err)
		}
		_, err = here.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: name,
			PolicyDocument: awssdk.String(trust("eks.amazonaws.com"))})
		ok(t, err)
		got, err := there.GetRole(ctx, &iam.GetRoleInput{RoleName: name})
		ok(t, err)
		document, err := url.PathUnescape(*got.Role.AssumeRolePolicyDocument)
		ok(t, err)
		if document != trust("eks.amazonaws.com") || len(got.Role.Tags) != 2 || *got.Role.Tags[0].Value != "3" ||
			got.Role.PermissionsBoundary == nil {
			t.Errorf("want what was changed last, got %s, %v, %v", document, got.Role.Tags, got.Role.PermissionsBoundary)
		}
		list, err := here.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: name, MaxItems: awssdk.Int32(1)})
		ok(t, err)
		if len(list.AttachedPolicies) != 1 || !list.IsTruncated || *list.AttachedPolicies[0].PolicyName != "AmazonEKSWorkerNodePolicy" {
			t.Errorf("want a page of one and another, got %v", list.AttachedPolicies)
		}
		_, err = here.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name})
		wantCode(t, err, "DeleteConflict")
		for _, arn := range []string{workerPolicy, "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"} {
			_, err = here.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: &arn})
			ok(t, err)
		}
		_, err = here.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: awssdk.String(workerPolicy)})
		wantCode(t, err, "NoSuchEntity")
		_, err = here.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name})
		ok(t, err)
		_, err = there.GetRole(ctx, &iam.GetRoleInput{RoleName: name})
		wantCode(t, err, "NoSuchEntity")
	})
}

// Policies of one's own, inline policies and instance profiles hold a role as well.
func TestWhatHoldsARole(t *testing.T) {
	inIAM(t, func(t *testing.T, c, _ *iam.Client) {
		ctx, name := t.Context(), awssdk.String("held")
		document := awssdk.String(allow(statement("Allow", `"s3:*"`, "*", "")))
		_, err := c.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: awssdk.String(trust("ec2.amazonaws.com"))})
		ok(t, err)
		policy, err := c.CreatePolicy(ctx, &iam.CreatePolicyInput{PolicyName: awssdk.String("own"), PolicyDocument: document})
		ok(t, err)
		arn := policy.Policy.Arn
		for _, step := range []struct {
			why           string
			hold, release func() error
		}{
			{"an inline policy", func() error {
				_, err := c.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: name, PolicyName: awssdk.String("in"), PolicyDocument: document})
				return err
			}, func() error {
				_, err := c.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: name, PolicyName: awssdk.String("in")})
				return err
			}},
			{"a managed policy", func() error {
				_, err := c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: arn})
				return err
			}, func() error {
				_, err := c.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: name, PolicyArn: arn})
				return err
			}},
			{"an instance profile", func() error {
				if _, err := c.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: name}); err != nil {
					return err
				}
				_, err := c.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: name, RoleName: name})
				return err
			}, func() error {
				_, err := c.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: name, RoleName: name})
				return err
			}},
		} {
			ok(t, step.hold())
			_, err := c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name})
			wantCode(t, err, "DeleteConflict")
			if step.why == "a managed policy" {
				_, err = c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn})
				wantCode(t, err, "DeleteConflict")
			}
			if step.why == "an instance profile" {
				with, err := c.ListInstanceProfilesForRole(ctx, &iam.ListInstanceProfilesForRoleInput{RoleName: name})
				ok(t, err)
				if len(with.InstanceProfiles) != 1 || *with.InstanceProfiles[0].Roles[0].RoleName != *name {
					t.Errorf("want the profile with its role, got %v", with.InstanceProfiles)
				}
			}
			ok(t, step.release())
		}
		_, err = c.DeletePolicy(ctx, &iam.DeletePolicyInput{PolicyArn: arn})
		ok(t, err)
		_, err = c.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: name})
		ok(t, err)
		_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: name})
		ok(t, err)
	})
}

func TestIAMRefuses(t *testing.T) {
	inIAM(t, func(t *testing.T, c, _ *iam.Client) {
		ctx, name, fine := t.Context(), awssdk.String("x"), awssdk.String(trust("ec2.amazonaws.com"))
		create := func(change func(*iam.CreateRoleInput)) error {
			in := &iam.CreateRoleInput{RoleName: name, AssumeRolePolicyDocument: fine}
			change(in)
			_, err := c.CreateRole(ctx, in)
			return err
		}
		for _, step := range []struct {
			why, code string
			err       error
		}{
			{"a trust that is none", "MalformedPolicyDocument",
				create(func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = awssdk.String("{}") })},
			{"a name that is too long", "ValidationError",
				create(func(in *iam.CreateRoleInput) { in.RoleName = awssdk.String(strings.Repeat("x", 65)) })},
			{"a path that is none", "ValidationError", create(func(in *iam.CreateRoleInput) { in.Path = awssdk.String("muster") })},
			{"a boundary that does not exist", "NoSuchEntity", create(func(in *iam.CreateRoleInput) {
				in.PermissionsBoundary = awssdk.String("arn:aws:iam::aws:policy/Nothing")
			})},
			{"a session that is too short", "ValidationError", create(func(in *iam.CreateRoleInput) { in.MaxSessionDuration = awssdk.Int32(60) })},
		} {
			if step.err == nil {
				t.Errorf("%s: want it refused", step.why)
				continue
			}
			wantCode(t, step.err, step.code)
		}
		ok(t, create(func(*iam.CreateRoleInput) {}))
		_, err := c.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: name, PolicyArn: awssdk.String("arn:aws:iam::aws:policy/Nothing")})
		wantCode(t, err, "NoSuchEntity")
		_, err = c.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: awssdk.String("arn:aws:iam::aws:policy/Nothing")})
		wantCode(t, err, "NoSuchEntity")
		known, err := c.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: awssdk.String(workerPolicy)})
		ok(t, err)
		if *known.Policy.AttachmentCount != 2 {
			t.Errorf("want it attached to the two roles that nodes take, got %d", *known.Policy.AttachmentCount)
		}
		_, err = c.CreateServiceLinkedRole(ctx, &iam.CreateServiceLinkedRoleInput{AWSServiceName: awssdk.String("eks-nodegroup.amazonaws.com")})
		ok(t, err)
		_, err = c.CreateServiceLinkedRole(ctx, &iam.CreateServiceLinkedRoleInput{AWSServiceName: awssdk.String("eks-nodegroup.amazonaws.com")})
		wantCode(t, err, "InvalidInput")
		_, err = c.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: awssdk.String("AWSServiceRoleForAmazonEKSNodegroup")})
		wantCode(t, err, "UnmodifiableEntity")
		roles, err := c.ListRoles(ctx, &iam.ListRolesInput{PathPrefix: awssdk.String("/aws-service-role/")})
		ok(t, err)
		if names := roleNames(roles.Roles); !slices.Equal(names, []string{"AWSServiceRoleForAmazonEKSNodegroup"}) {
			t.Errorf("want the service's role, got %v", names)
		}
	})
}

func roleNames(roles []types.Role) []string {
	var out []string
	for _, r := range roles {
		out = append(out, *r.RoleName)
	}
	return out
}
