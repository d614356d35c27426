package ec2

import "github.com/muster-project/muster/sim/evidence"

// Beliefs returns the behaviour of EC2 that drivers rely on.
func Beliefs() []evidence.Row {
	const (
		sdk = "aws-sdk-go-v2/service/ec2 v1.344.0"
		// examples of the service model; verified are tests of another client that pass on AWS, too.
		examples = "examples of the service model in botocore of August 2026"
		verified = "getmoto/moto: tests/test_ec2/test_launch_templates.py (verified on AWS), "
	)
	return evidence.Of("EC2",
		evidence.Documented("Versions of a launch template are numbered in the order of their creation and never change",
			"CreateLaunchTemplateVersion", sdk),
		evidence.Documented("The default version of a launch template can't be deleted", "DeleteLaunchTemplateVersions", sdk),
		evidence.Documented("One request deletes at most 200 versions", "DeleteLaunchTemplateVersions", sdk),
		evidence.Documented("A request with the same client token creates no second launch template",
			"CreateLaunchTemplateInput.ClientToken", sdk),
		evidence.Documented("A read may not show yet what a request before it has changed", "DescribeInstances", sdk),
		evidence.Documented("Terminated instances are described for up to an hour", "DescribeInstances", sdk),
		evidence.Documented("An instance ID that is not valid fails a description", "DescribeInstances", sdk),
		evidence.Documented("The termination of a terminated instance succeeds", "TerminateInstances", sdk),
		evidence.Documented("A request that names an unknown instance terminates none", "TerminateInstances", sdk),
		evidence.Documented("A resource has at most 50 tags; a tag that exists is overwritten", "CreateTags", sdk),
		evidence.Documented("A request without a required parameter is refused with MissingParameter", "Error codes for the Amazon EC2 API",
			"2016-11-15"),
		evidence.Observed("A name in use is refused with InvalidLaunchTemplateName.AlreadyExistsException",
			verified+"test_launch_template_create"),
		evidence.Observed("A name that no template has is refused with InvalidLaunchTemplateName.NotFoundException",
			verified+"test_describe_launch_templates_with_non_existent_name"),
		evidence.Observed("An ID that no template has is refused with InvalidLaunchTemplateId.NotFound",
			verified+"test_describe_launch_template_versions_with_wrong_id"),
		evidence.Observed("A version that does not exist is refused with InvalidLaunchTemplateId.VersionNotFound",
			verified+"test_describe_launch_template_versions_with_wrong_version and test_modify_launch_template_with_unknown_version"),
		evidence.Observed("A version shows the data that it was given, and nothing of an earlier one unless it names a source",
			verified+"test_describe_launch_template_versions_with_multiple_versions"),
		evidence.Observed("A new version is the default only once ModifyLaunchTemplate has made it so",
			verified+"test_modify_launch_template_by_id"),
		evidence.Observed("A template takes an image ID that no image has", verified+"test_create_launch_template_version_by_id"),
		evidence.Documented("A version on top of a source takes from it what the request leaves out", "CreateLaunchTemplateVersion", examples),
		evidence.Documented("Versions are listed from the newest on", "DescribeLaunchTemplateVersions", examples),
		evidence.Documented("The deletion of versions lists those that were deleted and those that were not", "DeleteLaunchTemplateVersions",
			examples),
		evidence.Documented("An instance that is terminated shows shutting-down first", "TerminateInstances", examples),
	)
}
