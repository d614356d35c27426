package launch

import (
	"regexp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/session"
)

// Field is where the launch template stands in every kind that has one.
const Field = "spec.awsLaunchTemplate"

// The object's fields that errors name.
const (
	fieldType        = Field + ".instanceType"
	fieldImage       = Field + ".ami.id"
	fieldImageFormat = Field + ".imageLookupFormat"
	fieldKey         = Field + ".sshKeyName"
	fieldProfile     = Field + ".iamInstanceProfile"
	fieldGroups      = Field + ".additionalSecurityGroups"
	fieldRoot        = Field + ".rootVolume"
	fieldEnclave     = Field + ".enclaveOptions.enabled"
	fieldReservation = Field + ".capacityReservationId"
	fieldName        = Field + ".name"
)

// Blamed are the services' messages that tell which field of the template is wrong.
func Blamed(spec *awsv1.AWSLaunchTemplate) []session.Blamed {
	var groups []awsv1.AWSResourceReference
	if spec != nil {
		groups = spec.AdditionalSecurityGroups
	}
	return []session.Blamed{
		{Words: keyWords, Field: fieldKey},
		{Words: groupWords, Field: fieldGroups, Items: groups},
		{Words: networkWords, Field: fieldGroups},
		{Words: imageWords, Field: fieldImage},
		{Words: profileWords, Field: fieldProfile},
		{Words: reservationWords, Field: fieldReservation},
		{Words: typeWords, Field: fieldType},
	}
}

// The services' words.
var (
	keyWords         = regexp.MustCompile(`(?i)key pair '([^']*)' does not exist`)
	groupWords       = regexp.MustCompile(`(?i)security group '([^']*)' does not exist`)
	networkWords     = regexp.MustCompile(`(?i)security group .*and subnet .*(?:different|belong)`)
	imageWords       = regexp.MustCompile(`(?i)image id '?\[?([^'\]]*)\]?'? (?:does not exist|is not valid)`)
	profileWords     = regexp.MustCompile(`(?i)iam ?instance ?profile`)
	reservationWords = regexp.MustCompile(`(?i)capacity reservation`)
	typeWords        = regexp.MustCompile(`(?i)instance types? `)
)
