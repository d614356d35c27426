package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

var traits = pool.Traits{Group: "Auto Scaling group", Template: "launch template", RemoveBatch: 10, CanCancelRollout: true,
	ReplaceKeepsSize: true}

// stocked returns the facts of n machines that serve, launched from content a where b is wanted by a strategy.
func stocked(n int, s pool.Strategy, change ...func(*preview.Look)) preview.Look {
	old := pool.Template{Ref: "lt:1", Content: "v1:a", Data: "d"}
	l := preview.Look{Now: now, Traits: traits, Seen: true,
		Desired: pool.Desired{Replicas: n, Max: 100, Strategy: &s, DeletePolicy: pool.Oldest},
		Observed: pool.Observed{
			Wanted:   pool.Template{Content: "v1:b", Data: "d"},
			Versions: []pool.Template{old},
			Group:    &pool.Group{ID: "arn", Size: n, Max: 100, Template: old.Ref},
		}}
	for k := range n {
		id := fmt.Sprintf("i-%02d", k)
		made := now.Add(-time.Duration(100-k) * time.Hour)
		l.Observed.Instances = append(l.Observed.Instances, pool.Instance{
			ID: id, ProviderID: "aws:///a/" + id, Zone: string(rune('a' + k%3)), Template: old, State: pool.Running, Created: made,
			Node: &pool.Node{Name: "node-" + id, Joined: made.Add(time.Minute), Ready: true, ReadySince: made.Add(time.Minute)},
		})
	}
	for _, f := range change {
		f(&l)
	}
	return l
}

func by(surge, unavailable int) pool.Strategy {
	return pool.Strategy{MaxSurge: pool.IntOrPercent{Value: surge}, MaxUnavailable: pool.IntOrPercent{Value: unavailable}}
}

// waves replaces so many machines by the end of each wave, and watches each for an hour.
func waves(ends ...int) pool.Strategy {
	s := by(1, 0)
	s.Soak = rollouts.Soak{Wave: time.Hour, Final: time.Hour}
	for _, n := range ends {
		s.Waves = append(s.Waves, pool.IntOrPercent{Value: n})
	}
	return s
}

// managed pools are those whose cloud rolls changes by itself.
func managed(l *preview.Look) {
	l.Traits.ProviderRollout, l.Traits.RolloutOnTemplateChange, l.Traits.CanCancelRollout, l.Observed.Group.ProviderRolloutSurge = true, true,
		false, 6
}

// scaleSets are pools whose groups hold their template, and where a machine goes with its place.
func scaleSets(l *preview.Look) {
	l.Traits = pool.Traits{Group: "scale set", Template: "model", RemoveBatch: 100, CanCancelRollout: true, KeepsFailedInstances: true,
		RecordsSurge: true, InlineTemplate: true, CanDeleteBusyGroup: true}
}

// say returns a course in one line.
func (out Forecast) say() string {
	sizes, replaced := []int{}, 0
	for _, w := range out.Waves {
		sizes, replaced = append(sizes, len(w.Targets)), replaced+len(w.Targets)
	}
	return fmt.Sprintf("%d replaced in %v, %d rolled, %d removed, %d added, %d to %d, %s", replaced, sizes, len(out.Rolled), len(out.Removed),
		out.Added,
		out.MinAvailable, out.MaxMachines, out.Last.Rollout.State)
}

