package pool

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// byOthers is a roll that another client began.
func byOthers(r *ProviderRollout) { r.ByOthers = true }

// halfDone is a group that a provider rollout has left so.
func halfDone(o *Observed) {
	o.Group.Unfinished = &Cause{"UpgradeUnfinished", "an upgrade has stopped"}
}

// rollsChanges is a cloud whose own roll replaces machines of another template and no others, and can't be ended.
func rollsChanges(t *Traits) {
	t.ProviderRollout, t.RolloutOnTemplateChange, t.CanCancelRollout = true, true, false
}

// rollOfChangesCases are the cases of TestRollOfChanges.
var rollOfChangesCases = []row{
	{"changed", "the roll points the group at the template, whatever the strategy is", wants(3, rolls(0, 1)), fleet(serving(3), behind),
		"StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
	{"changed, no strategy", "likewise", wants(3), fleet(serving(3), behind), "StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
	{"changed, some are new", "a roll that failed half-way is begun again for the rest", wants(3, rolls(0, 1)),
		fleet(append(serving(2), machine("i-9", 1, current)), behind), "StartProviderRollout of lt:2 i-1 i-2 (TemplateChanged)"},
	{"changed, drift", "other fields are repaired, with the template left alone", wants(3, rolls(0, 1)),
		fleet(serving(3), behind, func(o *Observed) { o.Group.Drift = []string{"labels"} }), "UpdateGroup fields labels (GroupChanged)"},
	{"changed, no machines", "there is no other way to point the group at it", wants(0, rolls(0, 1)), fleet(nil, behind),
		"StartProviderRollout of lt:2 (TemplateOutOfDate)"},
	{"another version of the group's own, no machines", "what the group launches is more than its template", wants(0, rolls(0, 1)),
		fleet(nil, func(o *Observed) {
			o.Group.Content = "v1:older"
		}), "StartProviderRollout of lt:1 (TemplateOutOfDate)"},
	{"another version of the group's own", "machines tell of it too", wants(1, rolls(0, 1)),
		fleet(serving(1, from(Template{Ref: "lt:1", Content: "v1:older", Data: "d"})), func(o *Observed) {
			o.Group.Content = "v1:older"
		}), "StartProviderRollout of lt:1 i-1 (TemplateChanged)"},
	{"changed and back", "machines of the old template are what is wanted; the group has to be pointed back", wants(3, rolls(0, 1)),
		fleet(serving(3), func(o *Observed) {
			o.Versions = append([]Template{version(3, "a", "d"), version(2, "b", "d")}, o.Versions...)
			o.Group.Template = "lt:2"
		}), "StartProviderRollout of lt:3 (TemplateOutOfDate)"},
	{"changed, larger", "more machines first: the roll keeps the group to itself", wants(4, rolls(0, 1)), fleet(serving(3), behind),
		"Resize to 4 (ScaleOut)"},
	{"changed, smaller", "fewer first, likewise", wants(2, rolls(0, 1)), fleet(serving(3), behind), "Drain i-1 (ScaleIn)"},
	{"changed, smaller, drain refused", "the roll waits: it would add its surge to a size that is too large",
		wants(2, rolls(0, 1), refused(Drain)), fleet(serving(3), behind), "waiting Denied"},
	{"changed, drain for another reason refused", "the size is the wanted one: the roll adds no more than its surge",
		wants(3, rolls(0, 1), refused(Drain)), fleet(append(serving(2), machine("i-9", 1, condemnedOne)), behind),
		"StartProviderRollout of lt:2 i-1 i-2 (TemplateChanged), waiting Denied"},
	{"changed, drains", "the roll waits: two who take machines are one too many", wants(2, rolls(0, 1)),
		fleet(list(machine("i-9", 9, drainingNode), machine("i-1", 2), machine("i-2", 1)), behind),
		"Drain i-9 (ScaleIn), waiting Draining, waiting Draining"},
	{"changed, model skipped", "the roll would replace what is not to be replaced", wants(3, rolls(0, 1), skip), fleet(serving(3), behind),
		"settled"},
	{"changed, model skipped, no machines", "then it replaces no machine", wants(0, rolls(0, 1), skip), fleet(nil, behind),
		"StartProviderRollout of lt:2 (TemplateOutOfDate)"},
	{"changed, paused", "none is begun", wants(3, rolls(0, 1), paused), fleet(serving(3), behind), "waiting RolloutPaused, settled"},
	{"bootstrap data", "no version that nothing would launch from", wants(3, rolls(0, 1)), fleet(serving(3), rotatedToken), "settled"},
	{"bootstrap data, a version is there", "nor a roll for it (rule 8)", wants(3, rolls(0, 1)), fleet(serving(3), newData), "settled"},
	{"bootstrap data and content", "both come with the version", wants(3, rolls(0, 1)),
		fleet(serving(3), rotatedToken, func(o *Observed) { o.Wanted.Content = "v1:b" }),
		"PutTemplate after lt:1 (TemplateChanged), waiting TemplateOutOfDate"},
	{"bootstrap data before the roll", "what machines are about to be launched from holds the newest", wants(3, rolls(0, 1)),
		fleet(serving(3), behind, rotatedToken), "PutTemplate after lt:2 (BootstrapDataChanged)"},
	{"bootstrap data while it rolls", "the roll has its version", wants(3, rolls(0, 1)),
		fleet(serving(3), behind, rotatedToken, rollOf(ProviderRolloutRunning, "b")), "waiting ProviderRolloutRunning"},
	{"token lost", "a version that machines can join from is there when it is needed", wants(3, rolls(0, 1), dataLost("d")),
		fleet(serving(3), rotatedToken), "PutTemplate after lt:1 (BootstrapDataChanged)"},
	{"token lost, all serve", "no machine is replaced for a token", wants(3, rolls(0, 1), dataLost("d")), fleet(serving(3), newData),
		"settled"},
	{"token lost, one missing", "nothing else can bring it", wants(3, rolls(0, 1), dataLost("d")), fleet(serving(2), newData, sized(3)),
		"StartProviderRollout of lt:2 (BootstrapTokenLost), waiting InstancesLaunching"},
	{"restart", "machines of the wanted template are replaced by our hand, as many at a time as may be missing",
		wants(3, rolls(0, 1), restart), fleet(serving(3)), "Drain i-1 (Restart)"},
	{"restart, drained", "the group launches another", wants(3, rolls(0, 1), restart),
		fleet(list(machine("i-9", 9, drainedNode), machine("i-1", 2), machine("i-2", 1))), "Replace i-9 (Restart)"},
	{"restart and change", "one roll does both", wants(3, rolls(0, 1), restart), fleet(serving(3), behind),
		"StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
	{"restart and change of some", "the roll first, our hand after it", wants(3, rolls(0, 1), restart),
		fleet(append(serving(2), machine("i-9", 1, current)), behind), "StartProviderRollout of lt:2 i-1 i-2 (TemplateChanged)"},
	{"restart while it rolls", "our hand waits", wants(3, rolls(0, 1), restart),
		fleet(serving(3, current), newTemplate, rollOf(ProviderRolloutRunning, "b")), "waiting ProviderRolloutInProgress"},
	{"restart, model skipped", "what is restarted is not left to a roll that will not come", wants(3, rolls(0, 1), restart, skip),
		fleet(serving(3), behind), "Drain i-1 (Restart)"},
	{"rolls", "no machine is drained or removed by us meanwhile", wants(2, rolls(0, 1)),
		fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b")), "waiting ProviderRolloutRunning"},
	{"rolls, condemned", "not even one by name: the cloud counts on what it has found", wants(3, rolls(0, 1)),
		fleet(append(serving(2), machine("i-9", 1, condemnedOne)), behind, rollOf(ProviderRolloutRunning, "b")),
		"waiting ProviderRolloutRunning"},
	{"rolls to something else", "it can't be ended, and is waited for", wants(3, rolls(0, 1)),
		fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "c")), "waiting ProviderRolloutRunning"},
	{"rolls, strategy", "a strategy is no reason to end it", wants(3, rolls(1, 1)),
		fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b")), "waiting ProviderRolloutRunning"},
	{"rolls, pool deleted", "its end is waited for, and no drain begins", wants(3, deleting),
		fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b")), "waiting ProviderRolloutRunning"},
	{"failed", "it is tried again after a pause, and the cloud's words are said", wants(3, rolls(0, 1)),
		fleet(serving(3), behind, failedRoll), "waiting ProviderRolloutFailed, settled"},
	{"failed, restart", "who asks gets it at once", wants(3, rolls(0, 1), restart), fleet(serving(3), behind, failedRoll),
		"StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
	{"failed, smaller", "meanwhile the group is ours again", wants(2, rolls(0, 1)), fleet(serving(3), behind, failedRoll),
		"Drain i-1 (ScaleIn), waiting ProviderRolloutFailed"},
	{"left half-done", "nothing is to be replaced, and the cloud changes nothing else before", wants(3, rolls(0, 1)),
		fleet(serving(3), halfDone), "StartProviderRollout of lt:1 (UpgradeUnfinished)"},
	{"left half-done, some are stale", "one roll does both", wants(3, rolls(0, 1)), fleet(serving(3), behind, halfDone),
		"StartProviderRollout of lt:2 i-1 i-2 i-3 (TemplateChanged)"},
	{"left half-done, failed", "it is tried again after a pause", wants(3, rolls(0, 1)),
		fleet(serving(3), halfDone, rollOf(ProviderRolloutFailed, "a", func(r *ProviderRollout) { r.Failures = 1 })),
		"waiting ProviderRolloutFailed, settled"},
	{"left half-done, restart", "our hand comes after it", wants(3, rolls(0, 1), restart), fleet(serving(3), halfDone),
		"StartProviderRollout of lt:1 (UpgradeUnfinished), waiting ProviderRolloutInProgress"},
	{"left half-done, paused", "a pause holds for it too", wants(3, rolls(0, 1), paused), fleet(serving(3), halfDone),
		"waiting RolloutPaused, settled"},
	{"a step on the way", "the next version is another template, and rolls when the last roll has ended", wants(3, rolls(0, 1)),
		fleet(serving(3, current), func(o *Observed) {
			newTemplate(o)
			o.Versions = append([]Template{version(3, "c", "d")}, o.Versions...)
			o.Wanted.Content = "v1:c"
		}, rollOf(ProviderRolloutSucceeded, "b")), "StartProviderRollout of lt:3 i-1 i-2 i-3 (TemplateChanged)"},
}

var restart = restartOf(time.Minute)

var behind = func(o *Observed) { newTemplate(o); o.Group.Template = "lt:1" }

var rotatedToken = func(o *Observed) { o.Wanted.Data = "e" }

var newData = func(o *Observed) {
	rotatedToken(o)
	o.Versions = append([]Template{version(2, "a", "e")}, o.Versions...)
}

var failedRoll = rollOf(ProviderRolloutFailed, "b", func(r *ProviderRollout) {
	r.Failures, r.Reason = 1,
		"PodEvictionFailure: pods can't be evicted"
})

func TestRollOfChanges(t *testing.T) {
	checkOn(t, rollsChanges, rollOfChangesCases)
	checkOn(t, func(tr *Traits) { rollsChanges(tr); tr.CanCancelRollout = true }, []row{
		{"can be ended", "then it is", wants(3, rolls(0, 1)), fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "c")),
			"CancelProviderRollout refs roll-1 (TemplateChanged), waiting ProviderRolloutRunning"},
		{"another client's, paused", "a pause keeps Muster from replacing machines, and no other client", wants(3, rolls(0, 1), paused),
			fleet(serving(3, current), newTemplate, rollOf(ProviderRolloutRunning, "b", byOthers)), "waiting ProviderRolloutRunning"},
		{"another client's, machines do not join", "its end is not Muster's either", wants(3, rolls(0, 1)),
			fleet(append(serving(2, current), machine("i-9", 1, current, notJoined)), newTemplate, rollOf(ProviderRolloutRunning, "b", byOthers)),
			"waiting ProviderRolloutRunning, waiting NodesJoining"},
		{"another client's, to something else", "it is waited for, and what is wanted comes after it", wants(3, rolls(0, 1)),
			fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "c", byOthers)), "waiting ProviderRolloutRunning"},
		{"another client's, pool deleted", "a roll would launch machines to replace those that are drained", wants(3, deleting),
			fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b", byOthers)), "CancelProviderRollout refs roll-1 (PoolDeleted)"},
		{"pool deleted, can be ended", "likewise", wants(3, deleting), fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b")),
			"CancelProviderRollout refs roll-1 (PoolDeleted)"},
	})
}

// What people read about a roll of changes.
func TestWordsOfARollOfChanges(t *testing.T) {
	tr := traits
	rollsChanges(&tr)
	behind := func(o *Observed) { newTemplate(o); o.Group.Template = "lt:1" }
	step := func(o *Observed) {
		behind(o)
		for k := range o.Instances {
			o.Instances[k].TemplateDiff = []string{"spec.version 1.29 -> 1.30, on the way to 1.31"}
		}
	}
	for _, c := range []struct {
		name, why string
		d         Desired
		o         Observed
		state     RolloutState
		want      string
	}{
		{"to come", "how many, and what differs, on the way to where", wants(3, rolls(0, 1)), fleet(serving(3), step), RolloutInProgress,
			"3 of 3 machines to replace: launched from lt:1, which differs from what the specification asks for in spec.version 1.29 -> 1.30, on " +
				"the way to 1.31"},
		{"runs", "how far, in the cloud's words", wants(3, rolls(0, 1)),
			fleet(serving(3), step, rollOf(ProviderRolloutRunning, "b",
				func(r *ProviderRollout) { r.Reason = "spec.version 1.30, on the way to 1.31" })), RolloutInProgress,
			"the rollout of the Auto Scaling group to lt:2 is Running at 40 %: spec.version 1.30, on the way to 1.31"},
		{"runs unwanted", "why it is waited for all the same", wants(3, rolls(0, 1)),
			fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "c")), RolloutInProgress,
			"the rollout of the Auto Scaling group to lt:2 is Running at 40 %; it can't be cancelled, and it is waited for although the rollout " +
				"launches machines from lt:2, which is not what the specification asks for any more"},
		{"runs, paused", "a pause can't end it",
			wants(3, rolls(0, 1), func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "a user asked for a pause"} }),
			fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b")), RolloutInProgress,
			"the rollout of the Auto Scaling group to lt:2 is Running at 40 %; it can't be cancelled, and it is waited for although a user asked " +
				"for a pause"},
		{"restart beside a change", "what comes first is told", wants(3, rolls(0, 1), restartOf(time.Minute)),
			fleet(append(serving(2), machine("i-9", 1, current)), behind), RolloutInProgress,
			"3 of 3 machines to replace: launched from lt:1, which differs from what the specification asks for"},
		{"left half-done", "why all machines are as wanted and it is not done", wants(3, rolls(0, 1)), fleet(serving(3), halfDone),
			RolloutInProgress, "an upgrade has stopped"},
		{"left half-done, failed", "when it goes on", wants(3, rolls(0, 1)),
			fleet(serving(3), halfDone, rollOf(ProviderRolloutFailed, "a", func(r *ProviderRollout) { r.Failures = 1 })), RolloutWaiting,
			"the rollout of the Auto Scaling group to lt:2 ended as Failed, retrying after a pause"},
		{"pool deleted while it runs", "what the deletion waits for", wants(3, deleting),
			fleet(serving(3), behind, rollOf(ProviderRolloutRunning, "b")), "",
			"the rollout of the Auto Scaling group to lt:2 is Running at 40 %; it can't be cancelled, and the Auto Scaling group is deleted when " +
				"it has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := Decide(c.d, c.o, tr, now)
			got := p.Rollout.Cause.Message
			if c.state == "" {
				got = p.Waiting[0].Message
			}
			if p.Rollout.State != c.state || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s:\nwant %s %s\n got %s %s", c.why, c.state, c.want, p.Rollout.State, got)
			}
		})
	}
}

