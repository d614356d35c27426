package iam

import "github.com/muster-project/muster/sim/evidence"

// Beliefs returns the behaviour of IAM that drivers rely on.
func Beliefs() []evidence.Row {
	const sdk = "aws-sdk-go-v2/service/iam v1.64.7"
	return evidence.Of("IAM",
		evidence.Documented("A role with attached or inline policies, or in an instance profile, is not deleted", "DeleteRole", sdk),
		evidence.Documented("What does not exist is refused with NoSuchEntity, what exists with EntityAlreadyExists", "deserializers", sdk),
		evidence.Documented("A request without a required parameter is refused with ValidationError", "Common errors of IAM", "2010-05-08"),
	)
}