// followCases are the cases of TestFollow.
var followCases = []struct {
	name, why string
	facts     preview.Look
	want      string
}{
	{"surge", "one after the other, and none is missing", stocked(3, by(1, 0)),
		"3 replaced in [1 1 1], 0 rolled, 0 removed, 0 added, 3 to 4, Done"},
	{"unavailable", "without a machine too many", stocked(3, by(0, 1)), "3 replaced in [1 1 1], 0 rolled, 0 removed, 0 added, 2 to 3, Done"},
	{"a quarter and one", "as many in a wave as both allow together",
		stocked(10, pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 25, Percent: true}, MaxUnavailable: pool.IntOrPercent{Value: 1}}),
		"10 replaced in [4 4 2], 0 rolled, 0 removed, 0 added, 9 to 13, Done"},
	{"fewer", "those that are too many have no successors", stocked(5, by(1, 0), replicas(3)),
		"3 replaced in [1 1 1], 0 rolled, 2 removed, 0 added, 3 to 5, Done"},
	{"more", "those that are missing replace none", stocked(3, by(1, 0), replicas(5)),
		"3 replaced in [1 1 1], 0 rolled, 0 removed, 2 added, 3 to 6, Done"},
	{"waves", "each soak passes, however many there are", stocked(12, waves(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
		"12 replaced in [1 1 1 1 1 1 1 1 1 1 1 1], 0 rolled, 0 removed, 0 added, 12 to 13, Done"},
	{"nothing to do", "rest is rest", stocked(3, by(1, 0), func(l *preview.Look) { l.Observed.Wanted.Content = "v1:a" }),
		"0 replaced in [], 0 rolled, 0 removed, 0 added, 3 to 3, Done"},
	{"a new pool", "everything is made", preview.Look{Now: now, Traits: traits, Desired: pool.Desired{Replicas: 2, Max: 5},
		Observed: pool.Observed{Wanted: pool.Template{Content: "v1:a", Data: "d"}}},
		"0 replaced in [], 0 rolled, 0 removed, 2 added, 0 to 2, Done"},
	{"paused", "who holds the rollout has nothing replaced",
		stocked(3, by(1, 0), func(l *preview.Look) { l.Desired.RolloutPaused = &pool.Cause{Reason: "RolloutPaused"} }),
		"0 replaced in [], 0 rolled, 0 removed, 0 added, 3 to 3, Paused"},
	{"both zero", "nothing is allowed", stocked(3, by(0, 0)), "0 replaced in [], 0 rolled, 0 removed, 0 added, 3 to 3, None"},
	{"unreachable", "nodes that cannot be seen are left alone", stocked(3, by(1, 0), func(l *preview.Look) {
		l.Observed.NodesUnknown = true
		for k := range l.Observed.Instances {
			l.Observed.Instances[k].Node = nil
		}
	}), "0 replaced in [], 0 rolled, 0 removed, 0 added, 0 to 3, Waiting"},
	{"the cloud rolls", "it chooses the order, and keeps to its own bounds", stocked(3, by(1, 0), func(l *preview.Look) {
		l.Desired.Strategy, l.Traits.ProviderRollout, l.Health = nil, true, &preview.Health{MinPercent: 90, MaxPercent: 100}
	}), "0 replaced in [], 3 rolled, 0 removed, 0 added, 2 to 3, Done"},
	{"the cloud rolls changes", "as many as may be unavailable are missing, and as many are added as it adds in each zone, whatever " +
		"the strategy", stocked(10, by(0, 3), managed),
		"0 replaced in [], 10 rolled, 0 removed, 0 added, 7 to 16, Done"},
	{"the cloud rolls changes of more than the template",
		"a version that the group has beside its template is another content too, and one roll is enough",
		stocked(10, by(0, 3), managed, func(l *preview.Look) {
			l.Observed.Versions[0].Content, l.Observed.Group.Content = "v1:b", "v1:a"
			for k := range l.Observed.Instances {
				l.Observed.Instances[k].Template.Content = "v1:a"
			}
		}), "0 replaced in [], 10 rolled, 0 removed, 0 added, 7 to 16, Done"},
	{"the cloud rolls changes, and adds none", "then no machine is launched before another goes",
		stocked(10, by(0, 1), managed, func(l *preview.Look) { l.Observed.Group.ProviderRolloutSurge = 0 }),
		"0 replaced in [], 10 rolled, 0 removed, 0 added, 9 to 10, Done"},
	{"the cloud rolls changes, fewer", "those that are too many go first, by our hand", stocked(5, by(0, 1), managed, replicas(3)),
		"0 replaced in [], 3 rolled, 2 removed, 0 added, 2 to 9, Done"},
	{"the cloud rolls changes, restart", "machines of the wanted template go by our hand",
		stocked(3, by(0, 1), managed, func(l *preview.Look) {
			l.Observed.Wanted.Content = "v1:a"
			l.Desired.Restart = &pool.Restart{Before: now, Cause: pool.Cause{Reason: "Restart", Message: "asked for"}}
		}), "3 replaced in [1 1 1], 0 rolled, 0 removed, 0 added, 2 to 3, Done"},
	{"the cloud is at work", "its end is waited for", stocked(3, by(0, 1), managed, func(l *preview.Look) {
		l.Observed.Group.Busy = &pool.Cause{Reason: "Updating", Message: "the cloud is updating the group"}
	}), "0 replaced in [], 3 rolled, 0 removed, 0 added, 2 to 9, Done"},
	{"a group that failed", "it is made again, as the user asked", preview.Look{Now: now, Traits: traits,
		Desired: pool.Desired{Replicas: 2, Max: 5, Restart: &pool.Restart{Before: now,
			Cause: pool.Cause{Reason: "Restart", Message: "asked for"}}},
		Observed: pool.Observed{Wanted: pool.Template{Content: "v1:a", Data: "d"},
			Versions: []pool.Template{{Ref: "lt:1", Content: "v1:a", Data: "d"}},
			Group: &pool.Group{Size: 2, Max: 5, Template: "lt:1", Failed: &pool.Cause{Reason: "CreateFailed", Message: "no subnets"},
				Created: now.Add(-time.Hour)}}},
		"0 replaced in [], 0 rolled, 0 removed, 2 added, 0 to 2, Done"},
	{"what the group needs", "it comes first", preview.Look{Now: now, Traits: traits, Desired: pool.Desired{Replicas: 2, Max: 5},
		Observed: pool.Observed{Wanted: pool.Template{Content: "v1:a", Data: "d"}, MissingPrerequisites: []string{"role"}}},
		"0 replaced in [], 0 rolled, 0 removed, 2 added, 0 to 2, Done"},
	{"a default behind", "it follows once", stocked(3, by(1, 0), func(l *preview.Look) { l.Observed.Versions[0].Undeletable = true }),
		"3 replaced in [1 1 1], 0 rolled, 0 removed, 0 added, 3 to 4, Done"},
	{"a scale set", "the model is changed where it is, and each machine goes with its place",
		stocked(10, pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 25, Percent: true}, MaxUnavailable: pool.IntOrPercent{Value: 1}},
			scaleSets),
		"10 replaced in [4 4 2], 0 rolled, 0 removed, 0 added, 9 to 13, Done"},
	{"a scale set, fewer", "those that are too many have no successors", stocked(5, by(1, 0), scaleSets, replicas(3)),
		"3 replaced in [1 1 1], 0 rolled, 2 removed, 0 added, 3 to 5, Done"},
	{"a new scale set", "the group brings its template",
		preview.Look{Now: now, Traits: pool.Traits{Group: "scale set", InlineTemplate: true, CanCancelRollout: true},
			Desired: pool.Desired{Replicas: 2, Max: 5}, Observed: pool.Observed{Wanted: pool.Template{Content: "v1:a", Data: "d"}}},
		"0 replaced in [], 0 rolled, 0 removed, 2 added, 0 to 2, Done"},
	{"no strategy", "and nothing is promised", stocked(3, by(1, 0), func(l *preview.Look) { l.Desired.Strategy = nil }),
		"0 replaced in [], 0 rolled, 0 removed, 0 added, 3 to 3, None"},
	{"halted", "a new machine that never came is no ideal one", stocked(3, by(1, 0), func(l *preview.Look) {
		l.Observed.Versions = append([]pool.Template{{Ref: "lt:2", Content: "v1:b", Data: "d"}}, l.Observed.Versions...)
		l.Observed.Group.Template = "lt:2"
		l.Observed.Group.Size = 4
		l.Observed.Instances = append(l.Observed.Instances, pool.Instance{ID: "i-bad", ProviderID: "aws:///a/i-bad",
			Template: l.Observed.Versions[0],
			State:    pool.Running, Created: now.Add(-time.Hour)})
	}), "0 replaced in [], 0 rolled, 0 removed, 0 added, 3 to 4, Halted"},
	{"one is missing", "the group launches it by itself, and nothing else happens", stocked(3, by(1, 0), func(l *preview.Look) {
		l.Observed.Wanted.Content, l.Observed.Instances = "v1:a", l.Observed.Instances[1:]
	}), "0 replaced in [], 0 rolled, 0 removed, 1 added, 2 to 3, Done"},
	{"in the middle, none come", "the rest is told also where one was set aside and the cloud has not launched what it was asked for",
		stocked(6, by(1, 1), func(l *preview.Look) {
			l.Traits.SupportsStandby = true
			l.Observed.Versions = append([]pool.Template{{Ref: "lt:2", Content: "v1:b", Data: "d"}}, l.Observed.Versions...)
			l.Observed.Group.Template = "lt:2"
			l.Observed.Instances = l.Observed.Instances[1:]
			l.Observed.Instances[0].Standby = true
		}), "5 replaced in [2 2 1], 0 rolled, 0 removed, 1 added, 5 to 7, Done"},
	{"in the middle", "what was set aside has its successor already", stocked(3, by(1, 0), func(l *preview.Look) {
		l.Traits.SupportsStandby = true
		l.Observed.Versions = append([]pool.Template{{Ref: "lt:2", Content: "v1:b", Data: "d"}}, l.Observed.Versions...)
		l.Observed.Group.Template = "lt:2"
		l.Observed.Instances[0].Standby = true
		l.Observed.Instances = append(l.Observed.Instances, pool.Instance{ID: "i-new", ProviderID: "aws:///a/i-new",
			Template: l.Observed.Versions[0],
			State:    pool.Pending, Created: now})
	}), "3 replaced in [1 1 1], 0 rolled, 0 removed, 0 added, 3 to 4, Done"},
}

