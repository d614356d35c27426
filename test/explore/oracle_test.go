package explore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/oracle"
)

var now = time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)

// account returns a cloud with one group of the pool's of that size, whose members are named.
func account(size int, members ...string) oracle.Cloud {
	g := oracle.Group{Name: "g", Owner: "me", Template: "lt-1", Max: 4, Size: size, Print: "g"}
	for _, id := range members {
		g.Members = append(g.Members, oracle.Member{ID: id, Launched: now.Add(-time.Hour)})
	}
	return oracle.Cloud{
		Groups:    []oracle.Group{g, {Name: "theirs", Owner: "them", Max: 1, Print: "theirs"}},
		Templates: []oracle.Template{{ID: "lt-1", Name: "g", Owner: "me", Print: "t"}, {ID: "lt-2", Name: "theirs", Print: "t"}},
	}
}

// removal returns a write that takes b out of a group of three whose nodes are empty, when two are wanted.
func removal(change ...func(*oracle.Write)) oracle.Write {
	empty := oracle.Node{Joined: true, DrainStarted: now.Add(-time.Minute)}
	w := oracle.Write{
		At: now, Call: "Terminate", Before: account(3, "a", "b", "c"), After: account(2, "a", "c"), Named: []string{"b"},
		Nodes: map[string]oracle.Node{"a": {Joined: true, Pods: 1}, "b": empty, "c": {Joined: true, Pods: 1}}, Unseen: 10 * time.Second,
		Desired: oracle.Desired{Owner: "me", Replicas: 2, Max: 4, DrainTimeout: 10 * time.Minute},
	}
	for _, c := range change {
		c(&w)
	}
	return w
}

func node(n oracle.Node) func(*oracle.Write) { return func(w *oracle.Write) { w.Nodes["b"] = n } }

func wants(n int) func(*oracle.Write) { return func(w *oracle.Write) { w.Desired.Replicas = n } }

func size(n int) func(*oracle.Write) { return func(w *oracle.Write) { w.After.Groups[0].Size = n } }

// replacement returns a write that takes b out of a group of that size with three machines, which all serve.
func replacement(size int, change ...func(*oracle.Write)) oracle.Write {
	serves := oracle.Node{Joined: true, Ready: true}
	w := oracle.Write{
		Call: "Terminate", Before: account(size, "a", "b", "c"), After: account(size, "a", "c"), Named: []string{"b"},
		Nodes:   map[string]oracle.Node{"a": serves, "b": serves, "c": serves},
		Desired: oracle.Desired{Owner: "me", Replicas: size, Surge: oracle.Share{N: 1}},
	}
	for _, c := range change {
		c(&w)
	}
	return w
}

// four adds a machine that serves.
func four(w *oracle.Write) {
	for _, c := range []*oracle.Cloud{&w.Before, &w.After} {
		c.Groups[0].Members = append(c.Groups[0].Members, oracle.Member{ID: "d"})
	}
	w.Nodes["d"] = w.Nodes["a"]
}

// marks returns a change of a write after which all nodes serve, b only if serves is true, and a is marked.
func marks(serves bool) func(*oracle.Write) {
	return func(w *oracle.Write) {
		w.Desired.Surge = oracle.Share{N: 1}
		w.Nodes = map[string]oracle.Node{"a": {Joined: true, Ready: true, Marked: now.Add(-time.Hour)}, "b": {Joined: serves, Ready: serves},
			"c": {Joined: true, Ready: true}}
	}
}

// draining has b be drained since a moment, replacing because a restart asks for it.
func draining(since time.Time) func(*oracle.Write) {
	return func(w *oracle.Write) {
		n := w.Nodes["b"]
		n.DrainStarted = since
		w.Nodes["b"] = n
	}
}

func replacing(since time.Time) func(*oracle.Write) {
	return func(w *oracle.Write) {
		draining(since)(w)
		w.Desired.Restart = now
	}
}

// cancelled returns a write that ends a rollout by which the cloud drained one of so many machines, after which the size is the given one.
func cancelled(machines, size int) oracle.Write {
	members := []string{"a", "b", "c", "d", "e"}[:machines]
	w := oracle.Write{Before: account(2, members...), After: account(size, members...),
		Desired: oracle.Desired{Owner: "me", Replicas: 1, Surge: oracle.Share{N: 1}}}
	w.Before.Groups[0].Members[1].Leaving = true
	return w
}

