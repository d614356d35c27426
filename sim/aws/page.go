package aws

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// paged cuts one page out of items that are in the order of their keys. The token is the last key shown, so that what comes and
// goes between two pages neither repeats nor hides others.
func paged[T any](items []T, key func(T) string, token *string, size int) (page []T, next *string, err error) {
	if str(token) != "" {
		after, err := base64.RawURLEncoding.DecodeString(*token)
		if err != nil {
			return nil, nil, refuse("InvalidNextToken", "The token '%s' is invalid", *token)
		}
		at, found := slices.BinarySearchFunc(items, string(after), func(item T, k string) int { return cmp.Compare(key(item), k) })
		if found {
			at++
		}
		items = items[at:]
	}
	if size <= 0 || len(items) <= size {
		return items, nil, nil
	}
	return items[:size], ptr(base64.RawURLEncoding.EncodeToString([]byte(key(items[size-1])))), nil
}

// page is the size of a page, lowered to what a fault allows; zero is everything at once.
func (r *realm) page(size int) int {
	if r.pageLimit > 0 && (size <= 0 || size > r.pageLimit) {
		return r.pageLimit
	}
	return size
}

// pageSize is EC2's rule for MaxResults: within its bounds, and not together with IDs.
func pageSize(given *int32, low, high, otherwise int, ids []string) (int, error) {
	if given == nil {
		return otherwise, nil
	}
	if len(ids) > 0 && low > 1 {
		return 0, refuse("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	if n := int(*given); n < low || n > high {
		return 0, refuse("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", n, low, high)
	}
	return int(*given), nil
}

// attributes are what filters are compared with, by the name of the filter. A nil value is an attribute that the thing lacks.
type attributes map[string][]string

// matchFilters is EC2's rule: any of a filter's values, all of the filters, with * and ? as wildcards.
func matchFilters(filters []ec2.Filter, have attributes, tags map[string]string) (bool, error) {
	for _, f := range filters {
		name := str(f.Name)
		values, known := have[name]
		switch key, isTag := strings.CutPrefix(name, "tag:"); {
		case isTag:
			values, known = nil, true
			if v, ok := tags[key]; ok {
				values = []string{v}
			}
		case name == "tag-key":
			values, known = slices.Collect(maps.Keys(tags)), true
		}
		if !known {
			return false, refuse("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
		if len(f.Values) == 0 {
			return false, refuse("InvalidParameterValue", "The filter '%s' has no value", name)
		}
		if !slices.ContainsFunc(values, func(v string) bool {
			return slices.ContainsFunc(f.Values, func(p string) bool { return glob(p, v) })
		}) {
			return false, nil
		}
	}
	return true, nil
}

// tagsOf are tags as EC2 shows them, in the order of their keys.
func tagsOf(tags map[string]string) []ec2.Tag {
	out := make([]ec2.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, ec2.Tag{Key: ptr(k), Value: ptr(tags[k])})
	}
	return out
}

// maxTags is how many tags of its user a resource takes.
const maxTags = 50

// checkTags refuses what AWS refuses of tags.
func checkTags(tags []ec2.Tag) error {
	if len(tags) > maxTags {
		return refuse("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
	}
	seen := map[string]bool{}
	for _, t := range tags {
		k, v := str(t.Key), str(t.Value)
		switch {
		case k == "" || len(k) > 128:
			return refuse("InvalidParameterValue", "Tag key exceeds the maximum length of 128 characters or is empty")
		case len(v) > 256:
			return refuse("InvalidParameterValue", "Tag value exceeds the maximum length of 256 characters")
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return refuse("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		case seen[k]:
			return refuse("InvalidParameterValue", "Duplicate tag key '%s' specified.", k)
		}
		seen[k] = true
	}
	return nil
}
