package status

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

func saying(list ...string) []metav1.Condition {
	var out []metav1.Condition
	for k := 0; k < len(list); k += 3 {
		out = append(out, metav1.Condition{Type: list[k], Status: metav1.ConditionStatus(list[k+1]), Reason: list[k+2], Message: "m"})
	}
	return out
}

// lifecycleEventsCases are the cases of TestLifecycleEvents.
var lifecycleEventsCases = map[string]struct {
	why    string
	before common.Status
	o      pool.Observed
	unseen bool
	// still is true if the cloud has no provider rollout, inline if its groups hold their template.
	still, inline bool
	want          []report.Event
}{
	"held by its group": {why: "its change was told when it was asked for", inline: true,
		before: common.Status{Template: "1", Conditions: missing}, o: pool.Observed{Versions: []pool.Template{version("2", "b")}}},
	"a step has ended": {why: "the step was reported, and its effect is visible", still: true,
		before: common.Status{Conditions: group("Updating")}, o: pool.Observed{Group: &pool.Group{}}},
	"first version": {why: "the template is there", before: common.Status{Conditions: missing},
		o:    pool.Observed{Versions: []pool.Template{version("lt-1:1", "")}},
		want: []report.Event{{Reason: "TemplateCreated", Message: "Created launch template lt-1"}}},
	"another version": {why: "by its name, and with what it changes", before: common.Status{Template: "lt-1:1", Conditions: missing},
		o:    pool.Observed{Versions: []pool.Template{version("lt-1:2", "instanceType a -> b"), version("lt-1:1", "")}},
		want: []report.Event{{Reason: "TemplateVersionCreated", Message: "Created version 2 of launch template lt-1: instanceType a -> b"}}},
	"two versions": {why: "each is told, in their order", before: common.Status{Template: "lt-1:1", Conditions: missing},
		o: pool.Observed{Versions: []pool.Template{version("lt-1:3", "c"), version("lt-1:2", "b"), version("lt-1:1", "")}},
		want: []report.Event{{Reason: "TemplateVersionCreated", Message: "Created version 2 of launch template lt-1: b"},
			{Reason: "TemplateVersionCreated", Message: "Created version 3 of launch template lt-1: c"}}},
	"rotated token": {why: "a version that differs in bootstrap data alone is no news",
		before: common.Status{Template: "lt-1:1", Conditions: missing},
		o:      pool.Observed{Versions: []pool.Template{{Ref: "lt-1:2", Content: "a", Data: "e"}, {Ref: "lt-1:1", Content: "a", Data: "d"}}}},
	"rotated token after a change": {why: "the change is news, what follows it is none",
		before: common.Status{Template: "lt-1:1", Conditions: missing},
		o: pool.Observed{Versions: []pool.Template{{Ref: "lt-1:3", Content: "b", Data: "e"}, {Ref: "lt-1:2", Content: "b", Data: "d"},
			{Ref: "lt-1:1", Content: "a", Data: "d"}}},
		want: []report.Event{{Reason: "TemplateVersionCreated", Message: "Created version 2 of launch template lt-1"}}},
	"no other version": {why: "once is enough", before: common.Status{Template: "lt-1:2", Conditions: missing},
		o: pool.Observed{Versions: []pool.Template{version("lt-1:2", "b"), version("lt-1:1", "")}}},
	"made anew": {why: "of a template that was deleted behind our back nothing is old",
		before: common.Status{Template: "lt-1:2", Conditions: missing}, o: pool.Observed{Versions: []pool.Template{version("lt-2:1", "")}},
		want: []report.Event{{Reason: "TemplateCreated", Message: "Created launch template lt-2"}}},
	"known one pruned": {why: "it is unknown whether those older than the newest were reported",
		before: common.Status{Template: "lt-1:2", Conditions: missing},
		o:      pool.Observed{Versions: []pool.Template{version("lt-1:5", "d"), version("lt-1:4", "c")}},
		want:   []report.Event{{Reason: "TemplateVersionCreated", Message: "Created version 5 of launch template lt-1: d"}}},
	"brought": {why: "a user-managed version was created by the user", before: common.Status{Template: "lt-1:1", Conditions: missing},
		o: pool.Observed{Versions: []pool.Template{{Ref: "lt-1:2", UserManaged: true}, {Ref: "lt-1:1", UserManaged: true}}}},
	"restored": {why: "an object without a status tells no old story",
		o: pool.Observed{Versions: []pool.Template{version("lt-1:2", "b")}, Group: &pool.Group{}}},
	"template unseen": {why: "what was never said to be missing was not made now",
		before: common.Status{Conditions: saying(report.TemplateReady, "Unknown", "Unavailable")},
		o:      pool.Observed{Versions: []pool.Template{version("lt-1:2", "b")}}},
	"cloud away": {why: "nothing was seen", before: common.Status{Template: "lt-1:1", Conditions: missing}, unseen: true},

	"instance taken": {why: "neither a step of Muster nor a smaller size took it", before: running("i-1", "i-2"), o: left("i-2"),
		want: []report.Event{{Warning: true, Reason: "InstancesLost",
			Message: "Lost i-1 (node-i-1): terminated, and not by Muster; the node group launches others in their place"}}},
	"instance on its way out": {why: "the cloud's word for it comes before its end", before: running("i-1", "i-2"), o: left("i-2", "i-1!"),
		want: []report.Event{{Warning: true, Reason: "InstancesLost",
			Message: "Lost i-1 (node-i-1): terminated, and not by Muster; the node group launches others in their place"}}},
	"instance removed": {why: "Muster has told that", before: running("i-1!", "i-2"), o: left("i-2")},
	"instance in a roll": {why: "the cloud replaces it", before: running("i-1", "i-2"),
		o: pool.Observed{Group: &pool.Group{Size: 2}, ProviderRollout: &pool.ProviderRollout{State: pool.ProviderRolloutRunning}}},
	"last instance of a roll": {why: "the cloud has replaced it", o: left("i-2"),
		before: with(running("i-1", "i-2"), saying(report.UpToDate, "False", "ProviderRolloutRunning"))},
	"instance of a smaller size": {why: "an autoscaler has lowered the size", before: running("i-1", "i-2"),
		o: pool.Observed{Group: &pool.Group{Size: 1}}},
	"instance set aside by others": {why: "it runs", before: running("i-1", "i-2"),
		o: pool.Observed{Group: &pool.Group{Size: 2}, ExternalStandby: []string{"p/i-1", "p/i-2"}}},
	"group deleted by others": {why: "nothing of it is left", before: running("i-1"), o: pool.Observed{},
		want: []report.Event{{Warning: true, Reason: "GroupLost",
			Message: "Lost the node group with its instances: it was deleted, and not by Muster"}}},
	"group being deleted by others": {why: "it may take minutes", before: running("i-1"),
		o: pool.Observed{Group: &pool.Group{Deleting: true}},
		want: []report.Event{{Warning: true, Reason: "GroupLost",
			Message: "Lost the node group with its instances: it was deleted, and not by Muster"}}},
	"group deleted at last": {why: "it was told when that began", before: with(running("i-1!"), group("GroupDeleting")),
		o: pool.Observed{}},
	"failed group being remade": {why: "Muster deletes it", before: with(running("i-1!"), group("CREATE_FAILED")),
		o: pool.Observed{Group: &pool.Group{Deleting: true}}},
	"failed group remade": {why: "Muster has deleted it", before: with(running("i-1!"), group("CREATE_FAILED")), o: pool.Observed{}},
	"group taken over": {why: "a condition tells that", before: running("i-1"),
		o: pool.Observed{OwnershipConflict: &pool.Cause{Reason: "OwnershipConflict"}}},
	"group still there not": {why: "once is enough", before: common.Status{Conditions: group("GroupMissing")}, o: pool.Observed{}},

	"group made": {why: "the cloud makes it for minutes after it was asked", before: common.Status{Conditions: group("Creating")},
		o:    pool.Observed{Group: &pool.Group{ID: "arn:x"}},
		want: []report.Event{{Reason: "GroupActive", Message: "Created the node group: arn:x"}}},
	"being made": {why: "not yet", before: common.Status{Conditions: group("Creating")},
		o: pool.Observed{Group: &pool.Group{Busy: &pool.Cause{Reason: "Creating"}}}},
	"not made": {why: "its condition tells that", before: common.Status{Conditions: group("Creating")},
		o: pool.Observed{Group: &pool.Group{Failed: &pool.Cause{Reason: "CREATE_FAILED"}}}},
	"updated": {why: "the end of the cloud's work", before: common.Status{Conditions: group("Updating")},
		o: pool.Observed{Group: &pool.Group{}}, want: []report.Event{{Reason: "GroupUpdateEnded", Message: "Finished updating the node group"}}},
	"at rest": {why: "nothing has ended", before: common.Status{Conditions: group("UpToDate")}, o: pool.Observed{Group: &pool.Group{}}},
	"gone": {why: "the end of the cloud's work", before: common.Status{Conditions: saying(report.Deleting, "True", "GroupDeleting")},
		want: []report.Event{{Reason: "GroupGone", Message: "Deleted the node group"}}},
	"gone at once": {why: "a cloud may be that quick", before: common.Status{Conditions: saying(report.Deleting, "True", "DeleteGroup")},
		want: []report.Event{{Reason: "GroupGone", Message: "Deleted the node group"}}},
	"long gone": {why: "once is enough", before: common.Status{Conditions: saying(report.Deleting, "True", "DeleteTemplates")}},
}