// autoscaled has an autoscaler own the group's size, which was another a moment ago.
func autoscaled(sizes ...int) func(*oracle.Write) {
	return func(w *oracle.Write) { w.Desired.External, w.Autoscaled = true, sizes }
}

// shrinks makes the cloud one that replaces no machine by itself. What the group launches is the present content.
func shrinks(w *oracle.Write) {
	w.Shrinks = true
	for _, c := range []*oracle.Cloud{&w.Before, &w.After} {
		c.Groups[0].Content = "new"
		for k := range c.Groups[0].Members {
			c.Groups[0].Members[k].Content = "new"
		}
	}
	w.Desired.ReplacedByMuster = true
}

// tried returns a write after which a scale set of one launches its requested three; before, it requested the given number.
func tried(before int) oracle.Write {
	w := oracle.Write{Before: account(1), After: account(3), Shrinks: true, Desired: oracle.Desired{Owner: "me", External: true}}
	w.Before.Groups[0].Requested, w.After.Groups[0].Requested = before, 3
	return w
}

// surged returns a write that ends a rollout of two machines with one surge machine, after which the group keeps the given three.
func surged(members ...string) oracle.Write {
	return oracle.Write{Before: account(2, "a", "b", "c"), After: account(3, members...), Named: []string{}, Shrinks: true,
		Desired: oracle.Desired{Owner: "me", External: true}}
}

// leastOf returns a write where the user wants the autoscaler to keep so many machines at least.
func leastOf(n int, w oracle.Write) oracle.Write {
	w.Desired.Replicas, w.Desired.Min = n, n
	return w
}

func young(w *oracle.Write) {
	for k := range w.After.Groups[0].Members {
		w.After.Groups[0].Members[k].Launched = now.Add(-time.Second)
	}
}

