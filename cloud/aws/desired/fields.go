package desired

import (
	"regexp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
)

// The fields of the specification, by their paths, that errors and differences name.
const (
	FieldMin     = "spec.minSize"
	FieldMax     = "spec.maxSize"
	FieldSubnets = "spec.subnets"
	FieldMixed   = "spec.mixedInstancesPolicy"
	FieldHooks   = "spec.lifecycleHooks"
	// FieldTags is repaired by calls of its own, as are FieldHooks, FieldProcesses and FieldProtection.
	FieldTags      = "spec.additionalTags"
	FieldProcesses = "spec.suspendProcesses"
	// FieldProtection are protections from scale-in that Muster set and that outlived their refresh.
	FieldProtection = "spec.refreshPreferences.scaleInProtectedInstances"

	fieldCooldown  = "spec.defaultCoolDown"
	fieldWarmup    = "spec.defaultInstanceWarmup"
	fieldRebalance = "spec.capacityRebalance"
)

// What the services write in errors about fields that are not the launch template's.
var (
	subnetWords = regexp.MustCompile(`(?i)subnet ID '([^']*)' does not exist`)
	minWords    = regexp.MustCompile(`(?i)(?:violate group's min size|equals minSize|min(?:imum)?.?size)`)
	maxWords    = regexp.MustCompile(`(?i)max(?:imum)?.?size`)
	hookWords   = regexp.MustCompile(`(?i)lifecycle hook|notification(?:target)?|roleARN`)
	mixedWords  = regexp.MustCompile(`(?i)mixed ?instances ?policy|overrides`)
)

// Blame adds the field to the error of an invalid request that does not name one yet, as far as the text of the error tells.
func Blame(err error, pool *awsv1.AWSMachinePoolSpec) error {
	list := append([]session.Blamed{{Words: session.TagWords, Field: FieldTags}}, launch.Blamed(&pool.AWSLaunchTemplate)...)
	return session.Blame(err, append(list, []session.Blamed{
		{Words: subnetWords, Field: FieldSubnets, Items: pool.Subnets},
		{Words: minWords, Field: FieldMin},
		{Words: maxWords, Field: FieldMax},
		{Words: hookWords, Field: FieldHooks},
		{Words: mixedWords, Field: FieldMixed},
	}...))
}
