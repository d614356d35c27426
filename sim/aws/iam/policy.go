package iam

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// awsPolicies are the managed policies that AWS publishes, as far as they matter here, with what they allow in short.
var awsPolicies = map[string]string{
	"AdministratorAccess":                            `"*"`,
	"ReadOnlyAccess":                                 `["ec2:Describe*","autoscaling:Describe*","eks:Describe*","eks:List*","iam:Get*","iam:List*","ssm:Get*","s3:Get*","s3:List*"]`,
	"AmazonEKSWorkerNodePolicy":                      `["ec2:Describe*","eks:DescribeCluster","eks-auth:AssumeRoleForPodIdentity"]`,
	"AmazonEKS_CNI_Policy":                           `["ec2:AssignPrivateIpAddresses","ec2:AttachNetworkInterface","ec2:CreateNetworkInterface","ec2:Describe*","ec2:CreateTags"]`,
	"AmazonEC2ContainerRegistryReadOnly":             `["ecr:Get*","ecr:Describe*","ecr:List*","ecr:BatchGetImage"]`,
	"AmazonEC2ContainerRegistryPullOnly":             `["ecr:GetAuthorizationToken","ecr:BatchGetImage","ecr:GetDownloadUrlForLayer"]`,
	"AmazonEKSClusterPolicy":                         `["ec2:*","autoscaling:Describe*","autoscaling:UpdateAutoScalingGroup"]`,
	"AmazonEKSServicePolicy":                         `["ec2:*","eks:*"]`,
	"AmazonEKSVPCResourceController":                 `["ec2:*NetworkInterface*"]`,
	"AmazonSSMManagedInstanceCore":                   `["ssm:*","ssmmessages:*","ec2messages:*"]`,
	"CloudWatchAgentServerPolicy":                    `["cloudwatch:PutMetricData","logs:*"]`,
	"AmazonS3ReadOnlyAccess":                         `["s3:Get*","s3:List*"]`,
	"service-role/AmazonEBSCSIDriverPolicy":          `["ec2:*Volume*","ec2:*Snapshot*","ec2:Describe*"]`,
	"service-role/AmazonEC2RoleforSSM":               `["ssm:*"]`,
	"aws-service-role/AWSServiceRoleForEKSNodegroup": `["ec2:*","autoscaling:*"]`,
}

// AwsPolicyPrefix begins the ARNs of policies that AWS publishes.
const AwsPolicyPrefix = "arn:aws:iam::aws:policy/"

// Document is the text of a managed policy, of AWS's or of the account's own.
func (d *Directory) Document(arn string) (string, error) {
	if name, ok := strings.CutPrefix(arn, AwsPolicyPrefix); ok && awsPolicies[name] != "" {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":` + awsPolicies[name] + `,"Resource":"*"}]}`, nil
	}
	if !strings.HasPrefix(arn, "arn:") {
		return "", wire.Refuse("InvalidInput", "ARN %s is not valid.", arn)
	}
	if p := d.policies.Get(arn); p != nil {
		return p.Document, nil
	}
	return "", noSuchEntity("Policy %s does not exist or is not attachable.", arn)
}

