package ec2

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// FuzzPages holds that pages of any size show everything once and in order, and that a token from elsewhere is refused or
// begins at its place.
func FuzzPages(f *testing.F) {
	f.Add("a\nb\nc", uint8(1), "")
	f.Add("i-1\ni-2\n\ni-3", uint8(2), base64.RawURLEncoding.EncodeToString([]byte("i-15")))
	f.Add("", uint8(0), "%%%")
	f.Fuzz(func(t *testing.T, text string, size uint8, foreign string) {
		items := slices.Compact(slices.Sorted(slices.Values(strings.Split(text, "\n"))))
		itself := func(s string) string { return s }
		var shown []string
		var token *string
		for range len(items) + 2 {
			page, next, err := account.Paged(nil, items, itself, token, int(size))
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, page...)
			if token = next; token == nil {
				break
			}
		}
		// The empty name has an empty token, which begins anew: no resource has one.
		if !slices.Contains(items, "") && !slices.Equal(shown, items) {
			t.Errorf("want %q in pages of %d, got %q", items, size, shown)
		}
		page, _, err := account.Paged(nil, items, itself, &foreign, 0)
		after, errDecode := base64.RawURLEncoding.DecodeString(foreign)
		if (err == nil) != (errDecode == nil) {
			t.Fatalf("want a token refused when it is none, got %v", err)
		}
		for _, item := range items {
			if err == nil && slices.Contains(page, item) != (foreign == "" || item > string(after)) {
				t.Errorf("want what follows %q of %q, got %q", after, items, page)
			}
		}
	})
}

// wildcard is a pattern of a filter as a regular expression: a second reading of the same rule.
func wildcard(pattern string) *regexp.Regexp {
	var b strings.Builder
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == '\\':
			escaped = true
		case r == '*':
			b.WriteString(".*")
		case r == '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	if escaped {
		// What escapes nothing matches nothing.
		b.WriteString(`[^\s\S]`)
	}
	return regexp.MustCompile(`^(?s:` + b.String() + `)$`)
}

// FuzzFilters holds that filters read wildcards as the published rule says, and know or refuse every name.
func FuzzFilters(f *testing.F) {
	f.Add("capa-ami-ubuntu-24.04-?1.34.1-*", "capa-ami-ubuntu-24.04-v1.34.1-1700000000", "name")
	f.Add("amazon/images/[x]*", "amazon/images/[x]y", "tag:Name")
	f.Add(`a\*b?`, `a*bc`, "tag-key")
	f.Add(`*\[a]`, `x[a]`, "state")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, pattern, value, name string) {
		// What XML and signatures can't carry never reaches a filter.
		if !utf8.ValidString(pattern) || !utf8.ValidString(value) || strings.Contains(pattern+value, "\x00") {
			return
		}
		if strings.ContainsAny(pattern, "*?") {
			if want, got := wildcard(pattern).MatchString(value), wire.Glob(pattern, value); got != want {
				t.Errorf("%q and %q: want %t, got %t", pattern, value, want, got)
			}
		} else if wire.Glob(pattern, value) != (pattern == value) {
			t.Errorf("%q and %q: want texts without wildcards compared", pattern, value)
		}
		filters := []ec2.Filter{{Name: &name, Values: []string{pattern}}}
		matched, err := matchFilters(filters, attributes{"state": {value}}, map[string]string{"Name": value})
		known := name == "state" || name == "tag-key" || strings.HasPrefix(name, "tag:")
		if (err == nil) != known {
			t.Errorf("%q: want it known: %t, got %v", name, known, err)
		}
		if name == "state" && matched != wire.Glob(pattern, value) || name == "tag:Name" && matched != wire.Glob(pattern, value) ||
			name == "tag-key" && matched != wire.Glob(pattern, "Name") {
			t.Errorf("%s=%q of %q: got %t", name, pattern, value, matched)
		}
	})
}
