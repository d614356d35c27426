package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/muster-project/muster/sim/aws"
	simiam "github.com/muster-project/muster/sim/aws/iam"
)

// allow is a document of statements.
func allow(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
}

func statement(effect, actions, resource, condition string) string {
	s := fmt.Sprintf(`{"Effect":%q,"Action":%s,"Resource":%q`, effect, actions, resource)
	if condition != "" {
		s += `,"Condition":` + condition
	}
	return s + "}"
}

// What a policy says of making a launch template with a tag, which is tagging as well.
func TestPoliciesDecide(t *testing.T) {
	owned := `{"Null":{"aws:RequestTag/owner":"false"}}`
	for _, c := range []struct {
		why      string
		document string
		// denied is the action that the denial names, "" for none.
		denied string
	}{
		{"everything is allowed", allow(statement("Allow", `"*"`, "*", "")), ""},
		{"patterns of actions hold", allow(statement("Allow", `["ec2:Create*"]`, "*", "")), ""},
		{"actions have no case", allow(statement("Allow", `["EC2:createlaunchtemplate","ec2:createtags"]`, "*", "")), ""},
		{"nothing is allowed that is not named", allow(statement("Allow", `"ec2:Describe*"`, "*", "")), "ec2:CreateLaunchTemplate"},
		{"tags ask for a word of their own", allow(statement("Allow", `"ec2:CreateLaunchTemplate"`, "*", "")), "ec2:CreateTags"},
		{"a resource of another kind does not do", allow(statement("Allow", `"*"`, "arn:aws:ec2:*:*:instance/*", "")),
			"ec2:CreateLaunchTemplate"},
		{"a resource of the kind does", allow(statement("Allow", `"*"`, "arn:aws:ec2:*:*:launch-template/*", "")), ""},
		{"another region does not do", allow(statement("Allow", `"*"`, "arn:aws:ec2:us-east-1:*:launch-template/*", "")),
			"ec2:CreateLaunchTemplate"},
		{"one word against weighs more", allow(statement("Allow", `"*"`, "*", ""), statement("Deny", `"ec2:Create*"`, "*", "")),
			"ec2:CreateLaunchTemplate"},
		{"a condition that is met", allow(statement("Allow", `"*"`, "*", owned)), ""},
		{"a tag's value that is like another", allow(statement("Allow", `"*"`, "*", `{"StringLike":{"aws:RequestTag/owner":["y*","m?"]}}`)), ""},
		{"a condition that is not met", allow(statement("Allow", `"*"`, "*", `{"StringEquals":{"aws:RequestTag/owner":"you"}}`)),
			"ec2:CreateLaunchTemplate"},
		{"a key that is not there fails", allow(statement("Allow", `"*"`, "*", `{"StringEquals":{"aws:RequestTag/other":"x"}}`)),
			"ec2:CreateLaunchTemplate"},
		{"unless it need not be there", allow(statement("Allow", `"*"`, "*", `{"StringEqualsIfExists":{"aws:RequestTag/other":"x"}}`)), ""},
		{"all tags are among those", allow(statement("Allow", `"*"`, "*", `{"ForAllValues:StringEquals":{"aws:TagKeys":["owner","x"]}}`)), ""},
		{"not all tags are among those", allow(statement("Allow", `"*"`, "*", `{"ForAllValues:StringEquals":{"aws:TagKeys":["x"]}}`)),
			"ec2:CreateLaunchTemplate"},
		{"what is made is known to the tag", allow(statement("Allow", `"ec2:CreateLaunchTemplate"`, "*", ""),
			statement("Allow", `"ec2:CreateTags"`, "*", `{"StringEquals":{"ec2:CreateAction":"CreateLaunchTemplate"}}`)), ""},
		{"variables are filled", allow(statement("Allow", `"*"`, "arn:aws:ec2:${aws:RequestedRegion}:${aws:PrincipalAccount}:launch-template/*",
			"")), ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				data := w.data()
				ok(t, w.server.SetPolicies(aws.AccountID, []byte(c.document)))
				_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
					LaunchTemplateName: awssdk.String("workers"), LaunchTemplateData: data,
					TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate,
						Tags: []types.Tag{{Key: awssdk.String("owner"), Value: awssdk.String("me")}}}},
				})
				if c.denied == "" {
					ok(t, err)
					return
				}
				wantCode(t, err, "UnauthorizedOperation")
				if !strings.Contains(err.Error(), "perform: "+c.denied+" on resource: arn:aws:ec2:eu-west-1:123456789012:launch-template/*") {
					t.Errorf("want a denial of %s, got %v", c.denied, err)
				}
				if got := w.server.State(aws.AccountID, aws.Region).Templates; len(got) != 0 {
					t.Errorf("want nothing made by who may not, got %v", got)
				}
				if w.server.Asked().Denied[c.denied] != 1 {
					t.Errorf("want the denial noted, got %+v", w.server.Asked())
				}
			})
		})
	}
}

