package pool

import (
	"testing"
	"time"
)

// A cloud that replaces instances of another template on request, and no others: what a restart makes stale is left to Muster, and with a
// strategy everything is.
func TestRolloutOfOtherTemplates(t *testing.T) {
	cycling := traits
	cycling.ProviderRollout, cycling.RolloutOfOtherTemplates, cycling.CanCancelRollout = true, true, false
	restart := func(d *Desired) {
		d.Restart = &Restart{Before: now.Add(-90 * time.Minute), Cause: Cause{"Restart", "kernel update"}}
	}
	skip := func(d *Desired) { d.SkipModel = true }
	old := machine("i-1", 2)
	for _, c := range []struct {
		reason string
		d      Desired
		i      Instance
		want   StepKind
		cause  string
	}{
		{"the cloud replaces those of another template", wants(1), old, StartProviderRollout, "TemplateChanged"},
		{"a strategy replaces them in its place", wants(1, rolls(0, 1)), old, Drain, "TemplateChanged"},
		{"a restart of what is as wanted is Muster's", wants(1, restart), machine("i-1", 2, current), Resize, "Surge"},
		{"a restart of another template is the cloud's", wants(1, restart), old, StartProviderRollout, "Restart"},
		{"with the model skipped no template is another one", wants(1, restart, skip), old, Resize, "Surge"},
		{"one that was made since stays", wants(1, restart), machine("i-1", 1, current), "", ""},
	} {
		got := Step{}
		if s := Decide(c.d, fleet(list(c.i), newTemplate), cycling, now).Step; s != nil {
			got = *s
		}
		if got.Kind != c.want || got.Cause.Reason != c.cause {
			t.Errorf("%s: want %s for %q, got %+v", c.reason, c.want, c.cause, got)
		}
	}
}
