package aws

import (
	"regexp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
)

// The object's fields that errors name.
const (
	fieldMin     = "spec.minSize"
	fieldMax     = "spec.maxSize"
	fieldSubnets = "spec.subnets"
	fieldMixed   = "spec.mixedInstancesPolicy"
	fieldHooks   = "spec.lifecycleHooks"
)

// The services' words on fields that are not the launch template's.
var (
	subnetWords = regexp.MustCompile(`(?i)subnet ID '([^']*)' does not exist`)
	minWords    = regexp.MustCompile(`(?i)(?:violate group's min size|equals minSize|min(?:imum)?.?size)`)
	maxWords    = regexp.MustCompile(`(?i)max(?:imum)?.?size`)
	hookWords   = regexp.MustCompile(`(?i)lifecycle hook|notification(?:target)?|roleARN`)
	mixedWords  = regexp.MustCompile(`(?i)mixed ?instances ?policy|overrides`)
)

// blame puts the field to an invalid request that does not name one yet, as far as the service's words tell.
func blame(err error, pool *awsv1.AWSMachinePoolSpec) error {
	return session.Blame(err, append(launch.Blamed(&pool.AWSLaunchTemplate), []session.Blamed{
		{Words: subnetWords, Field: fieldSubnets, Items: pool.Subnets},
		{Words: minWords, Field: fieldMin},
		{Words: maxWords, Field: fieldMax},
		{Words: hookWords, Field: fieldHooks},
		{Words: mixedWords, Field: fieldMixed},
	}...))
}