func TestPoliciesThatCannotBeMeant(t *testing.T) {
	for _, c := range []struct{ why, document string }{
		{"no JSON", `{`},
		{"no statement", `{"Version":"2012-10-17","Statement":[]}`},
		{"an effect that is none", allow(`{"Effect":"Maybe","Action":"*","Resource":"*"}`)},
		{"a field that is unknown", allow(`{"Effect":"Allow","Actions":"*","Resource":"*"}`)},
		{"no resource", allow(`{"Effect":"Allow","Action":"*"}`)},
		{"an action without a service", allow(statement("Allow", `"Describe"`, "*", ""))},
		{"a condition that is unknown", allow(statement("Allow", `"*"`, "*", `{"StringSounds":{"x":"y"}}`))},
		{"a principal", allow(`{"Effect":"Allow","Action":"*","Resource":"*","Principal":"*"}`)},
		{"another version", `{"Version":"2020-01-01","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`},
	} {
		if _, err := simiam.ParsePolicy([]byte(c.document)); err == nil {
			t.Errorf("%s: want it refused: %s", c.why, c.document)
		}
	}
}

// A service that launches for a user asks whether the user is allowed to.
func TestServicesAskForTheirCallers(t *testing.T) {
	group := statement("Allow", `["autoscaling:*","iam:CreateServiceLinkedRole"]`, "*", "")
	run := statement("Allow", `"ec2:RunInstances"`, "*", "")
	pass := statement("Allow", `"iam:PassRole"`, "arn:aws:iam::*:role/*.sigs.k8s.io",
		`{"StringEquals":{"iam:PassedToService":"ec2.amazonaws.com"}}`)
	for _, c := range []struct{ why, document, denied string }{
		{"all that it takes", allow(group, run, pass), ""},
		{"no launch", allow(group, pass), "ec2:RunInstances"},
		{"no role", allow(group, run), "iam:PassRole"},
		{"a role for another service", allow(group, run, strings.Replace(pass, "ec2.amazonaws.com", "eks.amazonaws.com", 1)), "iam:PassRole"},
		{"the service was never used", allow(strings.Replace(group, `,"iam:CreateServiceLinkedRole"`, "", 1), run, pass),
			"iam:CreateServiceLinkedRole"},
	} {
		t.Run(c.why, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				data := w.data()
				data.IamInstanceProfile = &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: awssdk.String(aws.NodeRole)}
				out, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String("workers"),
					LaunchTemplateData: data})
				ok(t, err)
				ok(t, w.server.SetPolicies(aws.AccountID, []byte(c.document)))
				_, err = w.as.CreateAutoScalingGroup(t.Context(), w.groupInput("workers", *out.LaunchTemplate.LaunchTemplateId, 0, 1, 1))
				if c.denied == "" {
					ok(t, err)
					return
				}
				wantCode(t, err, "AccessDenied")
				if !strings.Contains(err.Error(), "perform: "+c.denied+" ") {
					t.Errorf("want a denial of %s, got %v", c.denied, err)
				}
			})
		})
	}
}

