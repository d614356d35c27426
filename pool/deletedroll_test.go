package pool

import (
	"testing"
	"time"
)

// A roll to a version that a user has deleted launches nothing, and would keep the group from being pointed at another.
func TestRollToADeletedVersion(t *testing.T) {
	gone := func(started time.Duration) func(*ProviderRollout) {
		return func(r *ProviderRollout) { r.Template, r.Started = Template{Ref: "lt:9"}, now.Add(-started) }
	}
	untold := func(started time.Duration) func(*ProviderRollout) {
		return func(r *ProviderRollout) { r.Template, r.Started = Template{}, now.Add(-started) }
	}
	launchesFromIt := func(o *Observed) { o.Group.Template = "lt:9" }
	checkOn(t, rollsByItself, []row{
		{name: "deleted", why: "it is ended, so that the group can launch from what there is", d: wants(3),
			o:    fleet(serving(3), newTemplate, launchesFromIt, rollOf(ProviderRolloutRunning, "", gone(time.Hour))),
			want: "CancelProviderRollout refs roll-1 (TemplateDeleted), waiting ProviderRolloutRunning"},
		{name: "young", why: "a list of versions may not show it yet", d: wants(3),
			o:    fleet(serving(3), newTemplate, launchesFromIt, rollOf(ProviderRolloutRunning, "", gone(time.Second))),
			want: "waiting ProviderRolloutRunning"},
		{name: "by hand", why: "a roll without a template of its own replaces by what the group launches from: the group is pointed at " +
			"what there is", d: wants(3),
			o:    fleet(serving(3), newTemplate, launchesFromIt, rollOf(ProviderRolloutRunning, "", untold(time.Hour))),
			want: "UpdateGroup of lt:2 (TemplateOutOfDate), waiting ProviderRolloutRunning"},
		{name: "by hand, young", why: "a list of versions may not show it yet", d: wants(3),
			o:    fleet(serving(3), newTemplate, launchesFromIt, rollOf(ProviderRolloutRunning, "", untold(time.Second))),
			want: "waiting ProviderRolloutRunning"},
		{name: "by hand, known", why: "what the group launches from exists: the roll goes on with it", d: wants(3),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "", untold(time.Hour))), want: "waiting ProviderRolloutRunning"},
		{name: "others' template", why: "what the group does not launch from is another owner's", d: wants(3),
			o: fleet(serving(3), newTemplate, rollOf(ProviderRolloutRunning, "", gone(time.Hour))), want: "waiting ProviderRolloutRunning"},
	})
}