// A group that goes from one version to another in steps, each of which is another content, takes one roll for each of them and
// nothing else, whether its templates are the cloud's own or ours, and says at any time what it is doing.
func TestStepByStep(t *testing.T) {
	for name, change := range map[string]func(Template) Template{"ours": func(v Template) Template { return v }, "given": given} {
		t.Run(name, func(t *testing.T) {
			tr := traits
			rollsChanges(&tr)
			c := &ideal{o: fleet(serving(3)), now: now, tr: tr}
			c.o.Versions[0], c.o.Wanted = change(c.o.Versions[0]), change(c.o.Wanted)
			d, left := wants(3, rolls(0, 1)), []string{"b", "c", "d"}
			var steps []StepKind
			for range 200 {
				p := Decide(d, c.o, c.tr, c.now)
				if p.Step != nil {
					if fault := unsafeStep(d, c.o, c.tr, c.now, *p.Step); fault != "" {
						t.Fatalf("%s: %s", say(p), fault)
					}
					steps = append(steps, p.Step.Kind)
					c.do(t, *p.Step)
				}
				if p.Step == nil && p.Rollout.State == RolloutDone && p.Quiescent && len(left) > 0 {
					v := change(version(1, left[0], "d"))
					left, v.Ref = left[1:], "lt:"+left[0]
					c.o.Wanted = v
					c.o.Wanted.Ref = ""
					if v.UserManaged {
						c.o.Versions = append([]Template{v}, c.o.Versions...)
					}
				}
				if p.Rollout.State != RolloutDone && p.Rollout.Cause.Message == "" {
					t.Fatalf("want to be told what the rollout does, got %+v", p.Rollout)
				}
				c.tick()
			}
			want := map[string][]StepKind{
				"ours":  {PutTemplate, StartProviderRollout, PutTemplate, StartProviderRollout, PutTemplate, StartProviderRollout, PruneTemplates},
				"given": {StartProviderRollout, StartProviderRollout, StartProviderRollout},
			}[name]
			if !slices.Equal(steps, want) || c.isStale(d) || len(left) > 0 {
				t.Errorf("want %v, got %v with %v still to come", want, steps, left)
			}
		})
	}
}

