package iam

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// Words of IAM's refusals.
func noSuchEntity(format string, args ...any) *wire.APIError {
	return &wire.APIError{Code: "NoSuchEntity", Message: fmt.Sprintf(format, args...), Status: http.StatusNotFound}
}

func conflict(code, format string, args ...any) *wire.APIError {
	return &wire.APIError{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusConflict}
}

func iamInvalid(format string, args ...any) *wire.APIError {
	return wire.Refuse("ValidationError", format, args...)
}

// Quotas of IAM, and what its names may be.
const (
	maxRoles, maxAttached, maxProfiles = 1000, 10, 1000
	maxTrust                           = 2048
	maxPolicyText, maxInlineText       = 6144, 10240
	iamPage                            = 100
)

var (
	iamName = regexp.MustCompile(`^[\w+=,.@-]{1,64}$`)
	iamPath = regexp.MustCompile(`^(/|/[\x21-\x7e]+/)$`)
)

func checkIAMName(kind, name, path string) error {
	if !iamName.MatchString(name) {
		return iamInvalid("The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_- "+
			"and have length less than or equal to 64: '%s'", kind, name)
	}
	if path != "" && (!iamPath.MatchString(path) || len(path) > 512) {
		return iamInvalid("The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters " +
			"and/or / characters.")
	}
	return nil
}

// iamTags are tags in the shape of IAM, checked.
func iamTags(tags []iam.Tag) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range tags {
		k, v := shapes.Str(t.Key), shapes.Str(t.Value)
		switch {
		case k == "" || len(k) > 128 || len(v) > 256:
			return nil, iamInvalid("Tag keys have 1 to 128 characters and values at most 256: '%s'", k)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return nil, wire.Refuse("InvalidInput", "Tag keys that begin with aws: are reserved.")
		}
		out[k] = v
	}
	if len(out) > account.MaxTags {
		return nil, conflict("LimitExceeded", "The number of tags has reached the maximum limit.")
	}
	return out, nil
}

func showIAMTags(tags map[string]string) []iam.Tag {
	var out []iam.Tag
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, iam.Tag{Key: new(k), Value: new(tags[k])})
	}
	return out
}

// encoded is a document as IAM answers with it.
func encoded(document string) *string {
	return new(strings.ReplaceAll(url.QueryEscape(document), "+", "%20"))
}

// pageIAM cuts one page out of what is in the order of its keys.
func pageIAM[T any](r *Service, items []T, key func(T) string, marker *string,
	given *int32) (page []T, next *string, more bool, err error) {
	size := iamPage
	if given != nil {
		size = int(*given)
	}
	if size < 1 || size > 1000 {
		return nil, nil, false, iamInvalid("1 validation error detected: Value '%d' at 'maxItems' failed to satisfy constraint: Member must "+
			"have value between 1 and 1000", size)
	}
	page, next, err = account.Paged(r.core, items, key, marker, r.core.Page(size))
	return page, next, next != nil, err
}