var traits = pool.Traits{Group: "node group", Template: "launch template", ProviderRollout: true, CanCancelRollout: true,
	ReplaceKeepsSize: true}

var version = func(ref, about string) pool.Template {
	return pool.Template{Ref: ref, Description: about, Content: ref}
}

var missing = saying(report.TemplateReady, "False", "TemplateMissing")

var group = func(reason string) []metav1.Condition { return saying(report.GroupReady, "False", reason) }

var running = func(ids ...string) common.Status {
	s := common.Status{Conditions: saying(report.GroupReady, "True", "UpToDate"), DesiredReplicas: new(int32(len(ids)))}
	for _, id := range ids {
		name, gone := strings.CutSuffix(id, "!")
		i := common.InstanceStatus{InstanceID: name, ProviderID: "p/" + name, Node: "node-" + name, State: "Running"}
		if gone {
			i.State = "Terminating"
		}
		s.Instances = append(s.Instances, i)
	}
	return s
}

var with = func(s common.Status, conditions []metav1.Condition) common.Status {
	s.Conditions = conditions
	return s
}

var left = func(ids ...string) pool.Observed {
	o := pool.Observed{Group: &pool.Group{Size: 2}}
	for _, id := range ids {
		name, gone := strings.CutSuffix(id, "!")
		i := pool.Instance{ID: name, ProviderID: "p/" + name, State: pool.Running}
		if gone {
			i.State = pool.Terminating
		}
		o.Instances = append(o.Instances, i)
	}
	return o
}