// oracleCases are the cases of TestOracle.
var oracleCases = []struct {
	reason, check string
	w             oracle.Write
	want          string
}{
	{"an empty node may go", "undrained", removal(), ""},
	{"a node that was not drained", "undrained", removal(node(oracle.Node{Joined: true})), "b, whose node was never drained"},
	{"a drain that has not ended", "undrained", removal(node(oracle.Node{Joined: true, DrainStarted: now.Add(-time.Minute), Pods: 2})),
		"2 pods still ran"},
	{"a drain whose time is up", "undrained", removal(node(oracle.Node{Joined: true, DrainStarted: now.Add(-10 * time.Minute), Pods: 2})),
		""},
	{"a drain without a bound", "undrained", removal(node(oracle.Node{Joined: true, DrainStarted: now.Add(-time.Hour), Pods: 2}),
		func(w *oracle.Write) { w.Desired.DrainTimeout = 0 }), "2 pods still ran"},
	{"a machine that never joined", "undrained", removal(node(oracle.Node{Pods: 3})), ""},
	{"another went at the same moment", "undrained",
		removal(node(oracle.Node{Joined: true}), func(w *oracle.Write) { w.Named = []string{"x"} }), ""},
	{"a call that names no machine is blamed for all", "undrained",
		removal(node(oracle.Node{Joined: true}), func(w *oracle.Write) { w.Named = nil }),
		"never drained"},

	{"what is too much may go", "unwanted removal", removal(), ""},
	{"what is wanted may not", "unwanted removal", removal(wants(3)), "left a size of 2, the object wants 3"},
	{"nor may the size fall without it", "unwanted removal", removal(wants(3), func(w *oracle.Write) { w.Named = []string{} }),
		"lowered the size from 3 to 2"},
	{"the autoscaler's matter", "unwanted removal", removal(func(w *oracle.Write) { w.Desired.External = true }),
		"an autoscaler owns the size"},
	{"the autoscaler's size", "unwanted removal",
		oracle.Write{Before: account(3), After: account(4), Desired: oracle.Desired{Owner: "me", External: true}},
		"changed the size from 3 to 4"},
	{"bounds that the user changed move the size", "unwanted removal",
		oracle.Write{Before: account(3), After: bounded(4, 4), Desired: oracle.Desired{Owner: "me", External: true}}, ""},
	{"a whole group", "unwanted removal", oracle.Write{Before: account(0), After: oracle.Cloud{}, Desired: oracle.Desired{Owner: "me"}},
		"deleted the group of an object that is not being deleted"},
	{"a second group", "foreign", oracle.Write{Before: oracle.Cloud{Groups: []oracle.Group{{Name: "theirs"}}},
		After:   oracle.Cloud{Groups: []oracle.Group{{Name: "theirs"}, {Name: "ours", Owner: "me"}}},
		Desired: oracle.Desired{Owner: "me", Named: "theirs"}}, "created group ours beside theirs"},
	{"a group after the one that is named", "foreign", oracle.Write{After: oracle.Cloud{Groups: []oracle.Group{{Name: "ours", Owner: "me"}}},
		Desired: oracle.Desired{Owner: "me", Named: "theirs"}}, ""},
	{"a whole group, on purpose", "unwanted removal", oracle.Write{Before: account(0), After: oracle.Cloud{},
		Desired: oracle.Desired{Owner: "me", Deleting: true}}, ""},

	{"what is too much may go where all that goes lowers the size", "unwanted removal", removal(shrinks), ""},
	{"of what is wanted none goes there without a cause", "unwanted removal", removal(shrinks, wants(3)),
		"removed 1 instances without a cause, 0 are too many: b"},
	{"what is stale goes before others come", "unwanted removal",
		removal(shrinks, wants(3), func(w *oracle.Write) { w.Before.Groups[0].Members[1].Content = "old" }), ""},
	{"so does what failed", "unwanted removal", removal(shrinks, wants(3),
		func(w *oracle.Write) { w.Before.Groups[0].Members[1].Failed = true }), ""},
	{"and what a user asked to go", "unwanted removal", removal(shrinks, wants(3),
		func(w *oracle.Write) { w.Desired.DeletionRequested = map[string]bool{"b": true} }), ""},
	{"the autoscaler's size there", "unwanted removal", removal(shrinks, func(w *oracle.Write) { w.Desired.External = true }),
		"from 3 to 2 (0 and 0 of them a surge) although an autoscaler"},
	{"the cloud tries again to bring what it was asked for", "unwanted removal", tried(3), ""},
	{"a write that asks for more than the autoscaler did", "unwanted removal", tried(2),
		"from 1 to 3 (0 and 0 of them a surge) although an autoscaler"},
	{"the least number of the user's, of a cloud that ignores it", "unwanted removal", leastOf(3, tried(2)), ""},
	{"and more than it", "unwanted removal", leastOf(2, tried(2)), "from 1 to 3 (0 and 0 of them a surge) although an autoscaler"},
	{"the surge of a rollout that is cancelled may stay", "unwanted removal", surged("a", "b", "c"), ""},
	{"and none may come with it", "unwanted removal", surged("a", "b", "d"), "from 2 to 3 (0 and 0 of them a surge) although an autoscaler"},
	{"nor is it a surge", "surge", leastOf(3, tried(2)), ""},
	{"a surge beside it", "unwanted removal",
		removal(shrinks, func(w *oracle.Write) { w.Desired.External, w.Before.Groups[0].Surge = true, 1 }), ""},

	{"as many serve as are wanted", "available", replacement(3, four), ""},
	{"fewer serve than are wanted", "available", replacement(3), "took 1 of those that serve and left 2 of 3, of which 0 may be missing"},
	{"one may be missing", "available", replacement(3, func(w *oracle.Write) { w.Desired.Unavailable = oracle.Share{N: 1} }), ""},
	{"as many serve as the autoscaler wanted a moment ago", "available", replacement(5, autoscaled(3), four), ""},
	{"fewer serve than it wanted a moment ago", "available", replacement(5, autoscaled(3)), "left 2 of 3"},
	{"as many serve as it wants now", "available", replacement(3, autoscaled(5), four), ""},
	{"fewer serve than it wants for some time", "available", replacement(5, autoscaled(), four), "left 3 of 5"},

	{"a machine stays that the cloud was draining", "surge", cancelled(3, 2), ""},
	{"what the cloud had given up comes with the next write", "surge", tried(3), ""},
	{"and more than it was asked for", "surge", tried(2), "raised the machines from 1 to 3, 2 are wanted with a surge of 0"},
	{"and another one is asked for", "surge", cancelled(3, 4), "raised the machines from 2 to 4, 1 are wanted with a surge of 1"},

	{"a marked one that stays", "marked first", removal(marks(true)), "removed instance b, and 1 that are marked to go first stay"},
	{"one that never joined, while the budget is spent", "marked first", removal(marks(false)), ""},
	{"one whose replacement began before the mark", "marked first", removal(marks(true), replacing(now.Add(-2*time.Hour))), ""},
	{"one whose replacement began after it", "marked first", removal(marks(true), replacing(now.Add(-time.Minute))), "removed instance b"},
	{"one whose removal with the size began before it", "marked first", removal(marks(true), draining(now.Add(-2*time.Hour))),
		"removed instance b"},
	{"one that never joined, while one may be missing", "marked first",
		removal(marks(false), func(w *oracle.Write) { w.Desired.Unavailable = oracle.Share{N: 1} }), "removed instance b"},
	{"one that may still join, while the budget is spent", "marked first",
		removal(marks(false), func(w *oracle.Write) { w.Before.Groups[0].Members[1].Launched = now.Add(-time.Minute) }),
		"removed instance b"},

	{"as many as exist", "capacity", removal(), ""},
	{"fewer than exist", "capacity", removal(size(1)), "from 3 to 1 while 2 instances exist"},
	{"those that no reader can see yet", "capacity", removal(size(1), young), ""},
	{"too much before", "capacity", removal(size(1), func(w *oracle.Write) { w.Before.Groups[0].Size = 2 }), ""},
	{"all shall go", "capacity", removal(size(1), func(w *oracle.Write) { w.Desired.Deleting = true }), ""},

	{"one of each", "twice", removal(), ""},
	{"two groups", "twice", removal(func(w *oracle.Write) { w.After.Groups = append(w.After.Groups, oracle.Group{Name: "h", Owner: "me"}) }),
		"2 groups and 1 templates"},
	{"two templates", "twice", removal(func(w *oracle.Write) { w.After.Templates[1].Owner = "me" }), "1 groups and 2 templates"},
	{"too many instances", "twice", oracle.Write{Before: account(4), After: account(4, "a", "b", "c", "d", "e", "f"),
		Desired: oracle.Desired{Owner: "me", Max: 4}}, "6 instances, at most 4"},
	{"one more while zones are evened out", "twice", oracle.Write{Before: account(4), After: account(4, "a", "b", "c", "d", "e"),
		Desired: oracle.Desired{Owner: "me", Max: 4}}, ""},
	{"a size above the maximum", "twice", removal(size(5)), "size is 5, its maximum 4"},

	{"others as they were", "foreign", removal(), ""},
	{"another's group", "foreign", removal(func(w *oracle.Write) { w.After.Groups[1].Print = "x" }), "changed group theirs"},
	{"another's group gone", "foreign", removal(func(w *oracle.Write) { w.After.Groups = w.After.Groups[:1] }), "changed group theirs"},
	{"a group without an owner", "foreign", removal(func(w *oracle.Write) { w.Before.Groups[1].Owner, w.After.Groups[1].Print = "", "x" }),
		"changed group theirs"},
	{"another's template", "foreign", removal(func(w *oracle.Write) { w.After.Templates = w.After.Templates[:1] }),
		"changed launch template lt-2"},

	{"another's role", "foreign", roles(oracle.Role{Name: "r", Owner: "them", Print: "a"}, oracle.Role{Name: "r", Owner: "them", Print: "b"}),
		"changed role r, which is not ours, from a"},
	{"our role", "foreign", roles(oracle.Role{Name: "r", Owner: "me", Theirs: []string{"a"}, Print: "a"},
		oracle.Role{Name: "r", Owner: "me", Theirs: []string{"a"}, Print: "b"}), ""},
	{"another's policy on our role", "foreign", roles(oracle.Role{Name: "r", Owner: "me", Theirs: []string{"a", "b"}},
		oracle.Role{Name: "r", Owner: "me", Theirs: []string{"a"}}), "detached from role r what others"},
	{"a group that could never be made", "unwanted removal", oracle.Write{
		Before: oracle.Cloud{Groups: []oracle.Group{{Owner: "me", Failed: true}}}, After: oracle.Cloud{}, Desired: oracle.Desired{Owner: "me"},
	}, ""},

	{"an adoption that is asked for", "foreign", adopting(), ""},
	{"an adoption that is not", "foreign", adopting(func(w *oracle.Write) { w.Desired.Adopt = "" }), "changed group theirs"},
	{"an adoption that changes more than tags", "foreign", adopting(func(w *oracle.Write) { w.After.Groups[0].Untagged = "x" }),
		"changed group theirs"},
	{"an adoption that drops the other provider's tags", "foreign",
		adopting(func(w *oracle.Write) { delete(w.After.Groups[0].Tags, "team") }),
		"changed group theirs"},
	{"an adoption that takes a machine", "foreign", adopting(func(w *oracle.Write) { w.After.Groups[0].Members = nil }),
		"changed group theirs"},
	{"a group of another owner", "foreign", adopting(func(w *oracle.Write) { w.Before.Groups[0].Owner = "them" }), "changed group theirs"},
	{"the template of the group", "foreign", adoptingTemplate(), ""},
	{"the template of a group that is not asked for", "foreign", adoptingTemplate(func(w *oracle.Write) { w.Desired.Adopt = "other" }),
		"changed launch template lt-1"},
	{"a template whose versions are changed", "foreign", adoptingTemplate(func(w *oracle.Write) { w.After.Templates[0].Untagged = "x" }),
		"changed launch template lt-1"},
	{"the machines that it had", "adopted", adopting(), ""},
	{"other machines", "adopted", adopting(func(w *oracle.Write) { w.After.Groups[0].Content = "b" }),
		"launch other machines than it had, which are as the object asks: b instead of a"},
	{"other machines, which the object asks for", "adopted",
		adopting(func(w *oracle.Write) { w.After.Groups[0].Content, w.Desired.Kept = "b", false }), ""},
	{"a replacement of machines that are as the object asks", "adopted", adopting(func(w *oracle.Write) { w.Rolls = true }),
		"replaces the machines of group theirs"},
	{"a template that another's group needs", "adopted", adopting(func(w *oracle.Write) {
		w.Desired.Deleting, w.Before.Templates, w.After.Groups = true, []oracle.Template{{ID: "lt-1", Name: "t", Owner: "me"}}, w.Before.Groups
	}), "deleted launch template t, from which group theirs launches"},

	{"a version that nothing needs", "history", pruning(2), ""},
	{"a version that only user data tells apart", "history", pruning(3), ""},
	{"the default", "history", pruning(1), "version 1 of launch template g, which is the default"},
	{"the newest", "history", pruning(6), "version 6 of launch template g, which is the newest"},
	{"what the group launches from", "history", pruning(5), "version 5 of launch template g, from which machines are launched"},
	{"what a machine was launched from", "history", pruning(2, func(w *oracle.Write) { w.Before.Groups[0].Members[0].Version = 2 }),
		"version 2 of launch template g, from which"},
	{"a machine that no reader can see yet", "history", pruning(2, func(w *oracle.Write) {
		w.Before.Groups[0].Members[0] = oracle.Member{ID: "a", Template: "lt-1", Version: 2, Launched: now.Add(-time.Second)}
	}), ""},
	{"the last one of a content that is kept", "history", pruning(4, func(w *oracle.Write) {
		w.Before.Templates[0].Versions, w.After.Templates[0].Versions = of(6, 5, 4, 2, 1), of(6, 5, 2, 1)
	}), "version 4 of launch template g, the last one of its content, which is among the newest 2"},
	{"the newest of a pool that is being deleted", "history", pruning(6, func(w *oracle.Write) { w.Desired.Deleting = true }), ""},
	{"what machines of a pool that is being deleted were launched from", "history",
		pruning(5, func(w *oracle.Write) { w.Desired.Deleting = true }),
		"from which machines are launched"},
	{"an update that waits for budgets", "forced", oracle.Write{Call: "x"}, ""},
	{"an update that was to be forced", "forced", oracle.Write{Call: "x", Forces: true, Desired: oracle.Desired{Force: true}}, ""},
	{"an update that was not", "forced", oracle.Write{Call: "x", Forces: true}, "which the object does not ask for"},
	{"a change that the description names", "reported", renewed("instanceType a -> b"), ""},
	{"a change that it does not name", "reported", renewed("other bootstrap data"),
		`whose InstanceType differs; its description says "other bootstrap data"`},
	{"a newest version that some reads do not show", "reported", renewed("", func(w *oracle.Write) { w.Desired.Keep = 0 }), ""},
	{"what another owner's template loses", "history", pruning(6, func(w *oracle.Write) { w.Before.Templates[0].Owner = "them" }), ""},
}

