package session

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// call is an operation of the SDK, with its input, output and options.
type call[I, O, Options any] func(context.Context, *I, ...func(*Options)) (*O, error)

// EKS has the operations of EKS that Muster calls, with the names and types of the SDK, and holds no client: see EC2.
type EKS struct {
	CreateNodegroup        call[eks.CreateNodegroupInput, eks.CreateNodegroupOutput, eks.Options]
	DeleteNodegroup        call[eks.DeleteNodegroupInput, eks.DeleteNodegroupOutput, eks.Options]
	DescribeNodegroup      call[eks.DescribeNodegroupInput, eks.DescribeNodegroupOutput, eks.Options]
	DescribeUpdate         call[eks.DescribeUpdateInput, eks.DescribeUpdateOutput, eks.Options]
	ListNodegroups         ListNodegroups
	ListUpdates            ListUpdates
	TagResource            call[eks.TagResourceInput, eks.TagResourceOutput, eks.Options]
	UntagResource          call[eks.UntagResourceInput, eks.UntagResourceOutput, eks.Options]
	UpdateNodegroupConfig  call[eks.UpdateNodegroupConfigInput, eks.UpdateNodegroupConfigOutput, eks.Options]
	UpdateNodegroupVersion call[eks.UpdateNodegroupVersionInput, eks.UpdateNodegroupVersionOutput, eks.Options]
}

// NewEKS takes the operations of a client.
func NewEKS(c *eks.Client) *EKS {
	return &EKS{
		CreateNodegroup:        c.CreateNodegroup,
		DeleteNodegroup:        c.DeleteNodegroup,
		DescribeNodegroup:      c.DescribeNodegroup,
		DescribeUpdate:         c.DescribeUpdate,
		ListNodegroups:         c.ListNodegroups,
		ListUpdates:            c.ListUpdates,
		TagResource:            c.TagResource,
		UntagResource:          c.UntagResource,
		UpdateNodegroupConfig:  c.UpdateNodegroupConfig,
		UpdateNodegroupVersion: c.UpdateNodegroupVersion,
	}
}

// IAM has the operations of IAM that Muster calls, with the names and types of the SDK, and holds no client: see EC2.
type IAM struct {
	AttachRolePolicy            call[iam.AttachRolePolicyInput, iam.AttachRolePolicyOutput, iam.Options]
	CreateRole                  call[iam.CreateRoleInput, iam.CreateRoleOutput, iam.Options]
	DeleteRole                  call[iam.DeleteRoleInput, iam.DeleteRoleOutput, iam.Options]
	DetachRolePolicy            call[iam.DetachRolePolicyInput, iam.DetachRolePolicyOutput, iam.Options]
	GetRole                     call[iam.GetRoleInput, iam.GetRoleOutput, iam.Options]
	ListAttachedRolePolicies    ListAttachedRolePolicies
	ListInstanceProfilesForRole ListInstanceProfilesForRole
}

// NewIAM takes the operations of a client.
func NewIAM(c *iam.Client) *IAM {
	return &IAM{
		AttachRolePolicy:            c.AttachRolePolicy,
		CreateRole:                  c.CreateRole,
		DeleteRole:                  c.DeleteRole,
		DetachRolePolicy:            c.DetachRolePolicy,
		GetRole:                     c.GetRole,
		ListAttachedRolePolicies:    c.ListAttachedRolePolicies,
		ListInstanceProfilesForRole: c.ListInstanceProfilesForRole,
	}
}

// SSM has the operations of SSM that Muster calls, with the names and types of the SDK, and holds no client: see EC2.
type SSM struct {
	GetParameter call[ssm.GetParameterInput, ssm.GetParameterOutput, ssm.Options]
}

// NewSSM takes the operations of a client.
func NewSSM(c *ssm.Client) *SSM {
	return &SSM{
		GetParameter: c.GetParameter,
	}
}

// The operations that paginators of the SDK are given, which call the method.
type (
	// ListNodegroups is the operation of EKS with this name.
	ListNodegroups call[eks.ListNodegroupsInput, eks.ListNodegroupsOutput, eks.Options]
	// ListUpdates is the operation of EKS with this name.
	ListUpdates call[eks.ListUpdatesInput, eks.ListUpdatesOutput, eks.Options]
	// ListAttachedRolePolicies is the operation of IAM with this name.
	ListAttachedRolePolicies call[iam.ListAttachedRolePoliciesInput, iam.ListAttachedRolePoliciesOutput, iam.Options]
	// ListInstanceProfilesForRole is the operation of IAM with this name.
	ListInstanceProfilesForRole call[iam.ListInstanceProfilesForRoleInput, iam.ListInstanceProfilesForRoleOutput, iam.Options]
)

// ListNodegroups calls f.
func (f ListNodegroups) ListNodegroups(
	ctx context.Context, in *eks.ListNodegroupsInput, o ...func(*eks.Options),
) (*eks.ListNodegroupsOutput, error) {
	return f(ctx, in, o...)
}

// ListUpdates calls f.
func (f ListUpdates) ListUpdates(
	ctx context.Context, in *eks.ListUpdatesInput, o ...func(*eks.Options),
) (*eks.ListUpdatesOutput, error) {
	return f(ctx, in, o...)
}

// ListAttachedRolePolicies calls f.
func (f ListAttachedRolePolicies) ListAttachedRolePolicies(
	ctx context.Context, in *iam.ListAttachedRolePoliciesInput, o ...func(*iam.Options),
) (*iam.ListAttachedRolePoliciesOutput, error) {
	return f(ctx, in, o...)
}

// ListInstanceProfilesForRole calls f.
func (f ListInstanceProfilesForRole) ListInstanceProfilesForRole(
	ctx context.Context, in *iam.ListInstanceProfilesForRoleInput, o ...func(*iam.Options),
) (*iam.ListInstanceProfilesForRoleOutput, error) {
	return f(ctx, in, o...)
}
