package session

import (
	"fmt"
	"regexp"
	"strings"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

// Blamed is a service's message that tells which field is wrong. A group in the expression is the value that was refused; Items,
// where the field is a list, is where that is looked for.
type Blamed struct {
	Words *regexp.Regexp
	Field string
	Items []awsv1.AWSResourceReference
}

// Blame puts the field to an invalid request that does not name one yet, as far as the service's words tell: the first that
// matches counts.
func Blame(err error, list []Blamed) error {
	return driverkit.WithField(err, func(e *cloud.Error, _ string) string {
		for _, b := range list {
			switch match := b.Words.FindStringSubmatch(e.Message); len(match) {
			case 0:
			case 1:
				return b.Field
			default:
				return itemField(b.Field, match[1], b.Items)
			}
		}
		return ""
	})
}

// itemField is the list's item that holds the value, or the list.
func itemField(field, id string, items []awsv1.AWSResourceReference) string {
	for i, item := range items {
		if item.ID != nil && *item.ID == strings.TrimSpace(id) {
			return fmt.Sprintf("%s[%d].id", field, i)
		}
	}
	return field
}
