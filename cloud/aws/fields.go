package aws

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// The object's fields that errors name.
const (
	fieldMin          = "spec.minSize"
	fieldMax          = "spec.maxSize"
	fieldZones        = "spec.availabilityZones"
	fieldSubnets      = "spec.subnets"
	fieldMixed        = "spec.mixedInstancesPolicy"
	fieldTemplate     = "spec.awsLaunchTemplate"
	fieldType         = fieldTemplate + ".instanceType"
	fieldImage        = fieldTemplate + ".ami.id"
	fieldImageFormat  = fieldTemplate + ".imageLookupFormat"
	fieldKey          = fieldTemplate + ".sshKeyName"
	fieldProfile      = fieldTemplate + ".iamInstanceProfile"
	fieldGroups       = fieldTemplate + ".additionalSecurityGroups"
	fieldRoot         = fieldTemplate + ".rootVolume"
	fieldEnclave      = fieldTemplate + ".enclaveOptions.enabled"
	fieldReservation  = fieldTemplate + ".capacityReservationId"
	fieldTemplateName = fieldTemplate + ".name"
	fieldHooks        = "spec.lifecycleHooks"
)

// blamed are the services' messages that tell which field is wrong. The first that matches counts; a group in the
// expression is the value that was refused.
var blamed = []struct {
	words *regexp.Regexp
	field string
}{
	{regexp.MustCompile(`(?i)key pair '([^']*)' does not exist`), fieldKey},
	{regexp.MustCompile(`(?i)subnet ID '([^']*)' does not exist`), fieldSubnets},
	{regexp.MustCompile(`(?i)security group '([^']*)' does not exist`), fieldGroups},
	{regexp.MustCompile(`(?i)security group .*and subnet .*(?:different|belong)`), fieldGroups},
	{regexp.MustCompile(`(?i)image id '?\[?([^'\]]*)\]?'? (?:does not exist|is not valid)`), fieldImage},
	{regexp.MustCompile(`(?i)iam ?instance ?profile`), fieldProfile},
	{regexp.MustCompile(`(?i)capacity reservation`), fieldReservation},
	{regexp.MustCompile(`(?i)instance types? `), fieldType},
	{regexp.MustCompile(`(?i)(?:violate group's min size|equals minSize|min(?:imum)?.?size)`), fieldMin},
	{regexp.MustCompile(`(?i)max(?:imum)?.?size`), fieldMax},
	{regexp.MustCompile(`(?i)lifecycle hook|notification(?:target)?|roleARN`), fieldHooks},
	{regexp.MustCompile(`(?i)mixed ?instances ?policy|overrides`), fieldMixed},
}

// blame puts the field to an invalid request that does not name one yet, as far as the service's words tell.
func blame(err error, pool *awsv1.AWSMachinePoolSpec) error {
	var e *cloud.Error
	if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != "" {
		return err
	}
	for _, b := range blamed {
		match := b.words.FindStringSubmatch(e.Message)
		if match == nil {
			continue
		}
		e.Field = b.field
		if len(match) > 1 {
			e.Field = exactField(b.field, match[1], pool)
		}
		break
	}
	return err
}

// exactField is the list's item that holds the value, or the list.
func exactField(field, value string, pool *awsv1.AWSMachinePoolSpec) string {
	switch field {
	case fieldSubnets:
		return itemField(field, value, pool.Subnets)
	case fieldGroups:
		return itemField(field, value, pool.AWSLaunchTemplate.AdditionalSecurityGroups)
	}
	return field
}

func itemField(field, id string, items []awsv1.AWSResourceReference) string {
	for i, item := range items {
		if item.ID != nil && *item.ID == strings.TrimSpace(id) {
			return fmt.Sprintf("%s[%d].id", field, i)
		}
	}
	return field
}

// inField puts the field to an invalid request that names none.
func inField(err error, field string) error {
	var e *cloud.Error
	if errors.As(err, &e) && e.Kind == cloud.Invalid && e.Field == "" {
		e.Field = field
	}
	return err
}
