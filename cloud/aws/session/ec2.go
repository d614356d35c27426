package session

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// ec2Operation is one operation of EC2, with its input and output.
type ec2Operation[I, O any] func(context.Context, *I, ...func(*ec2.Options)) (*O, error)

// EC2 has the operations of EC2 that Muster calls, with the names and types of the SDK. It holds no *ec2.Client: paginators turn what they are
// given into an interface, and the linker then keeps every exported method of it and of what it holds, which for the client are 800 operations
// and tens of megabytes of each binary.
type EC2 struct {
	createLaunchTemplate           ec2Operation[ec2.CreateLaunchTemplateInput, ec2.CreateLaunchTemplateOutput]
	createLaunchTemplateVersion    ec2Operation[ec2.CreateLaunchTemplateVersionInput, ec2.CreateLaunchTemplateVersionOutput]
	createTags                     ec2Operation[ec2.CreateTagsInput, ec2.CreateTagsOutput]
	deleteLaunchTemplate           ec2Operation[ec2.DeleteLaunchTemplateInput, ec2.DeleteLaunchTemplateOutput]
	deleteLaunchTemplateVersions   ec2Operation[ec2.DeleteLaunchTemplateVersionsInput, ec2.DeleteLaunchTemplateVersionsOutput]
	deleteTags                     ec2Operation[ec2.DeleteTagsInput, ec2.DeleteTagsOutput]
	describeImages                 ec2Operation[ec2.DescribeImagesInput, ec2.DescribeImagesOutput]
	describeInstanceTypes          ec2Operation[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput]
	describeInstances              ec2Operation[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput]
	describeLaunchTemplateVersions ec2Operation[ec2.DescribeLaunchTemplateVersionsInput, ec2.DescribeLaunchTemplateVersionsOutput]
	describeLaunchTemplates        ec2Operation[ec2.DescribeLaunchTemplatesInput, ec2.DescribeLaunchTemplatesOutput]
	describeSecurityGroups         ec2Operation[ec2.DescribeSecurityGroupsInput, ec2.DescribeSecurityGroupsOutput]
	describeSpotInstanceRequests   ec2Operation[ec2.DescribeSpotInstanceRequestsInput, ec2.DescribeSpotInstanceRequestsOutput]
	describeSubnets                ec2Operation[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput]
	modifyLaunchTemplate           ec2Operation[ec2.ModifyLaunchTemplateInput, ec2.ModifyLaunchTemplateOutput]
}

// NewEC2 takes the operations of a client.
func NewEC2(c *ec2.Client) *EC2 {
	return &EC2{
		createLaunchTemplate:           c.CreateLaunchTemplate,
		createLaunchTemplateVersion:    c.CreateLaunchTemplateVersion,
		createTags:                     c.CreateTags,
		deleteLaunchTemplate:           c.DeleteLaunchTemplate,
		deleteLaunchTemplateVersions:   c.DeleteLaunchTemplateVersions,
		deleteTags:                     c.DeleteTags,
		describeImages:                 c.DescribeImages,
		describeInstanceTypes:          c.DescribeInstanceTypes,
		describeInstances:              c.DescribeInstances,
		describeLaunchTemplateVersions: c.DescribeLaunchTemplateVersions,
		describeLaunchTemplates:        c.DescribeLaunchTemplates,
		describeSecurityGroups:         c.DescribeSecurityGroups,
		describeSpotInstanceRequests:   c.DescribeSpotInstanceRequests,
		describeSubnets:                c.DescribeSubnets,
		modifyLaunchTemplate:           c.ModifyLaunchTemplate,
	}
}

// CreateLaunchTemplate calls the operation of this name.
func (c *EC2) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, o ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	return c.createLaunchTemplate(ctx, in, o...)
}

// CreateLaunchTemplateVersion calls the operation of this name.
func (c *EC2) CreateLaunchTemplateVersion(ctx context.Context, in *ec2.CreateLaunchTemplateVersionInput, o ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateVersionOutput, error) {
	return c.createLaunchTemplateVersion(ctx, in, o...)
}

// CreateTags calls the operation of this name.
func (c *EC2) CreateTags(ctx context.Context, in *ec2.CreateTagsInput, o ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	return c.createTags(ctx, in, o...)
}

// DeleteLaunchTemplate calls the operation of this name.
func (c *EC2) DeleteLaunchTemplate(ctx context.Context, in *ec2.DeleteLaunchTemplateInput, o ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
	return c.deleteLaunchTemplate(ctx, in, o...)
}

// DeleteLaunchTemplateVersions calls the operation of this name.
func (c *EC2) DeleteLaunchTemplateVersions(ctx context.Context, in *ec2.DeleteLaunchTemplateVersionsInput, o ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateVersionsOutput, error) {
	return c.deleteLaunchTemplateVersions(ctx, in, o...)
}

// DeleteTags calls the operation of this name.
func (c *EC2) DeleteTags(ctx context.Context, in *ec2.DeleteTagsInput, o ...func(*ec2.Options)) (*ec2.DeleteTagsOutput, error) {
	return c.deleteTags(ctx, in, o...)
}

// DescribeImages calls the operation of this name.
func (c *EC2) DescribeImages(ctx context.Context, in *ec2.DescribeImagesInput, o ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	return c.describeImages(ctx, in, o...)
}

// DescribeInstanceTypes calls the operation of this name.
func (c *EC2) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, o ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	return c.describeInstanceTypes(ctx, in, o...)
}

// DescribeInstances calls the operation of this name.
func (c *EC2) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, o ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return c.describeInstances(ctx, in, o...)
}

// DescribeLaunchTemplateVersions calls the operation of this name.
func (c *EC2) DescribeLaunchTemplateVersions(ctx context.Context, in *ec2.DescribeLaunchTemplateVersionsInput, o ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	return c.describeLaunchTemplateVersions(ctx, in, o...)
}

// DescribeLaunchTemplates calls the operation of this name.
func (c *EC2) DescribeLaunchTemplates(ctx context.Context, in *ec2.DescribeLaunchTemplatesInput, o ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	return c.describeLaunchTemplates(ctx, in, o...)
}

// DescribeSecurityGroups calls the operation of this name.
func (c *EC2) DescribeSecurityGroups(ctx context.Context, in *ec2.DescribeSecurityGroupsInput, o ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	return c.describeSecurityGroups(ctx, in, o...)
}

// DescribeSpotInstanceRequests calls the operation of this name.
func (c *EC2) DescribeSpotInstanceRequests(ctx context.Context, in *ec2.DescribeSpotInstanceRequestsInput, o ...func(*ec2.Options)) (*ec2.DescribeSpotInstanceRequestsOutput, error) {
	return c.describeSpotInstanceRequests(ctx, in, o...)
}

// DescribeSubnets calls the operation of this name.
func (c *EC2) DescribeSubnets(ctx context.Context, in *ec2.DescribeSubnetsInput, o ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	return c.describeSubnets(ctx, in, o...)
}

// ModifyLaunchTemplate calls the operation of this name.
func (c *EC2) ModifyLaunchTemplate(ctx context.Context, in *ec2.ModifyLaunchTemplateInput, o ...func(*ec2.Options)) (*ec2.ModifyLaunchTemplateOutput, error) {
	return c.modifyLaunchTemplate(ctx, in, o...)
}
