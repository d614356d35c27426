package session

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// EC2 has the operations of EC2 that Muster calls, with the names and types of the SDK. It holds no *ec2.Client: paginators turn what they
// are given into an interface, and the linker then keeps every exported method of it and of what it holds, which for the client are 800
// operations and tens of megabytes of each binary.
type EC2 struct {
	createLaunchTemplate           call[ec2.CreateLaunchTemplateInput, ec2.CreateLaunchTemplateOutput, ec2.Options]
	createLaunchTemplateVersion    call[ec2.CreateLaunchTemplateVersionInput, ec2.CreateLaunchTemplateVersionOutput, ec2.Options]
	createTags                     call[ec2.CreateTagsInput, ec2.CreateTagsOutput, ec2.Options]
	deleteLaunchTemplate           call[ec2.DeleteLaunchTemplateInput, ec2.DeleteLaunchTemplateOutput, ec2.Options]
	deleteLaunchTemplateVersions   call[ec2.DeleteLaunchTemplateVersionsInput, ec2.DeleteLaunchTemplateVersionsOutput, ec2.Options]
	deleteTags                     call[ec2.DeleteTagsInput, ec2.DeleteTagsOutput, ec2.Options]
	describeImages                 call[ec2.DescribeImagesInput, ec2.DescribeImagesOutput, ec2.Options]
	describeInstanceTypes          call[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput, ec2.Options]
	describeInstances              call[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput, ec2.Options]
	describeLaunchTemplateVersions call[ec2.DescribeLaunchTemplateVersionsInput, ec2.DescribeLaunchTemplateVersionsOutput, ec2.Options]
	describeLaunchTemplates        call[ec2.DescribeLaunchTemplatesInput, ec2.DescribeLaunchTemplatesOutput, ec2.Options]
	describeSecurityGroups         call[ec2.DescribeSecurityGroupsInput, ec2.DescribeSecurityGroupsOutput, ec2.Options]
	describeSpotInstanceRequests   call[ec2.DescribeSpotInstanceRequestsInput, ec2.DescribeSpotInstanceRequestsOutput, ec2.Options]
	describeSubnets                call[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput, ec2.Options]
	modifyLaunchTemplate           call[ec2.ModifyLaunchTemplateInput, ec2.ModifyLaunchTemplateOutput, ec2.Options]
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
func (c *EC2) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput,
	o ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	return c.createLaunchTemplate(ctx, in, o...)
}

// CreateLaunchTemplateVersion calls the operation of this name.
func (c *EC2) CreateLaunchTemplateVersion(ctx context.Context, in *ec2.CreateLaunchTemplateVersionInput,
	o ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateVersionOutput, error) {
	return c.createLaunchTemplateVersion(ctx, in, o...)
}

// CreateTags calls the operation of this name.
func (c *EC2) CreateTags(ctx context.Context, in *ec2.CreateTagsInput, o ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	return c.createTags(ctx, in, o...)
}

// DeleteLaunchTemplate calls the operation of this name.
func (c *EC2) DeleteLaunchTemplate(ctx context.Context, in *ec2.DeleteLaunchTemplateInput,
	o ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
	return c.deleteLaunchTemplate(ctx, in, o...)
}

// DeleteLaunchTemplateVersions calls the operation of this name.
func (c *EC2) DeleteLaunchTemplateVersions(ctx context.Context, in *ec2.DeleteLaunchTemplateVersionsInput,
	o ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateVersionsOutput, error) {
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
func (c *EC2) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput,
	o ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	return c.describeInstanceTypes(ctx, in, o...)
}

// DescribeInstances calls the operation of this name.
func (c *EC2) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput,
	o ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return c.describeInstances(ctx, in, o...)
}

// DescribeLaunchTemplateVersions calls the operation of this name.
func (c *EC2) DescribeLaunchTemplateVersions(ctx context.Context, in *ec2.DescribeLaunchTemplateVersionsInput,
	o ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	return c.describeLaunchTemplateVersions(ctx, in, o...)
}

// DescribeLaunchTemplates calls the operation of this name.
func (c *EC2) DescribeLaunchTemplates(ctx context.Context, in *ec2.DescribeLaunchTemplatesInput,
	o ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	return c.describeLaunchTemplates(ctx, in, o...)
}

// DescribeSecurityGroups calls the operation of this name.
func (c *EC2) DescribeSecurityGroups(ctx context.Context, in *ec2.DescribeSecurityGroupsInput,
	o ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	return c.describeSecurityGroups(ctx, in, o...)
}

// DescribeSpotInstanceRequests calls the operation of this name.
func (c *EC2) DescribeSpotInstanceRequests(ctx context.Context, in *ec2.DescribeSpotInstanceRequestsInput,
	o ...func(*ec2.Options)) (*ec2.DescribeSpotInstanceRequestsOutput, error) {
	return c.describeSpotInstanceRequests(ctx, in, o...)
}

// DescribeSubnets calls the operation of this name.
func (c *EC2) DescribeSubnets(ctx context.Context, in *ec2.DescribeSubnetsInput,
	o ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	return c.describeSubnets(ctx, in, o...)
}

// ModifyLaunchTemplate calls the operation of this name.
func (c *EC2) ModifyLaunchTemplate(ctx context.Context, in *ec2.ModifyLaunchTemplateInput,
	o ...func(*ec2.Options)) (*ec2.ModifyLaunchTemplateOutput, error) {
	return c.modifyLaunchTemplate(ctx, in, o...)
}
