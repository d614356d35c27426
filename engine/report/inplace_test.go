package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

func scaleSet(s *scene)        { s.scaleSet = true }
func lagging(i *pool.Instance) { i.InPlaceDrift = []string{"spec.additionalTags"} }
func begunSteps(s *scene)      { s.started = true }
func contentOf(c string) func(*scene) {
	return and(scaleSet, func(s *scene) { s.o.Wanted.Content = c })
}
func starving(s *scene) {
	s.o.Group.ScaleUpFailedAt = epoch.Add(-time.Minute)
	s.o.Issues = []pool.Cause{{Reason: "AllocationFailed", Message: "AllocationFailed: no room in zone 1"}}
}

// A group that holds its template: there is no version that could be made.
func TestInlineTemplate(t *testing.T) {
	hold(t, report.TemplateReady, []row{
		{"as wanted", "it is named as ever", scaleSet, "True UpToDate: model lt-1:1 is what the specification asks for"},
		{"changed", "what is changed is the group's own", contentOf("v1:b"),
			"False TemplateChanged: the model of the scale set is being changed"},
		{"bootstrap data alone", "nothing is written for it", and(scaleSet, wanted("v1:a", "e")),
			"True UpToDate: model lt-1:1 is what the specification asks for"},
	})
}

func TestChangedInPlace(t *testing.T) {
	hold(t, report.UpToDate, []row{
		{"behind", "what they lack, and that no machine is replaced for it", and(scaleSet, first(lagging), second(lagging)),
			"False ChangedInPlace: 3 of 3 machines were launched from the wanted model; 2 of them to change in place: it lacks " +
				"spec.additionalTags as the specification has it, which is changed in place"},
		{"refused", "the cloud's words", and(scaleSet, first(lagging), refused(pool.Apply, denied)),
			"False Denied: 3 of 3 machines were launched from the wanted model; autoscaling:X: AccessDenied: not authorized"},
		{"no more", "then all is well", scaleSet, "True AllUpToDate: 3 of 3 machines were launched from the wanted model"},
		{"stale as well", "the rollout is what matters", and(scaleSet, rolling, first(lagging), first(stale)),
			"False TemplateChanged: 2 of 3 machines were launched from the wanted model; 1 of 3 machines to replace: launched from model lt-1:0, " +
				"which differs from what the specification asks for in spec.ami"},
	})
	if r := aScene(scaleSet, first(lagging)).report(); r.State != report.StateUpdating {
		t.Errorf("want the pool to be updating while machines are changed, got %s", r.State)
	}
}

// A cloud that gave up bringing machines is reported with its own code and words.
func TestGrowthFailed(t *testing.T) {
	hold(t, report.GroupReady, []row{
		{"no room", "the code and the words", and(scaleSet, replicas(5), starving),
			"False AllocationFailed: the scale set has a size of 3, the pool wants 5, and the cloud could not bring more: AllocationFailed: no " +
				"room in zone 1"},
		{"no room, no words", "what is known is said", and(scaleSet, replicas(5), starving, func(s *scene) { s.o.Issues = nil }),
			"False ScaleUpFailed: the scale set has a size of 3, the pool wants 5, and the cloud could not bring more"},
		{"no room, and nothing is missing", "then nothing is amiss", and(scaleSet, starving),
			"True UpToDate: the scale set is what the specification asks for"},
	})
	hold(t, report.Ready, []row{
		{"no room", "the summary says it too", and(scaleSet, replicas(5), starving),
			"False AllocationFailed: 3 of 5 machines are Ready; the scale set has a size of 3, the pool wants 5, and the cloud could not bring " +
				"more: AllocationFailed: no room in zone 1"},
	})
}

// What a cloud calls failed and leaves alone, and what serves all the same.
func TestFailedAndServing(t *testing.T) {
	hold(t, report.InstancesReady, []row{
		{"serves", "its node is Ready", and(scaleSet, first(broken)), "True AllReady: 3 of 3 machines are Ready"},
		{"does not", "it is replaced", and(scaleSet, first(broken), first(unready)),
			"False InstancesFailed: 2 of 3 machines are Ready; 1 machine failed and will be replaced"},
	})
	if r := aScene(scaleSet, first(broken)).report(); r.State != report.StateRunning || *r.Counts.Ready != 3 {
		t.Errorf("want a pool that runs, got %s with %d Ready", r.State, *r.Counts.Ready)
	}
}

func TestScaleSetEvents(t *testing.T) {
	for _, c := range []struct {
		name, why, want string
		change          func(*scene)
	}{
		{"template", "what is there is changed",
			"TemplateUpdated: Changed the model of the scale set: the specification of the model has changed", contentOf("v1:b")},
		{"in place", "who, and what they lacked",
			"InstancesChanged: Changed in place: i-1 (node-i-1): it lacks spec.additionalTags as the specification has it, which is changed in " +
				"place", and(scaleSet, first(lagging))},
		{"protected", "who, and from what", "InstancesProtected: Protected i-1 (node-i-1): not protected from scale-in: an out-of-band " +
			"scale-in could terminate it without a drain",
			and(scaleSet, first(func(i *pool.Instance) { i.ScaleInUnprotected = true }))},
	} {
		var list []string
		for _, e := range aScene(c.change, begunSteps).report().Events {
			list = append(list, e.Reason+": "+e.Message)
		}
		if got := strings.Join(list, "\n"); got != c.want {
			t.Errorf("%s: %s:\nwant %s\n got %s", c.name, c.why, c.want, got)
		}
	}
}

// Muster's own records cause no event, and are no drift of a group.
func TestOwnAccount(t *testing.T) {
	spent := and(scaleSet, begunSteps, func(s *scene) { s.o.Group.SurgeRecordStale = true })
	r := aScene(spent).report()
	if len(r.Events) > 0 {
		t.Errorf("want no event, got %v", r.Events)
	}
	hold(t, report.GroupReady, []row{{"surge used up", "people have asked for nothing else", spent,
		"True UpToDate: the scale set is what the specification asks for"}})
	if r := aScene(scaleSet, begunSteps, drift("spec.additionalTags")).report(); len(r.Events) != 1 {
		t.Errorf("want an event of what people asked for, got %v", r.Events)
	}
}