// A surge of Muster's own is not kept for a rollout of the cloud's, which adds its own.
func TestSurgeGoesBeforeTheCloudsRoll(t *testing.T) {
	agentPool := func(t *Traits) {
		rollsChanges(t)
		t.SupportsStandby, t.ReplaceKeepsSize = false, false
	}
	behind := func(o *Observed) { newTemplate(o); o.Group.Template = "lt:1" }
	checkOn(t, agentPool, []row{
		{name: "a restart half-way, and another template", why: "both surges together would exceed the budget",
			d: wants(2, rolls(1, 0), restartOf(time.Minute)),
			o: fleet(list(machine("i-1", 60, current), machine("i-2", 60), machine("i-3", 0, current)), behind), want: "Drain i-1 (ScaleIn)"},
		{name: "a restart half-way", why: "its replacement is there", d: wants(2, rolls(1, 0), restartOf(time.Minute)), o: fleet(serving(3)),
			want: "Drain i-1 (Restart)"},
	})
	nodeGroup := func(t *Traits) {
		agentPool(t)
		t.ReplaceKeepsSize = true
	}
	paused := func(d *Desired) { d.RolloutPaused = &Cause{"RolloutPaused", "x"} }
	checkOn(t, nodeGroup, []row{
		{name: "a restart half-way, another template, and a pause", why: "the surplus goes with the size: its replacement would be surplus again",
			d:    wants(2, rolls(1, 0), restartOf(time.Minute), paused),
			o:    fleet(list(machine("i-1", 60, current, drainedNode), machine("i-2", 60, current), machine("i-3", 60)), behind),
			want: "Remove i-1 (ScaleIn), waiting RolloutPaused"},
		{name: "and the surplus is what the cloud would replace", why: "it goes with the size all the same",
			d:    wants(1, rolls(1, 0), restartOf(time.Minute), paused),
			o:    fleet(list(machine("i-1", 60, current), machine("i-3", 60, drainedNode)), behind),
			want: "Remove i-3 (ScaleIn), waiting RolloutPaused"},
	})
}