func TestOracle(t *testing.T) {
	for _, c := range oracleCases {
		t.Run(c.check+": "+c.reason, func(t *testing.T) {
			for _, check := range oracle.Checks() {
				if check.Name != c.check {
					continue
				}
				verdict(t, c.want, check.Of(c.w))
				return
			}
			t.Fatalf("there is no check %q", c.check)
		})
	}
}

// of are versions of a template, the newest first. 3 and 4 are of one content, as are 5 and 6; 1 is the default.
func of(numbers ...int64) []oracle.Version {
	var list []oracle.Version
	for _, n := range numbers {
		list = append(list,
			oracle.Version{Number: n, Default: n == 1, Content: map[int64]string{1: "a", 2: "b", 3: "c", 4: "c", 5: "d", 6: "d"}[n]})
	}
	return list
}

// pruning returns a write that deletes one of six versions, two contents of which are kept. The group launches from 5.
func pruning(version int64, change ...func(*oracle.Write)) oracle.Write {
	w := removal(func(w *oracle.Write) {
		w.Call, w.After, w.Named, w.Desired.Keep = "DeleteLaunchTemplateVersions", account(3, "a", "b", "c"), []string{}, 2
		w.Before.Groups[0].Version = 5
		w.Before.Groups[0].Members[0].Template, w.Before.Groups[0].Members[0].Version = "lt-1", 5
		w.Before.Templates[0].Versions = of(6, 5, 4, 3, 2, 1)
		w.After.Templates[0].Versions = slices.DeleteFunc(of(6, 5, 4, 3, 2, 1), func(v oracle.Version) bool { return v.Number == version })
	})
	for _, c := range change {
		c(&w)
	}
	return w
}

