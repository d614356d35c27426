package ec2

import "github.com/muster-project/muster/sim/evidence"

// Beliefs returns the behaviour of EC2 that drivers rely on.
func Beliefs() []evidence.Row {
	const sdk = "aws-sdk-go-v2/service/ec2 v1.344.0"
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
	)
}
