package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
)

// directory is what an account holds of IAM, in all regions alike.
type directory struct {
	account  string
	server   *Server
	sequence *sim.Table[sequence]
	roles    *sim.Table[role]
	policies *sim.Table[managedPolicy]
	profiles *sim.Table[profile]
}

// role is a role. Its key is its name, which is the same in any case.
type role struct {
	Name, Path, ID, Trust, Description, Boundary string
	Created                                      time.Time
	// Known is when other services get to know of it.
	Known      time.Time
	MaxSession int32
	Tags       map[string]string
	// Attached are the ARNs of managed policies, Inline the documents of its own by name.
	Attached []string
	Inline   map[string]string
}

// managedPolicy is a policy of the account's own.
type managedPolicy struct {
	Name, Path, ID, Document, Description string
	Created                               time.Time
	Tags                                  map[string]string
}

// profile is an instance profile, with at most one role.
type profile struct {
	Name, Path, ID, Role string
	Created              time.Time
	Tags                 map[string]string
}

// iamFolder stands where a region stands in the keys of what an account holds.
const iamFolder = "iam"

func newDirectory(s *Server, account string) *directory {
	p := account + "/" + iamFolder + "/"
	return &directory{
		account: account, server: s, sequence: sim.NewTable[sequence](p + "sequence/"), roles: sim.NewTable[role](p + "role/"),
		policies: sim.NewTable[managedPolicy](p + "policy/"), profiles: sim.NewTable[profile](p + "profile/"),
	}
}

func (d *directory) tables() []stored { return []stored{d.sequence, d.roles, d.policies, d.profiles} }

func (d *directory) load(docs map[string]json.RawMessage) error {
	for _, t := range d.tables() {
		if err := t.Load(docs); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) flush(changes map[string]json.RawMessage) error {
	for _, t := range d.tables() {
		if err := t.Flush(changes); err != nil {
			return err
		}
	}
	return nil
}

// newID makes the next ID of a kind, such as AROA0123456789ABCDEF0.
func (d *directory) newID(prefix string) string {
	s := d.sequence.Get("all")
	if s == nil {
		s = &sequence{}
		d.sequence.Put("all", s)
	}
	s.Last++
	d.sequence.Touch("all")
	return prefix + strings.ToUpper(d.server.seed.Hex(17, d.account, prefix, s.Last))
}

func (d *directory) arn(kind, path, name string) string {
	return "arn:aws:iam::" + d.account + ":" + kind + cmp.Or(path, "/") + name
}

func roleKey(name string) string { return strings.ToLower(name) }

// named finds the role that an ARN or a name names, nil for none.
func (d *directory) named(arn string) *role {
	r := d.roles.Get(roleKey(arn[strings.LastIndex(arn, "/")+1:]))
	if r == nil || strings.HasPrefix(arn, "arn:") && arn != d.arn("role", r.Path, r.Name) {
		return nil
	}
	return r
}

func (d *directory) has(arn string) bool { return d.named(arn) != nil }

// Words of IAM's refusals.
func noSuchEntity(format string, args ...any) *apiError {
	return &apiError{Code: "NoSuchEntity", Message: fmt.Sprintf(format, args...), Status: http.StatusNotFound}
}

func conflict(code, format string, args ...any) *apiError {
	return &apiError{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusConflict}
}

func iamInvalid(format string, args ...any) *apiError {
	return refuse("ValidationError", format, args...)
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
		return iamInvalid("The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_- and have length less than or equal to 64: '%s'", kind, name)
	}
	if path != "" && (!iamPath.MatchString(path) || len(path) > 512) {
		return iamInvalid("The specified value for path is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.")
	}
	return nil
}

// iamTags are tags in the shape of IAM, checked.
func iamTags(tags []iam.Tag) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range tags {
		k, v := str(t.Key), str(t.Value)
		switch {
		case k == "" || len(k) > 128 || len(v) > 256:
			return nil, iamInvalid("Tag keys have 1 to 128 characters and values at most 256: '%s'", k)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return nil, refuse("InvalidInput", "Tag keys that begin with aws: are reserved.")
		}
		out[k] = v
	}
	if len(out) > maxTags {
		return nil, conflict("LimitExceeded", "The number of tags has reached the maximum limit.")
	}
	return out, nil
}

func showIAMTags(tags map[string]string) []iam.Tag {
	var out []iam.Tag
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, iam.Tag{Key: ptr(k), Value: ptr(tags[k])})
	}
	return out
}

// encoded is a document as IAM answers with it.
func encoded(document string) *string {
	return ptr(strings.ReplaceAll(url.QueryEscape(document), "+", "%20"))
}

// pageIAM cuts one page out of what is in the order of its keys.
func pageIAM[T any](r *realm, items []T, key func(T) string, marker *string, given *int32) (page []T, next *string, more bool, err error) {
	size := iamPage
	if given != nil {
		size = int(*given)
	}
	if size < 1 || size > 1000 {
		return nil, nil, false, iamInvalid("1 validation error detected: Value '%d' at 'maxItems' failed to satisfy constraint: Member must have value between 1 and 1000", size)
	}
	page, next, err = paged(items, key, marker, r.page(size))
	return page, next, next != nil, err
}