// adopting returns a write with which Muster adopts a group of another provider.
func adopting(change ...func(*oracle.Write)) oracle.Write {
	group := func(owner string) oracle.Cloud {
		tags := map[string]string{"team": "a"}
		if owner != "" {
			tags["owner"] = owner
		}
		return oracle.Cloud{Groups: []oracle.Group{{Name: "theirs", Owner: owner, Template: "lt-1", Content: "a", Print: "g" + owner,
			Untagged: "g", Tags: tags,
			Members: []oracle.Member{{ID: "a", Content: "a"}}}}}
	}
	w := oracle.Write{Call: "CreateOrUpdateTags", Before: group(""), After: group("me"),
		Desired: oracle.Desired{Owner: "me", Named: "theirs", Adopt: "theirs", Kept: true}}
	for _, c := range change {
		c(&w)
	}
	return w
}

// adoptingTemplate returns a write with which Muster adopts the launch template of such a group.
func adoptingTemplate(change ...func(*oracle.Write)) oracle.Write {
	return adopting(append([]func(*oracle.Write){func(w *oracle.Write) {
		w.After = w.Before
		w.Before.Templates = []oracle.Template{{ID: "lt-1", Name: "t", Print: "t", Untagged: "t"}}
		w.After.Templates = []oracle.Template{{ID: "lt-1", Name: "t", Owner: "me", Print: "tme", Untagged: "t"}}
	}}, change...)...)
}