// What carries a tag may be changed, what does not may not, and each service says so in its own words.
func TestTagsOfResourcesDecide(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		ctx := t.Context()
		mine, theirs := w.template("mine"), w.template("theirs")
		_, err := w.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{mine},
			Tags: []types.Tag{{Key: awssdk.String("owner"), Value: awssdk.String("me")}}})
		ok(t, err)
		for name, owner := range map[string]string{"mine": "me", "theirs": "you"} {
			w.group(name, mine, 0, 0, 1, func(in *autoscaling.CreateAutoScalingGroupInput) {
				in.Tags = []astypes.Tag{{Key: awssdk.String("owner"), Value: &owner}}
			})
			w.make(name, func(in *eks.CreateNodegroupInput) { in.Tags = map[string]string{"owner": owner} })
			_, err := w.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name,
				AssumeRolePolicyDocument: awssdk.String(trust("ec2.amazonaws.com")),
				Tags:                     []iamtypes.Tag{{Key: awssdk.String("owner"), Value: &owner}}})
			ok(t, err)
		}
		ok(t, w.server.SetPolicies(aws.AccountID,
			[]byte(allow(statement("Allow", `"*"`, "*", `{"StringEquals":{"aws:ResourceTag/owner":"me"}}`)))))
		for _, c := range []struct {
			service, code string
			do            func(name, template string) error
		}{
			{"ec2", "UnauthorizedOperation", func(_, template string) error {
				_, err := w.ec2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &template,
					DefaultVersion: awssdk.String("1")})
				return err
			}},
			{"autoscaling", "AccessDenied", func(name, _ string) error {
				_, err := w.as.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &name,
					DesiredCapacity: awssdk.Int32(0)})
				return err
			}},
			{"eks", "AccessDeniedException", func(name, _ string) error {
				_, err := w.eks.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: awssdk.String(eksName), NodegroupName: &name})
				return err
			}},
			{"iam", "AccessDenied", func(name, _ string) error {
				_, err := w.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
				return err
			}},
		} {
			ok(t, c.do("mine", mine))
			wantCode(t, c.do("theirs", theirs), c.code)
		}
	})
}

func trust(service string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":"sts:AssumeRole"}]}`
}

// A role's session may do what the role may, less where it was limited, and nothing of what the account's own keys may.
func TestSessionsOfRoles(t *testing.T) {
	read := allow(statement("Allow", `["ec2:DescribeVpcs","ec2:DescribeSubnets"]`, "*", ""))
	trusted := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + aws.AccountID +
		`:root"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"secret"}}}]}`
	account := aws.DefaultAccount()
	account.Roles = []aws.Role{{Name: "reader", Path: "/some/", Trust: trusted, Policy: read},
		{Name: "outsider", Trust: trust("ec2.amazonaws.com")}}
	inWorld(t, aws.Options{Accounts: []aws.Account{account}}, func(t *testing.T, w *world) {
		ctx := t.Context()
		take := func(role, external, policy string) (*ec2.Client, error) {
			in := &sts.AssumeRoleInput{RoleArn: awssdk.String("arn:aws:iam::" + aws.AccountID + ":role/" + role),
				RoleSessionName: awssdk.String("test")}
			if external != "" {
				in.ExternalId = &external
			}
			if policy != "" {
				in.Policy = &policy
			}
			out, err := w.sts.AssumeRole(ctx, in)
			if err != nil {
				return nil, err
			}
			c := out.Credentials
			return ec2.NewFromConfig(config(w.server, *c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken, aws.Region)), nil
		}
		for _, c := range []struct{ why, role, external string }{
			{"the external ID is not given", "some/reader", ""}, {"it is another one", "some/reader", "guess"},
			{"the role trusts others", "outsider", "secret"}, {"there is none", "missing", "secret"}, {"it is at another path", "reader", "secret"},
		} {
			if _, err := take(c.role, c.external, ""); err == nil {
				t.Errorf("%s: want it refused", c.why)
			} else {
				wantCode(t, err, "AccessDenied")
			}
		}
		reader, err := take("some/reader", "secret", "")
		ok(t, err)
		_, err = reader.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
		ok(t, err)
		_, err = reader.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{"ami-0"}})
		wantCode(t, err, "UnauthorizedOperation")
		limited, err := take("some/reader", "secret", allow(statement("Allow", `["ec2:DescribeVpcs","ec2:DescribeImages"]`, "*", "")))
		ok(t, err)
		_, err = limited.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
		ok(t, err)
		_, err = limited.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
		wantCode(t, err, "UnauthorizedOperation")
	})
}

// Keys that were given up are refused in each service's own words, and the new ones are taken.
func TestRotatedKeys(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		ctx := t.Context()
		w.server.RotateKey(aws.AccountID, "AKIANEWKEY0000000000", "another secret")
		_, err := w.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
		wantCode(t, err, "AuthFailure")
		_, err = w.eks.ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: awssdk.String(eksName)})
		wantCode(t, err, "UnrecognizedClientException")
		_, err = w.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: awssdk.String(aws.NodeRole)})
		wantCode(t, err, "InvalidClientTokenId")
		_, err = w.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		wantCode(t, err, "InvalidClientTokenId")
		_, again, _, _ := clientsOf(config(w.server, "AKIANEWKEY0000000000", "another secret", "", aws.Region))
		_, err = again.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
		ok(t, err)
		after(time.Second)
	})
}

