package model_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/cloud/azure/model"
)

// TestHistory holds which former contents the tag of a change has, by the machines that exist.
func TestHistory(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	was, wanted := input(t, seed()), input(t, seed())
	wanted.Bootstrap = wanted.Bootstrap.Marked("b")
	m := build(t, wanted)
	own := build(t, was).Content + "@2026-01-01T00:09:00.0000000Z"
	older, oldest := "v1:0@2026-01-01T00:05:00.0000000Z", "v1:1@2026-01-01T00:02:00.0000000Z"
	for _, c := range []struct {
		reason, before string
		created        []time.Time
		until          time.Time
		want           string
	}{
		{"the first change", "", []time.Time{at(1)}, at(9), own},
		{"no machine is of any former content", oldest + " " + older, nil, time.Time{}, ""},
		{"machines of all contents", oldest + " " + older, []time.Time{at(1), at(2), at(5)}, at(9), oldest + " " + older + " " + own},
		{"a content without a machine is left out", oldest + " " + older, []time.Time{at(1), at(5)}, at(9), oldest + " " + own},
		{"the same content follows", build(t, was).Content + "@2026-01-01T00:05:00.0000000Z " + older, []time.Time{at(1)}, at(9), own},
		{"more than a tag holds", older + " " + "v1:2@2026-01-01T00:06:00.0000000Z v1:3@2026-01-01T00:06:10.0000000Z " +
			"v1:4@2026-01-01T00:06:20.0000000Z v1:5@2026-01-01T00:06:30.0000000Z",
			[]time.Time{at(1), at(5), at(6), at(6).Add(10 * time.Second), at(6).Add(20 * time.Second)}, at(9),
			"seen:@2026-01-01T00:06:00.0000000Z v1:3@2026-01-01T00:06:10.0000000Z v1:4@2026-01-01T00:06:20.0000000Z " +
				"v1:5@2026-01-01T00:06:30.0000000Z " + own},
		{"a value that another client wrote", "yesterday", []time.Time{at(1)}, at(9), own},
	} {
		cur := echo(t, build(t, was))
		cur.Set.Tags["MUSTER.dev_history"], cur.Set.Tags["policy"] = &c.before, new("theirs")
		cur = model.Read(cur.Set)
		tags := m.Against(cur).Recorded(m.Change(cur).Tags, c.created, c.until)
		if got := model.Tag(tags, model.TagHistory); got != c.want || model.Tag(tags, "policy") != "theirs" {
			t.Errorf("%s: want %q, got %q of %d tags", c.reason, c.want, got, len(tags))
		}
	}
}