// renewed returns a write that makes a version of another type, with the given description.
func renewed(says string, change ...func(*oracle.Write)) oracle.Write {
	w := oracle.Write{Call: "CreateLaunchTemplateVersion", Before: account(1), After: account(1),
		Desired: oracle.Desired{Owner: "me", Keep: 3}}
	w.Before.Templates[0].Versions = []oracle.Version{{Number: 1, Content: `{"InstanceType":"a","ImageId":"x"}`}}
	w.After.Templates[0].Versions = []oracle.Version{{Number: 2, Content: `{"InstanceType":"b","ImageId":"x"}`, Description: says},
		w.Before.Templates[0].Versions[0]}
	for _, c := range change {
		c(&w)
	}
	return w
}

// roles returns a write that changes a role.
func roles(before, after oracle.Role) oracle.Write {
	return oracle.Write{Call: "x", Before: oracle.Cloud{Roles: []oracle.Role{before}}, After: oracle.Cloud{Roles: []oracle.Role{after}},
		Desired: oracle.Desired{Owner: "me"}}
}

func TestOracleOfSpareVersions(t *testing.T) {
	for _, c := range []struct {
		reason string
		keep   int
		want   []int64
	}{
		{"three contents: d, c and b; of each one version, and the default", 3, []int64{3}},
		{"two contents", 2, []int64{3, 2}},
		{"more than there are", 9, []int64{3}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := oracle.Template{ID: "lt-1", Versions: of(6, 5, 4, 3, 2, 1)}.Spare([]oracle.Group{{Template: "lt-1", Version: 5}}, c.keep)
			if !slices.Equal(got, c.want) {
				t.Errorf("want %v, got %v", c.want, got)
			}
		})
	}
}