func TestLifecycleEvents(t *testing.T) {
	t.Parallel()
	// A name with a mark behind it is that of an instance that terminates.
	for name, c := range lifecycleEventsCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := traits
			tr.ProviderRollout, tr.InlineTemplate = !c.still, c.inline
			got := LifecycleEvents(&c.before, engine.Outcome{Seen: !c.unseen, Observed: c.o}, tr)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: want -, got +\n%s", c.why, diff)
			}
		})
	}
}

// A rollout is complete when the last machine that it replaces is there.
func TestKeepRollout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why              string
		before           string
		current, desired int
		want             string
	}{
		"last one missing":     {"it has still to come", "TemplateChanged", 2, 3, "False TemplateChanged: t; 2 of 3 machines exist"},
		"group gone":           {"nothing was rolled out", "TemplateChanged", 0, 3, "False TemplateChanged: t; 0 of 3 machines exist"},
		"all there":            {"it is complete", "TemplateChanged", 3, 3, "True AllUpToDate: t"},
		"growing, no rollout":  {"there is none to complete", "AllUpToDate", 2, 3, "True AllUpToDate: t"},
		"status lost, growing": {"nor is one known", "", 2, 3, "True AllUpToDate: t"},
	} {
		var before []metav1.Condition
		if c.before != "" {
			before = saying(report.UpToDate, "False", c.before)
		}
		rep := report.Report{Seen: true, Counts: report.Counts{Current: &c.current, Desired: c.desired},
			Conditions: []report.Condition{{Type: report.UpToDate, Status: report.True, Reason: "AllUpToDate", Message: "t"}}}
		KeepRollout(before, &rep)
		got := rep.Conditions[0]
		if text := string(got.Status) + " " + got.Reason + ": " + got.Message; text != c.want {
			t.Errorf("%s: %s: want %s, got %s", name, c.why, c.want, text)
		}
	}
}

