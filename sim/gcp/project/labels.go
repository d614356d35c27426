package project

import (
	"regexp"

	"github.com/muster-project/muster/sim/document"
)

// Limits of labels. They are counted in characters of lower-case letters, digits, dashes and underscores.
const (
	maxLabels      = 64
	maxLabelLength = 63
)

var (
	labelKey   = regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$`)
	labelValue = regexp.MustCompile(`^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$`)
	nameForm   = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// CheckLabels refuses labels that Google refuses, by the field that they are in.
func CheckLabels(labels document.Object, field string) error {
	if len(labels) > maxLabels {
		return Refuse(400, "invalid", "Too many labels for field '%s'. Resources can have no more than %d labels.", field, maxLabels)
	}
	for k, v := range labels {
		value, isText := v.(string)
		if !labelKey.MatchString(k) {
			return Invalid(field, k, "Label key '%s' violates format constraints. The key must start with a lowercase character, can only contain "+
				"lowercase letters, "+
				"numeric characters, underscores and dashes. The key can be at most %d characters long. International characters are allowed.", k,
				maxLabelLength)
		}
		if !isText || !labelValue.MatchString(value) {
			return Invalid(field, value, "Label value '%s' violates format constraints. The value can only contain lowercase letters, "+
				"numeric characters, underscores and dashes. The value can be at most %d characters long. International characters are allowed.", value,
				maxLabelLength)
		}
	}
	return nil
}

// CheckName refuses a name of a resource that Google refuses.
func CheckName(field, name string) error {
	if name == "" {
		return Required(field)
	}
	if !nameForm.MatchString(name) {
		return Invalid(field, name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'")
	}
	return nil
}
