package session

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/muster-project/muster/cloud"
)

// FuzzMarks holds that a bookkeeping tag fits into a tag's value and holds exactly the names that it was made of.
func FuzzMarks(f *testing.F) {
	f.Add("team\ncost-center\nteam", "team", "AAAAAABBBBBB")
	f.Add(strings.Repeat("a\nb\n", 60), "c", "short")
	f.Fuzz(func(t *testing.T, list, other, spoilt string) {
		names := strings.Split(list, "\n")
		text := Marks(names)
		if len(text) > 256 {
			t.Fatalf("want at most 256 characters, got %d", len(text))
		}
		sorted := slices.Sorted(slices.Values(names))
		for _, name := range sorted[:min(len(sorted), markRoom)] {
			if !Marked(text, name) {
				t.Errorf("want %q marked in %q", name, text)
			}
		}
		if !slices.Contains(names, other) && Marked(text, other) {
			t.Errorf("want %q not marked in %q", other, text)
		}
		// A user may have edited the tag: it is read as far as it goes.
		_ = Marked(spoilt, other)
	})
}

// FuzzMessages holds that whatever a service answers, a condition's message is short, is text, names no request, and the same
// for two requests that differ in nothing but their IDs and times.
func FuzzMessages(f *testing.F) {
	for _, text := range []string{
		"You are not authorized to perform this operation. Encoded authorization failure message: 4hFfHBJ4oTOgBXlvpYUYkz",
		"Value () for parameter groupId is invalid. (RequestId: 2f8d5d0a-1111-2222-3333-444455556666)",
		"User: arn:aws:sts::123456789012:assumed-role/muster/1700000000000000000 is not authorized to perform: ec2:DescribeImages",
		"We currently do not have sufficient t3.large capacity in the Availability Zone you requested (eu-west-1a). Launching EC2 " +
			"instance failed.",
		"The security group 'sg-1' does not exist in VPC 'vpc-1'", "", "\xff\xfe", strings.Repeat("\u00e9", 400),
	} {
		f.Add("InvalidParameterValue", text, 400)
	}
	f.Fuzz(func(t *testing.T, code, text string, status int) {
		at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		err := Refusal(answered(status, nil, code, text), at)
		var e *cloud.Error
		if err == nil || !errors.As(err, &e) {
			t.Fatalf("want a refusal of a known kind, got %v", err)
		}
		if !slices.Contains([]cloud.ErrorKind{cloud.Throttled, cloud.Conflict, cloud.Capacity, cloud.Denied, cloud.Invalid, cloud.Unavailable},
			e.Kind) {
			t.Errorf("%q: want one of the six kinds, got %q", code, e.Kind)
		}
		if utf8.ValidString(text) && !utf8.ValidString(e.Message) || len(e.Message) > 600+len("...") || strings.ContainsAny(e.Message, "\n\r\t") {
			t.Errorf("want one short line of text, got %q", e.Message)
		}
		for _, id := range []string{"2f8d5d0a-1111-2222-3333-444455556666", "00000000-0000-4000-8000-000000000000"} {
			same := Refusal(answered(status, nil, code, text+" (RequestId: "+id+")"), at)
			if got, want := Clean(text+" (RequestId: "+id+")"), Clean(text); got != want || same.Error() != err.Error() {
				t.Errorf("want requests that differ in their IDs alone to say the same, %q, got %q", want, got)
			}
		}
		_ = Absent(err)
		if blamed := Blame(err, []Blamed{{Words: regexp.MustCompile(`(?i)security group '([^']*)' does not exist`),
			Field: "spec.groups"}}); cloud.KindOf(blamed) != e.Kind {
			t.Errorf("want the kind kept, %s, got %v", e.Kind, blamed)
		}
	})
}