var replicas = func(n int) func(*preview.Look) { return func(l *preview.Look) { l.Desired.Replicas = n } }

func TestFollow(t *testing.T) {
	t.Parallel()
	for _, c := range followCases {
		for _, aside := range []bool{false, true} {
			if strings.HasPrefix(c.name, "in the middle") && !aside || c.name == "halted" && aside {
				continue
			}
			t.Run(fmt.Sprintf("%s, set aside %v", c.name, aside), func(t *testing.T) {
				t.Parallel()
				l := c.facts
				l.Traits.SupportsStandby = aside
				if got := Simulate(l); got.say() != c.want || !got.Converges {
					t.Errorf("%s: want %s\n got %s by %v, at rest: %v", c.why, c.want, got.say(), got.Steps, got.Converges)
				}
			})
		}
	}
}

// TestFollowKeepsTheRules holds that the forecast of a rollout obeys the limits and equals the forecast of package pool once the group
// launches from the wanted template: every machine is replaced once, in ceil(D/(surge+unavailable)) waves, within the budgets.
func TestFollowKeepsTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "replicas")
		surge, unavailable := rapid.IntRange(0, 6).Draw(t, "surge"), rapid.IntRange(0, 6).Draw(t, "unavailable")
		if surge+unavailable == 0 {
			surge = 1
		}
		l := stocked(n, by(surge, unavailable))
		l.Traits.SupportsStandby = rapid.Bool().Draw(t, "sets aside")
		l.Traits.RemoveBatch = rapid.IntRange(1, 20).Draw(t, "batch")
		l.Desired.DeletePolicy = rapid.SampledFrom([]pool.DeletePolicy{pool.Oldest, pool.Newest, pool.Random}).Draw(t, "policy")
		l.Desired.MinReady = time.Duration(rapid.IntRange(0, 600).Draw(t, "min ready")) * time.Second
		out := Simulate(l)
		seen := map[string]bool{}
		for _, w := range out.Waves {
			for _, target := range w.Targets {
				if seen[target.Instance.ID] || target.Cause.Reason != "TemplateChanged" {
					t.Fatalf("want each machine once, for its template, got %+v", target)
				}
				seen[target.Instance.ID] = true
			}
		}
		unavailable = min(unavailable, n)
		waves := (n + surge + unavailable - 1) / (surge + unavailable)
		if len(seen) != n || len(out.Waves) != waves || out.MinAvailable < n-unavailable || out.MaxMachines > n+surge || !out.Converges ||
			out.Last.Rollout.State != pool.RolloutDone {
			t.Fatalf("want %d machines in %d waves, %d to %d, got %s", n, waves, n-unavailable, n+surge, out.say())
		}
	})
}

// TestFollowChangesNoFacts holds that a forecast does not modify its input, which others read too.
func TestFollowChangesNoFacts(t *testing.T) {
	t.Parallel()
	l, same := stocked(5, by(1, 1)), stocked(5, by(1, 1))
	first := Simulate(l)
	if second := Simulate(l); first.say() != second.say() {
		t.Errorf("want the same course again, got %s after %s", second.say(), first.say())
	}
	if fmt.Sprintf("%+v", *l.Observed.Group) != fmt.Sprintf("%+v", *same.Observed.Group) ||
		!slices.EqualFunc(l.Observed.Instances, same.Observed.Instances, func(a, b pool.Instance) bool {
			return a.ID == b.ID && a.Standby == b.Standby && a.Node.Cordoned == b.Node.Cordoned && a.State == b.State
		}) {
		t.Errorf("want the facts as they were, got %+v", l.Observed)
	}
}