func TestCloudErrorEvents(t *testing.T) {
	t.Parallel()
	code := pool.Cause{Reason: "Ec2SubnetMissingIpv6Assignment", Message: "m"}
	for name, c := range map[string]struct {
		why           string
		before, after []metav1.Condition
		o             pool.Observed
		want          []report.Event
	}{
		"not made": {why: "EKS's own code and words", before: saying(report.GroupReady, "False", "Creating"),
			after: saying(report.GroupReady, "False", code.Reason),
			o:     pool.Observed{Group: &pool.Group{Failed: &code}}, want: []report.Event{{Warning: true, Reason: code.Reason, Message: "m"}}},
		"unhealthy": {why: "EKS's own code and words", before: nil, after: saying(report.InstancesReady, "False", code.Reason),
			o: pool.Observed{Issues: []pool.Cause{code}}, want: []report.Event{{Warning: true, Reason: code.Reason, Message: "m"}}},
		"still unhealthy": {why: "once is enough", before: saying(report.InstancesReady, "False", code.Reason),
			after: saying(report.InstancesReady, "False", code.Reason), o: pool.Observed{Issues: []pool.Cause{code}}},
		"said twice": {why: "two conditions may say one thing", after: saying(report.GroupReady, "False", code.Reason, report.InstancesReady,
			"False", code.Reason),
			o: pool.Observed{Issues: []pool.Cause{code}}, want: []report.Event{{Warning: true, Reason: code.Reason, Message: "m"}}},
		"said twice, once as news": {why: "one quota refusal is one warning",
			after: saying(report.GroupReady, "False", "Capacity", report.InstancesReady, "False", "Capacity"),
			o:     pool.Observed{Issues: []pool.Cause{{Reason: "Capacity", Message: "m"}}}},
		"said later": {why: "one of two conditions may be later than the other", before: saying(report.GroupReady, "False", code.Reason),
			after: saying(report.GroupReady, "False", code.Reason, report.InstancesReady, "False", code.Reason),
			o:     pool.Observed{Issues: []pool.Cause{code}}},
		"said elsewhere": {why: "the summary repeats what another condition says", after: saying(report.Ready, "False", code.Reason),
			o: pool.Observed{Issues: []pool.Cause{code}}},
		"told already": {why: "what is news by itself is not told twice", after: saying(report.InstancesReady, "False", "Capacity"),
			o: pool.Observed{Issues: []pool.Cause{{Reason: "Capacity"}}}},
		"it will pass": {why: "a hiccup of the cloud is nothing to look at",
			after: saying(report.InstancesReady, "False", string(cloud.Throttled)),
			o:     pool.Observed{Issues: []pool.Cause{{Reason: string(cloud.Throttled)}}}},
		"our own words": {why: "the cloud has not said that", after: saying(report.GroupReady, "False", "Scaling"),
			o: pool.Observed{Group: &pool.Group{}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, cloudErrorEvents(c.before, c.after, c.o)); diff != "" {
				t.Errorf("%s: want -, got +\n%s", c.why, diff)
			}
		})
	}
}
