package session

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
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
	var e *cloud.Error
	if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != "" {
		return err
	}
	for _, b := range list {
		match := b.Words.FindStringSubmatch(e.Message)
		if match == nil {
			continue
		}
		e.Field = b.Field
		if len(match) > 1 {
			e.Field = itemField(b.Field, match[1], b.Items)
		}
		break
	}
	return err
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