func policyName(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

func (r *Service) attachRolePolicy(in *iam.AttachRolePolicyInput) (*iam.AttachRolePolicyOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	arn := shapes.Str(in.PolicyArn)
	if _, err := r.Directory.Document(arn); err != nil {
		return nil, err
	}
	if slices.Contains(found.Attached, arn) {
		return &iam.AttachRolePolicyOutput{}, nil
	}
	if len(found.Attached) >= maxAttached {
		return nil, conflict("LimitExceeded", "Cannot exceed quota for PoliciesPerRole: %d", maxAttached)
	}
	found.Attached = append(slices.Clone(found.Attached), arn)
	slices.Sort(found.Attached)
	r.Directory.touch(found)
	return &iam.AttachRolePolicyOutput{}, nil
}

func (r *Service) detachRolePolicy(in *iam.DetachRolePolicyInput) (*iam.DetachRolePolicyOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	at := slices.Index(found.Attached, shapes.Str(in.PolicyArn))
	if at < 0 {
		return nil, noSuchEntity("Policy %s was not found.", shapes.Str(in.PolicyArn))
	}
	found.Attached = slices.Delete(slices.Clone(found.Attached), at, at+1)
	r.Directory.touch(found)
	return &iam.DetachRolePolicyOutput{}, nil
}

func (r *Service) listAttachedRolePolicies(in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	page, next, more, err := pageIAM(r, found.Attached, func(arn string) string { return arn }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListAttachedRolePoliciesOutput{Marker: next, IsTruncated: more}
	for _, arn := range page {
		out.AttachedPolicies = append(out.AttachedPolicies, iam.AttachedPolicy{PolicyArn: new(arn), PolicyName: new(policyName(arn))})
	}
	return out, nil
}

func (r *Service) putRolePolicy(in *iam.PutRolePolicyInput) (*iam.PutRolePolicyOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if err := checkIAMName("policyName", shapes.Str(in.PolicyName), ""); err != nil {
		return nil, err
	}
	if err := checkPolicyText(shapes.Str(in.PolicyDocument), maxInlineText); err != nil {
		return nil, err
	}
	inline := maps.Clone(found.Inline)
	if inline == nil {
		inline = map[string]string{}
	}
	inline[shapes.Str(in.PolicyName)] = *in.PolicyDocument
	found.Inline = inline
	r.Directory.touch(found)
	return &iam.PutRolePolicyOutput{}, nil
}

// checkPolicyText refuses a document that says nothing or too much; white space does not count.
func checkPolicyText(document string, limit int) error {
	if n := len(strings.Join(strings.Fields(document), "")); n > limit {
		return conflict("LimitExceeded", "Cannot exceed quota for PolicySize: %d", limit)
	}
	if _, err := ParsePolicy([]byte(document)); err != nil {
		return wire.Refuse("MalformedPolicyDocument", "Syntax errors in policy: %v", err)
	}
	return nil
}

func (r *Service) getRolePolicy(in *iam.GetRolePolicyInput) (*iam.GetRolePolicyOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	document, ok := found.Inline[shapes.Str(in.PolicyName)]
	if !ok {
		return nil, noSuchEntity("The role policy with name %s cannot be found.", shapes.Str(in.PolicyName))
	}
	return &iam.GetRolePolicyOutput{RoleName: new(found.Name), PolicyName: in.PolicyName, PolicyDocument: encoded(document)}, nil
}

func (r *Service) deleteRolePolicy(in *iam.DeleteRolePolicyInput) (*iam.DeleteRolePolicyOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if _, ok := found.Inline[shapes.Str(in.PolicyName)]; !ok {
		return nil, noSuchEntity("The role policy with name %s cannot be found.", shapes.Str(in.PolicyName))
	}
	inline := maps.Clone(found.Inline)
	delete(inline, *in.PolicyName)
	found.Inline = inline
	r.Directory.touch(found)
	return &iam.DeleteRolePolicyOutput{}, nil
}

func (r *Service) listRolePolicies(in *iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(found.Inline))
	page, next, more, err := pageIAM(r, names, func(n string) string { return n }, in.Marker, in.MaxItems)
	return &iam.ListRolePoliciesOutput{PolicyNames: page, Marker: next, IsTruncated: more}, err
}

func (r *Service) createPolicy(in *iam.CreatePolicyInput) (*iam.CreatePolicyOutput, error) {
	d, path := r.Directory, cmp.Or(shapes.Str(in.Path), "/")
	if err := checkIAMName("policyName", shapes.Str(in.PolicyName), path); err != nil {
		return nil, err
	}
	if err := checkPolicyText(shapes.Str(in.PolicyDocument), maxPolicyText); err != nil {
		return nil, err
	}
	tags, err := iamTags(in.Tags)
	if err != nil {
		return nil, err
	}
	arn := d.ARN("policy", path, shapes.Str(in.PolicyName))
	if d.policies.Get(arn) != nil {
		return nil, conflict("EntityAlreadyExists", "A policy called %s already exists. Duplicate names are not allowed.",
			shapes.Str(in.PolicyName))
	}
	made := &managedPolicy{Name: *in.PolicyName, Path: path, ID: d.NewID("ANPA"), Document: *in.PolicyDocument,
		Description: shapes.Str(in.Description), Created: r.core.Now, Tags: tags}
	d.policies.Put(arn, made)
	return &iam.CreatePolicyOutput{Policy: d.showPolicy(arn, made)}, nil
}

// showPolicy is a managed policy; p is nil for one of AWS's.
func (d *Directory) showPolicy(arn string, p *managedPolicy) *iam.Policy {
	count := 0
	for _, r := range d.Roles.All() {
		if slices.Contains(r.Attached, arn) {
			count++
		}
	}
	out := &iam.Policy{
		Arn: new(arn), PolicyName: new(policyName(arn)), DefaultVersionId: new("v1"), IsAttachable: true, AttachmentCount: new(int32(count)),
		Path: new("/"), PolicyId: new("ANPA" + strings.ToUpper(d.seed.Hex(17, arn))), CreateDate: shapes.Stamp(catalogue.FirstBuild),
		UpdateDate: shapes.Stamp(catalogue.FirstBuild),
	}
	if p != nil {
		out.Path, out.PolicyId, out.CreateDate, out.UpdateDate, out.Tags = new(p.Path), new(p.ID), shapes.Stamp(p.Created),
			shapes.Stamp(p.Created), showIAMTags(p.Tags)
	}
	return out
}

func (r *Service) getPolicy(in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
	if _, err := r.Directory.Document(shapes.Str(in.PolicyArn)); err != nil {
		return nil, err
	}
	return &iam.GetPolicyOutput{Policy: r.Directory.showPolicy(*in.PolicyArn, r.Directory.policies.Get(*in.PolicyArn))}, nil
}

func (r *Service) getPolicyVersion(in *iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
	document, err := r.Directory.Document(shapes.Str(in.PolicyArn))
	if err != nil {
		return nil, err
	}
	if shapes.Str(in.VersionId) != "v1" {
		return nil, noSuchEntity("Policy %s version %s does not exist or is not attachable.", *in.PolicyArn, shapes.Str(in.VersionId))
	}
	return &iam.GetPolicyVersionOutput{PolicyVersion: &iam.PolicyVersion{Document: encoded(document), VersionId: new("v1"),
		IsDefaultVersion: true}}, nil
}

func (r *Service) deletePolicy(in *iam.DeletePolicyInput) (*iam.DeletePolicyOutput, error) {
	arn := shapes.Str(in.PolicyArn)
	p := r.Directory.policies.Get(arn)
	if p == nil {
		return nil, noSuchEntity("Policy %s was not found.", arn)
	}
	if n := shapes.Val(r.Directory.showPolicy(arn, p).AttachmentCount); n > 0 {
		return nil, conflict("DeleteConflict", "Cannot delete a policy attached to entities.")
	}
	r.Directory.policies.Delete(arn)
	return &iam.DeletePolicyOutput{}, nil
}
