package pool

import (
	"testing"
	"time"
)

func TestUnfilled(t *testing.T) {
	launchesOnWrite := func(t *Traits) { t.LaunchesOnWrite = true }
	short := func(long time.Duration) func(*Observed) {
		return func(o *Observed) { o.Group.Size, o.UnfilledSince = 3, now.Add(-long) }
	}
	external := func(d *Desired) { d.ReplicasManagedExternally = true }
	checkOn(t, launchesOnWrite, []row{
		{"short for a moment", "reads of the size and of the instances may be of different times", wants(3), fleet(serving(2),
			short(time.Second)), "waiting InstancesLaunching"},
		{"short", "the cloud launches with the next write", wants(3), fleet(serving(2), short(2*time.Minute)),
			"Resize to 3 (Unfilled), waiting InstancesLaunching"},
		{"short, scaled out", "that is the write", wants(4), fleet(serving(2), short(2*time.Minute)),
			"Resize to 4 (ScaleOut), waiting InstancesLaunching"},
		{"short, scaled in", "likewise", wants(2), fleet(serving(2), short(2*time.Minute)), "Resize to 2 (ScaleIn), waiting InstancesLaunching"},
		{"short, sized by an autoscaler", "it owns the size", wants(3, external), fleet(serving(2), short(2*time.Minute)),
			"waiting InstancesLaunching"},
		{"short while the cloud is at work", "it launches", wants(3), fleet(serving(2), short(time.Hour), func(o *Observed) {
			o.Group.Busy = &Cause{"Scaling", "x"}
		}), "waiting Scaling, waiting InstancesLaunching"},
		{"short for long", "it is reported", wants(3, external), fleet(serving(2), short(time.Hour)),
			"waiting LaunchOverdue, waiting InstancesLaunching"},
	})
	checkOn(t, rollsChanges, []row{
		{"short for long", "every cloud is given a deadline", wants(3), fleet(serving(2), short(time.Hour)),
			"waiting LaunchOverdue, waiting InstancesLaunching"},
		{"short", "a cloud that launches by itself is asked for nothing", wants(3), fleet(serving(2), short(2*time.Minute)),
			"waiting InstancesLaunching"},
	})
}
