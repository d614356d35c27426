package approval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func annotated(approve, by string) map[string]string {
	annotations := map[string]string{}
	if approve != "" {
		annotations[Annotation] = approve
	}
	if by != "" {
		annotations[ByAnnotation] = by
	}
	return annotations
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why         string
		annotations map[string]string
		want        []Approval
		invalid     []string
	}{
		{why: "no annotation"},
		{why: "one gate of one rollout", annotations: annotated("canary@r-1a2b", ""), want: []Approval{{"canary", "r-1a2b", ""}}},
		{why: "two gates, with space between", annotations: annotated("canary@r1, prod@r1,", ""),
			want: []Approval{{"canary", "r1", ""}, {"prod", "r1", ""}}},
		{why: "the same twice", annotations: annotated("canary@r1,canary@r1", ""), want: []Approval{{"canary", "r1", ""}}},
		{why: "with the user", annotations: annotated("canary@r1", `{"canary@r1":"jane@example.com"}`),
			want: []Approval{{"canary", "r1", "jane@example.com"}}},
		{why: "a user of another approval", annotations: annotated("canary@r1", `{"canary@r2":"jane"}`), want: []Approval{{"canary", "r1", ""}}},
		{why: "a record of another form", annotations: annotated("canary@r1", `["jane"]`), want: []Approval{{"canary", "r1", ""}}},
		{why: "a name with line breaks", annotations: annotated("canary@r1", `{"canary@r1":"jane\n\nadmin"}`),
			want: []Approval{{"canary", "r1", "jane admin"}}},
		{why: "every rollout is none", annotations: annotated("canary@*,canary@,@r1,canary,true", ""),
			invalid: []string{"canary@*", "canary@", "@r1", "canary", "true"}},
		{why: "a slip next to an approval", annotations: annotated("Canary@r1,canary@r1,a@b@c", ""), want: []Approval{{"canary", "r1", ""}},
			invalid: []string{"Canary@r1", "a@b@c"}},
	} {
		got, invalid := Parse(c.annotations)
		if !slices.Equal(got, c.want) || !slices.Equal(invalid, c.invalid) {
			t.Errorf("%s: want %v and invalid %q, got %v and %q", c.why, c.want, c.invalid, got, invalid)
		}
	}
	var many []string
	for k := range 2 * maxApprovals {
		many = append(many, fmt.Sprintf("g%d@r", k))
	}
	if got, invalid := Parse(annotated(strings.Join(many, ","), "")); len(got) != maxApprovals || len(invalid) != maxApprovals {
		t.Errorf("want %d approvals at most, got %d and %d that are none", maxApprovals, len(got), len(invalid))
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	pool, infra := annotated("canary@r1", ""), annotated("prod@r2", "")
	for _, c := range []struct {
		why, gate, rollout string
		want               bool
	}{
		{"approved", "canary", "r1", true},
		{"approved on the other object", "prod", "r2", true},
		{"another rollout", "canary", "r2", false},
		{"another gate", "prod", "r1", false},
		{"a rollout whose ID begins alike", "canary", "r", false},
	} {
		if _, got := Of(c.gate, c.rollout, infra, pool); got != c.want {
			t.Errorf("%s: want %t, got %t", c.why, c.want, got)
		}
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, before, want string }{
		{"the first", "", "canary@r2"},
		{"one more gate of the rollout", "prod@r2", "prod@r2,canary@r2"},
		{"the same again", "canary@r2", "canary@r2"},
		{"approvals of another rollout go", "canary@r1,prod@r1", "canary@r2"},
		{"and so do slips", "prod@r2,canary", "prod@r2,canary@r2"},
	} {
		if got := With(annotated(c.before, ""), Approval{Gate: "canary", Rollout: "r2"}); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

// TestRecord holds whose approval is recorded. The user that writes the object may lie about it.
func TestRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why             string
		before, written map[string]string
		want            string
	}{
		{why: "nothing is approved", written: annotated("", "")},
		{why: "an approval of the user that writes", written: annotated("canary@r1", ""), want: `{"canary@r1":"mallory"}`},
		{why: "in the name of another user", written: annotated("canary@r1", `{"canary@r1":"jane"}`), want: `{"canary@r1":"mallory"}`},
		{why: "a record without an approval", written: annotated("", `{"canary@r1":"jane"}`)},
		{why: "an approval that was there keeps its user", before: annotated("canary@r1", `{"canary@r1":"jane"}`),
			written: annotated("canary@r1,prod@r1", `{"canary@r1":"mallory"}`), want: `{"canary@r1":"jane","prod@r1":"mallory"}`},
		{why: "also when the record is removed", before: annotated("canary@r1", `{"canary@r1":"jane"}`), written: annotated("canary@r1", ""),
			want: `{"canary@r1":"jane"}`},
		{why: "an approval of which nothing was recorded gets no user later", before: annotated("canary@r1", ""),
			written: annotated("canary@r1", `{"canary@r1":"jane"}`)},
		{why: "an approval that is withdrawn is forgotten", before: annotated("canary@r1", `{"canary@r1":"jane"}`),
			written: annotated("", `{"canary@r1":"jane"}`)},
		{why: "slips have no user", written: annotated("canary,canary@r1", ""), want: `{"canary@r1":"mallory"}`},
	} {
		if got := Record(c.before, c.written, "mallory"); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

// TestRecordHolds holds for random writes that an approval's user is the one that wrote it first.
func TestRecordHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		current, first := map[string]string{}, map[string]string{}
		entry := rapid.SampledFrom([]string{"a@r1", "a@r2", "b@r1", "slip"})
		for range rapid.IntRange(1, 10).Draw(t, "writes") {
			user := rapid.SampledFrom([]string{"jane", "mallory"}).Draw(t, "user")
			texts := rapid.SliceOfNDistinct(entry, 0, 4, rapid.ID).Draw(t, "entries")
			written := annotated(strings.Join(texts, ","), rapid.SampledFrom([]string{"", `{"a@r1":"root"}`, "x"}).Draw(t, "claim"))
			by := Record(current, written, user)
			current = annotated(written[Annotation], by)
			next := map[string]string{}
			for _, text := range texts {
				if next[text] = user; first[text] != "" {
					next[text] = first[text]
				}
			}
			first = next
			all, _ := Parse(current)
			for _, a := range all {
				if a.By != first[a.String()] {
					t.Fatalf("want %s by %s, got %q", a, first[a.String()], a.By)
				}
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("canary@r1,b@c", `{"canary@r1":"jane"}`)
	f.Fuzz(func(t *testing.T, approve, by string) {
		annotations := map[string]string{Annotation: approve, ByAnnotation: by}
		all, _ := Parse(annotations)
		for _, a := range all {
			again, invalid := Parse(map[string]string{Annotation: a.String()})
			if len(again) != 1 || len(invalid) != 0 || again[0].Gate != a.Gate || again[0].Rollout != a.Rollout {
				t.Errorf("%q: want it to be read as it was, got %v", a, again)
			}
		}
		Record(annotations, annotations, by)
	})
}