func bounded(size, least int) oracle.Cloud {
	c := account(size)
	c.Groups[0].Min = least
	return c
}

// verdict wants one finding that holds the words, or none.
func verdict(t *testing.T, want string, got []string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
		t.Errorf("want a finding with %q, got %q", want, got)
	}
}

func TestOracleAtRest(t *testing.T) {
	for _, c := range []struct {
		reason, want string
		got          []string
	}{
		{"as wanted, and more", "", oracle.AsDesired(map[string]string{"a": "1"}, map[string]string{"a": "1", "b": "2"})},
		{"something else", `a is "2", the object wants "1"`, oracle.AsDesired(map[string]string{"a": "1"}, map[string]string{"a": "2"})},
		{"nothing", `a is "", the object wants "1"`, oracle.AsDesired(map[string]string{"a": "1"}, nil)},
		{"quiet", "", oracle.Quiet([]oracle.Pass{{Status: "x"}, {Status: "x"}})},
		{"a write", "pass 2 at rest wrote [Update]", oracle.Quiet([]oracle.Pass{{Status: "x"}, {Status: "x", Writes: []string{"Update"}}})},
		{"other words", "pass 2 at rest said", oracle.Quiet([]oracle.Pass{{Status: "x"}, {Status: "y"}})},
		{"nothing left", "",
			oracle.Left(oracle.Cloud{Groups: []oracle.Group{{Owner: "them"}}, Instances: []oracle.Instance{{Owner: "me", Leaving: true}}}, "me")},
		{"a group left", "its group g", oracle.Left(oracle.Cloud{Groups: []oracle.Group{{Name: "g", Owner: "me"}}}, "me")},
		{"a template left", "its launch template t", oracle.Left(oracle.Cloud{Templates: []oracle.Template{{Name: "t", Owner: "me"}}}, "me")},
		{"a role left", "its role r",
			oracle.Left(oracle.Cloud{Roles: []oracle.Role{{Name: "r", Owner: "me"}, {Name: "s", Owner: "them"}}}, "me")},
		{"an instance left", "its instance i-1", oracle.Left(oracle.Cloud{Instances: []oracle.Instance{{ID: "i-1", Owner: "me"}}}, "me")},
		{"what another owner took over", "", oracle.Left(oracle.Cloud{
			Groups:    []oracle.Group{{Name: "g", Owner: "them", Template: "lt-1"}},
			Templates: []oracle.Template{{ID: "lt-1", Owner: "me"}}, Instances: []oracle.Instance{{ID: "i-1", Owner: "me", Group: "g"}},
		}, "me")},
		{"a node without a machine", "", oracle.LivingNode("n", "", account(1, "a"))},
		{"a node whose machine left", "", oracle.LivingNode("n", "b", account(1, "a"))},
		{"a node whose machine runs", "its machine a runs in group g", oracle.LivingNode("n", "a", account(1, "a"))},
		{"no secret", "", oracle.Secret("x", "nothing", []string{"abc"})},
		{"a secret", "secret number 2 can be read in x", oracle.Secret("x", "see abc", []string{"zzz", "abc"})},
		{"a secret in base64", "secret number 1 can be read in x", oracle.Secret("x", "YWJj", []string{"abc"})},
	} {
		t.Run(c.reason, func(t *testing.T) { verdict(t, c.want, c.got) })
	}
}

// A rotation of the token alone changes no Ready.
func TestOracleOfRotations(t *testing.T) {
	for status, want := range map[string]int{"True": 0, "": 0, "False": 1, "Unknown": 1} {
		if got := oracle.Rotation([]oracle.Readiness{{Object: "pool", Status: status, Reason: "TemplateOutOfDate"}}); len(got) != want {
			t.Errorf("Ready %q: want %d, got %q", status, want, got)
		}
	}
}

func TestPaused(t *testing.T) {
	t.Parallel()
	if found := oracle.Paused("call", false); len(found) > 0 {
		t.Errorf("want nothing while the pool is not paused, got %q", found)
	}
	if len(oracle.Paused("call", true)) == 0 {
		t.Error("want a write for a paused pool found, got none")
	}
}