// FuzzPolicy holds that no document does worse than be refused, and that one that is taken is judged.
func FuzzPolicy(f *testing.F) {
	f.Add(allow(statement("Allow", `"*"`, "*", `{"ForAnyValue:StringNotLikeIfExists":{"aws:TagKeys":["${aws:x","a*"]}}`)))
	f.Add(`{"Statement":{"Effect":"Deny","NotAction":["a:b"],"NotResource":[true,1],"Condition":{"Null":{"x":"true"}}}}`)
	f.Add(`{"Statement":[[],null]}`)
	f.Fuzz(func(t *testing.T, document string) {
		p, err := simiam.ParsePolicy([]byte(document))
		if err != nil {
			return
		}
		for _, s := range p.Statements {
			if s.Effect != "Allow" && s.Effect != "Deny" || s.Actions == nil && s.NotActions == nil || s.Resources == nil && s.NotResource == nil {
				t.Errorf("want a statement that says something, got %+v from %s", s, document)
			}
		}
		account := aws.DefaultAccount()
		account.Policy = []byte(document)
		s, err := aws.New(aws.Options{Accounts: []aws.Account{account}})
		ok(t, err)
		defer func() { ok(t, s.Close()) }()
		_, e, _, _ := clients(s, account, aws.Region)
		_, err = e.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		if err != nil {
			wantCode(t, err, "UnauthorizedOperation")
		}
	})
}

// EKS asks for its caller too: for the role that it is handed, for tags, and for launches from the caller's template.
func TestEKSAsksForItsCallers(t *testing.T) {
	create := statement("Allow", `"eks:CreateNodegroup"`, "arn:aws:eks:*:*:cluster/*", `{"Null":{"aws:RequestTag/muster.dev/owner":"false"}}`)
	tag := statement("Allow", `"eks:TagResource"`, "arn:aws:eks:*:*:nodegroup/*/*/*", "")
	pass := statement("Allow", `"iam:PassRole"`, "arn:aws:iam::*:role/eks-nodegroup.*",
		`{"StringEquals":{"iam:PassedToService":"eks.amazonaws.com"}}`)
	linked := statement("Allow", `"iam:CreateServiceLinkedRole"`, "arn:aws:iam::*:role/aws-service-role/*",
		`{"StringLike":{"iam:AWSServiceName":"eks-nodegroup.*"}}`)
	run := statement("Allow", `"ec2:RunInstances"`, "*", `{"ArnLike":{"ec2:LaunchTemplate":"arn:aws:ec2:*:*:launch-template/*"}}`)
	marks := statement("Allow", `"ec2:CreateTags"`, "arn:aws:ec2:*:*:instance/*", `{"StringEquals":{"ec2:CreateAction":"RunInstances"}}`)
	for _, c := range []struct {
		why, denied, code string
		statements        []string
	}{
		{"all that it takes", "", "", []string{create, tag, pass, linked, run, marks}},
		{"not the call", "eks:CreateNodegroup", "AccessDeniedException", []string{tag, pass, linked, run, marks}},
		{"not its tags", "eks:TagResource", "AccessDeniedException", []string{create, pass, linked, run, marks}},
		{"not the role", "iam:PassRole", "AccessDeniedException", []string{create, tag, linked, run, marks}},
		{"not the first use", "iam:CreateServiceLinkedRole", "AccessDeniedException", []string{create, tag, pass, run, marks}},
		{"not the launch", "ec2:RunInstances", "InvalidRequestException", []string{create, tag, pass, linked, marks}},
		{"not the tags of machines", "ec2:CreateTags", "InvalidRequestException", []string{create, tag, pass, linked, run}},
	} {
		t.Run(c.why, func(t *testing.T) {
			inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
				id := w.source("mine", &types.RequestLaunchTemplateData{InstanceType: "m5.large",
					TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{
						{ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{{Key: awssdk.String("a"), Value: awssdk.String("b")}}},
					}})
				ok(t, w.server.SetPolicies(aws.AccountID, []byte(allow(c.statements...))))
				_, err := w.eks.CreateNodegroup(t.Context(), w.input("blue", with(id, "1")))
				if c.denied == "" {
					ok(t, err)
					return
				}
				wantCode(t, err, c.code)
				if !strings.Contains(err.Error(), "perform: "+c.denied+" on resource: arn:aws:") || w.server.Asked().Denied[c.denied] != 1 {
					t.Errorf("want a denial of %s, got %v", c.denied, err)
				}
			})
		})
	}
}
