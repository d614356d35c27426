package pool

import (
	"testing"
	"time"
)

// TestCreatesGroup holds when a plan counts as one that creates the group: what else could be the pool's is looked for then, and only then.
func TestCreatesGroup(t *testing.T) {
	t.Parallel()
	some := Cause{"Reason", "message"}
	for name, tc := range map[string]struct {
		change func(*Desired, *Observed)
		want   bool
	}{
		"the template is next":       {func(*Desired, *Observed) {}, true},
		"the group is next":          {func(_ *Desired, o *Observed) { o.Versions = []Template{{Ref: "t:1", Content: "v1:a"}} }, true},
		"a back-off lasts":           {func(d *Desired, _ *Observed) { d.StepsInBackoff = map[StepKind]Cause{PutTemplate: some} }, true},
		"the pool is being deleted":  {func(d *Desired, _ *Observed) { d.Deleting = true }, false},
		"creation is blocked":        {func(d *Desired, _ *Observed) { d.CreateBlocked = &some }, false},
		"the template is not known":  {func(_ *Desired, o *Observed) { o.Wanted = Template{} }, false},
		"another group is there":     {func(_ *Desired, o *Observed) { o.OwnershipConflict = &some }, false},
		"a former group is left":     {func(_ *Desired, o *Observed) { o.FormerGroup = &some }, true},
		"Machines of one are left":   {func(d *Desired, _ *Observed) { d.FormerMachines = &some }, true},
		"the group exists":           {func(_ *Desired, o *Observed) { o.Group = &Group{ID: "g"} }, false},
		"the group to adopt is gone": {func(d *Desired, _ *Observed) { d.Adopt.Name = "theirs" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, o := Desired{Replicas: 1, Max: 2}, Observed{Wanted: Template{Content: "v1:a"}}
			tc.change(&d, &o)
			p := Decide(d, o, Traits{Group: "group", Template: "template"}, time.Time{})
			if got := p.CreatesGroup(d, o); got != tc.want {
				t.Errorf("want %t, got %t of plan %+v", tc.want, got, p)
			}
			if o.FormerGroup != nil && (p.Step != nil || len(p.Waiting) != 1 || p.Waiting[0] != some || p.Quiescent) {
				t.Errorf("want the group waited for, got %+v", p)
			}
		})
	}
}
