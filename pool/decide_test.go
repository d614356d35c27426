package pool

import (
	"strings"
	"testing"
	"time"
)

type row struct {
	name, why string
	d         Desired
	o         Observed
	want      string
}

func (r row) check(t *testing.T) { r.on(t, traits) }

// on checks the row for a cloud of other traits.
func (r row) on(t *testing.T, tr Traits) {
	t.Run(r.name, func(t *testing.T) {
		if got := say(Decide(r.d, r.o, tr, now)); got != r.want {
			t.Errorf("%s:\nwant %s\n got %s", r.why, r.want, got)
		}
	})
}

// unowned is a group of the pool's name without an owner tag.
func unowned(change ...func(*Unowned)) func(*Observed) {
	return func(o *Observed) {
		o.OwnershipConflict, o.Unowned = &Cause{"OwnershipConflict", "not ours"}, &Unowned{Name: "g", Group: "group g", OfCluster: true,
			ConsentTag: "adopt-by=ns/p"}
		for _, c := range change {
			c(o.Unowned)
		}
	}
}

// ofNoCluster is a group whose tags name no cluster, in a resource group of an account.
func ofNoCluster(u *Unowned) { u.OfCluster, u.Account, u.Path = false, "1", "rg/g" }

// grants has the operator grant the adoption of groups of an account.
func grants(account, pattern string) func(*Desired) {
	return func(d *Desired) {
		d.Adopt.Namespace = "ns"
		d.Adopt.Grants = []AdoptionGrant{{Name: "grant", Accounts: []string{account}, Groups: []string{pattern}}}
	}
}

// adopt asks for the adoption of a group.
func adopt(name string) func(*Desired) { return func(d *Desired) { d.Adopt.Name = name } }

// nothing is a cloud that holds nothing of the pool.
func nothing(change ...func(*Observed)) Observed {
	o := Observed{Wanted: Template{Content: "v1:a", Data: "d"}}
	for _, c := range change {
		c(&o)
	}
	return o
}

func held(d *Desired) { d.CreateBlocked = &Cause{"ClusterNotReady", "waiting for the cluster"} }

func external(d *Desired) { d.ReplicasManagedExternally = true }

func refused(kinds ...StepKind) func(*Desired) {
	return func(d *Desired) {
		d.StepsInBackoff = map[StepKind]Cause{}
		for _, k := range kinds {
			d.StepsInBackoff[k] = Cause{"Denied", "not allowed"}
		}
	}
}

// avoids is a desired state in which a step waits for a reason.
func avoids(kind StepKind, reason string) func(*Desired) {
	return func(d *Desired) { d.StepsInBackoff = map[StepKind]Cause{kind: {reason, "later"}} }
}

func TestCreate(t *testing.T) {
	for _, r := range []row{
		{"nothing yet", "the template comes first, for the group is made from it", wants(3), nothing(), "PutTemplate (TemplateMissing)"},
		{"template there", "the group is made at once at its full size", wants(3), nothing(hasTemplate),
			"CreateGroup to 3 of lt:1 (GroupMissing)"},
		{"no machines", "a pool of none is a group all the same, so that an autoscaler finds it", wants(0), nothing(hasTemplate),
			"CreateGroup to 0 of lt:1 (GroupMissing)"},
		{"old template", "a group that was deleted by hand comes back from the wanted template, never from an old one",
			wants(3), nothing(func(o *Observed) { o.Versions = []Template{version(1, "old", "d")} }), "PutTemplate after lt:1 (TemplateChanged)"},
		{"old bootstrap data", "machines made with an expired token would never join",
			wants(3), nothing(func(o *Observed) { o.Versions = []Template{version(1, "a", "old")} }),
			"PutTemplate after lt:1 (BootstrapDataChanged)"},
		{"held", "nothing is made before its cluster is ready", wants(3, held), nothing(hasTemplate), "waiting ClusterNotReady, settled"},
		{"Machines of a former group", "its instances get their provider IDs, and the controller of Machines would drain and delete their Nodes",
			wants(3, func(d *Desired) { d.FormerMachines = &Cause{"FormerMachinesDeleting", "x"} }), nothing(hasTemplate),
			"waiting FormerMachinesDeleting"},
		{"Nodes of a former group", "kubeadm join refuses the name of a Ready Node, and is run once",
			wants(3), nothing(hasTemplate, func(o *Observed) { o.FormerNodes = []string{"n-1"} }), "waiting FormerNodesReady"},
		{"no template known", "the cloud's own words say why", wants(3), Observed{Issues: []Cause{{"Invalid", "no such image"}}},
			"waiting Invalid, settled"},
		{"no template known, no words", "something is said even so", wants(3), Observed{}, "waiting TemplateUnknown, settled"},
		{"too many", "the object is refused before anything is made", wants(11), nothing(), "refused ReplicasOutOfBounds, settled"},
		{"without limits", "a group that has none takes any number", wants(1000, unlimited),
			Observed{Wanted: version(1, "a", "d"), Versions: []Template{version(1, "a", "d")}}, "CreateGroup to 1000 of lt:1 (GroupMissing)"},
		{"too few", "the lower bound holds as well", wants(1, func(d *Desired) { d.Min = 2 }), nothing(), "refused ReplicasOutOfBounds, settled"},
		{"sized elsewhere above the bounds", "replicas only start the group then, and it can start within its bounds", wants(50, external),
			nothing(hasTemplate), "CreateGroup to 10 of lt:1 (GroupMissing)"},
		{"sized elsewhere below the bounds", "the same at the lower end", wants(0, external, func(d *Desired) { d.Min = 2 }),
			nothing(hasTemplate), "CreateGroup to 2 of lt:1 (GroupMissing)"},
		{"template refused", "it is not asked for again before its back-off has ended", wants(3, refused(PutTemplate)), nothing(),
			"waiting Denied"},
		{"group refused", "likewise", wants(3, refused(CreateGroup)), nothing(hasTemplate), "waiting Denied"},
		{"group refused, template behind", "what was refused does not keep the template from being put right, which may be the very cure",
			wants(3, refused(CreateGroup)), nothing(), "PutTemplate (TemplateMissing)"},
		{"foreign", "what carries another owner's tag, or none, is never touched", wants(3),
			nothing(func(o *Observed) { o.OwnershipConflict = &Cause{"OwnershipConflict", "not ours"} }), "refused OwnershipConflict, settled"},
		{"being deleted by the cloud", "its name is not free yet", wants(3), fleet(nil, func(o *Observed) { o.Group.Deleting = true }),
			"waiting GroupDeleting"},
	} {
		r.check(t)
	}
}

// TestAdopt holds which group becomes a pool's: by its annotation and with consent, and none of another owner.
func TestAdopt(t *testing.T) {
	for _, r := range []row{
		{"unowned, not asked for", "the annotation is the user's word, and is named", wants(3), nothing(unowned()),
			"refused OwnershipConflict, settled"},
		{"adoption", "the group that is named, and that has no other owner, becomes the pool's", wants(3, adopt("g")), nothing(unowned()),
			"Adopt (AdoptionRequested)"},
		{"created with its cluster", "no other tool made it, and the object describes it", wants(3),
			nothing(unowned(func(u *Unowned) { u.CreatedWithCluster = true })), "Adopt (CreatedWithCluster)"},
		{"created with another's cluster", "its own pool is in use there", wants(3),
			nothing(unowned(func(u *Unowned) { u.CreatedWithCluster, u.OtherCluster = true, "c2" })), "refused OwnershipConflict, settled"},
		{"adoption of a busy group", "the cloud would refuse the write", wants(3, adopt("g")),
			nothing(unowned(func(u *Unowned) { u.Busy = &Cause{"ManagedClusterBusy", "x"} })), "waiting ManagedClusterBusy"},
		{"adoption of what names no cluster", "the manager's credentials reach more than its users may have", wants(3, adopt("g")),
			nothing(unowned(func(u *Unowned) { u.OfCluster = false })), "refused AdoptionNotAllowed, settled"},
		{"adoption by a cluster of the same name", "the tags name either", wants(3, adopt("g"), func(d *Desired) {
			d.Adopt.SameNamed = []string{"team-b/c"}
		}), nothing(unowned()), "refused AdoptionNotAllowed, settled"},
		{"creation with a cluster of the same name", "the tags name either", wants(3, func(d *Desired) {
			d.Adopt.SameNamed = []string{"team-b/c"}
		}), nothing(unowned(func(u *Unowned) { u.CreatedWithCluster = true })), "refused AdoptionNotAllowed, settled"},
		{"adoption with the operator's consent", "the group's tag names the pool", wants(3, adopt("g"), func(d *Desired) {
			d.Adopt.SameNamed = []string{"team-b/c"}
		}), nothing(unowned(func(u *Unowned) { u.OfCluster, u.Invited = false, true })), "Adopt (AdoptionRequested)"},
		{"adoption by a grant", "the operator has named namespace, account and group", wants(3, adopt("g"), grants("1", "rg/*")),
			nothing(unowned(ofNoCluster)), "Adopt (AdoptionRequested)"},
		{"adoption by a grant of another account", "the name exists in many", wants(3, adopt("g"), grants("2", "rg/*")),
			nothing(unowned(ofNoCluster)), "refused AdoptionNotAllowed, settled"},
		{"adoption by a grant of another name", "the operator meant that one", wants(3, adopt("g"), grants("1", "rg/h*")),
			nothing(unowned(ofNoCluster)), "refused AdoptionNotAllowed, settled"},
		{"adoption by a grant of names without a place", "* stands for no slash", wants(3, adopt("g"), grants("1", "*")),
			nothing(unowned(ofNoCluster)), "refused AdoptionNotAllowed, settled"},
		{"adoption by a grant while the account is not known", "it could be any", wants(3, adopt("g"), grants("", "rg/*")),
			nothing(unowned(ofNoCluster, func(u *Unowned) { u.Account = "" })), "refused AdoptionNotAllowed, settled"},
		{"adoption by a grant of a former owner's", "it was another object's, which may want it back", wants(3, adopt("g"), grants("1", "rg/*")),
			nothing(unowned(ofNoCluster, func(u *Unowned) { u.FormerOwner = "ns is b" })), "refused AdoptionNotAllowed, settled"},
		{"adoption by a grant of what could not be read", "it may name another cluster", wants(3, adopt("g"), grants("1", "rg/*")),
			nothing(unowned(ofNoCluster, func(u *Unowned) { u.Unread = &Cause{"Denied", "x"} })), "refused AdoptionNotAllowed, settled"},
		{"adoption by a grant of another owner's", "two pools never share a group", wants(3, adopt("g"), grants("1", "rg/*")),
			nothing(unowned(ofNoCluster, func(u *Unowned) { u.Owner = "other" })), "refused OwnershipConflict, settled"},
		{"adoption by a grant from another cluster", "its own pool is in use there", wants(3, adopt("g"), grants("1", "rg/*")),
			nothing(unowned(ofNoCluster, func(u *Unowned) { u.OtherCluster = "c2" })), "refused OwnershipConflict, settled"},
		{"adoption by a grant of a cluster of the same name", "a pattern does not tell which of the two is meant",
			wants(3, adopt("g"), grants("1", "rg/*"), func(d *Desired) { d.Adopt.SameNamed = []string{"team-b/c"} }),
			nothing(unowned(func(u *Unowned) { u.Account, u.Path = "1", "rg/g" })), "refused AdoptionNotAllowed, settled"},
		{"a grant without a wish", "the user decides whether the pool adopts", wants(3, grants("1", "rg/*")), nothing(unowned(ofNoCluster)),
			"refused OwnershipConflict, settled"},
		{"adoption of another name", "a slip takes nothing", wants(3, adopt("h")), nothing(unowned()), "refused OwnershipConflict, settled"},
		{"adoption of another owner's", "two pools never share a group", wants(3, adopt("g")),
			nothing(unowned(func(u *Unowned) { u.Owner = "other" })), "refused OwnershipConflict, settled"},
		{"adoption from another cluster", "its own pool is in use there", wants(3, adopt("g")),
			nothing(unowned(func(u *Unowned) { u.OtherCluster = "c2" })), "refused OwnershipConflict, settled"},
		{"adoption of one while another is named", "one of the two is wrong", wants(3, adopt("g")),
			nothing(unowned(func(u *Unowned) { u.NamedInstead = "h" })), "refused OwnershipConflict, settled"},
		{"adoption with another's template", "machines would be launched from what is not the pool's", wants(3, adopt("g")),
			nothing(unowned(func(u *Unowned) { u.TemplateConflict = &Cause{"ForeignTemplate", "x"} })), "refused ForeignTemplate, settled"},
		{"adoption a second time", "the tag was taken off on purpose, or by an error: the user decides",
			wants(3, adopt("g"), func(d *Desired) { d.Adopt.Done = true }), nothing(unowned()), "refused OwnershipConflict, settled"},
		{"adoption refused", "it is not asked for again before its back-off has ended", wants(3, adopt("g"), refused(Adopt)), nothing(unowned()),
			"waiting Denied"},
		{"adoption of what is not there", "no group is created in the place of one that is misspelt", wants(3, adopt("g")), nothing(),
			"refused AdoptionTargetMissing, settled"},
		{"adopted and lost", "a group of the pool's own is created again", wants(3, adopt("g"), func(d *Desired) { d.Adopt.Done = true }),
			nothing(hasTemplate), "CreateGroup to 3 of lt:1 (GroupMissing)"},
	} {
		r.check(t)
	}
}

// hasTemplate is the state before the group is created: the wanted template exists.
func hasTemplate(o *Observed) { o.Versions = []Template{version(1, "a", "d")} }

// keepCases are the cases of TestKeep.
var keepCases = []row{
	{"as wanted", "the steady state sends no write", wants(3), fleet(serving(3)), "settled"},
	{"held", "a group that exists is looked after whatever holds up new ones", wants(5, held), fleet(serving(3)), "Resize to 5 (ScaleOut)"},
	{"held, template unknown", "what is missing is said first, and nothing is done about the template", wants(3, held),
		fleet(serving(3), func(o *Observed) { o.Wanted = Template{} }), "waiting ClusterNotReady, settled"},
	{"held, template changed", "no new version without all that it takes", wants(3, held), fleet(serving(3), newer("b", "d")), "settled"},
	{"template changed", "new machines are made from what the specification says now", wants(3), fleet(serving(3), newer("b", "d")),
		"PutTemplate after lt:1 (TemplateChanged)"},
	{"bootstrap data changed", "it reaches new machines and rolls none", wants(3), fleet(serving(3), newer("a", "e")),
		"PutTemplate after lt:1 (BootstrapDataChanged)"},
	{"token rotated", "the token that the group launches with is kept alive", wants(3, rotated("d")), fleet(serving(3), newer("a", "e")),
		"settled"},
	{"token rotated and lost", "machines can't join with it",
		wants(3, rotated("d"), func(d *Desired) { d.LostBootstrapData = []string{"d"} }), fleet(serving(3), newer("a", "e")),
		"PutTemplate after lt:1 (BootstrapDataChanged)"},
	{"token rotated, template changed", "the specification needs a version", wants(3, rotated("d")), fleet(serving(3), newer("b", "e")),
		"PutTemplate after lt:1 (TemplateChanged)"},
	{"token rotated, newer version", "the group launches from the newest version, which has another content", wants(3, rotated("d")),
		fleet(serving(3), all(newer("a", "e"), put(version(2, "b", "d")))),
		"PutTemplate after lt:2 (TemplateChanged)"},
	{"token rotated, no group", "a group is created with the present data", wants(3, rotated("d")),
		nothing(func(o *Observed) { o.Versions, o.Wanted.Data = []Template{version(1, "a", "d")}, "e" }),
		"PutTemplate after lt:1 (BootstrapDataChanged)"},
	{"template unknown", "what can't be translated is no reason to change anything", wants(3),
		fleet(serving(3), func(o *Observed) { o.Wanted = Template{} }), "settled"},
	{"version put", "the group follows its newest version", wants(3), fleet(serving(3), all(newer("b", "d"), put(version(2, "b", "d")))),
		"UpdateGroup of lt:2 (TemplateOutOfDate)"},
	{"group points elsewhere", "a user changed it by hand", wants(3),
		fleet(serving(3), func(o *Observed) { o.Group.Template = "lt:$Latest" }), "UpdateGroup of lt:1 (TemplateOutOfDate)"},
	{"all versions deleted by hand", "the wanted one is made again", wants(3), fleet(serving(3), func(o *Observed) { o.Versions = nil }),
		"PutTemplate (TemplateMissing)"},
	{"all versions deleted, none known", "the group is not pointed at nothing", wants(3),
		fleet(serving(3), func(o *Observed) { o.Versions, o.Wanted = nil, Template{} }), "settled"},
	{"drift", "hand edits heal", wants(3), fleet(serving(3), drift("spec.subnets", "spec.maxSize")),
		"UpdateGroup fields spec.subnets spec.maxSize (GroupChanged)"},
	{"drift and template", "one call repairs both", wants(3), fleet(serving(3), all(drift("spec.subnets"), put(version(2, "a", "d")))),
		"UpdateGroup fields spec.subnets (GroupChanged)"},
	{"lower maximum", "a cloud that is asked for it before the group is small enough would choose machines by itself, undrained",
		wants(3, lowMax), fleet(serving(5), drift("spec.maxSize")), "Drain i-1 i-2 (ScaleIn), waiting MaxSizePending"},
	{"lower maximum and more", "the other fields need not wait", wants(3, lowMax), fleet(serving(5), drift("spec.maxSize", "tags")),
		"UpdateGroup fields tags (GroupChanged), waiting MaxSizePending"},
	{"lower maximum, small enough", "then it is set", wants(3, lowMax), fleet(serving(3), drift("spec.maxSize")),
		"UpdateGroup fields spec.maxSize (GroupChanged)"},
	{"lower maximum, sized elsewhere", "only the autoscaler that sizes the group can make it small enough, and the condition reports it",
		wants(3, lowMax, external), fleet(serving(5), drift("spec.maxSize")), "waiting MaxSizePending, settled"},
	{"a surge was used up", "what is left is written down before the size is raised again", wants(5),
		fleet(serving(3), func(o *Observed) { o.Group.SurgeRecordStale = true }), "UpdateGroup of lt:1 (SurgeRecordStale)"},
	{"a surge was used up, and drift", "one call does both", wants(3),
		fleet(serving(3), all(drift("tags"), func(o *Observed) { o.Group.SurgeRecordStale = true })), "UpdateGroup fields tags (GroupChanged)"},
	{"higher maximum and more machines", "the group is allowed to grow before it is asked to", wants(5),
		fleet(serving(3), drift("spec.maxSize")), "UpdateGroup fields spec.maxSize (GroupChanged)"},
	{"grow", "the size is set, the cloud launches", wants(5), fleet(serving(3)), "Resize to 5 (ScaleOut)"},
	{"grow while machines come", "every size is asked for once", wants(5), fleet(serving(3), size(5)), "waiting InstancesLaunching"},
	{"size lowered by hand", "the cloud is about to kill machines that it picks: those that are too many are drained instead", wants(2),
		fleet(serving(3), size(0)), "Resize to 3 (ScaleOut)"},
	{"size lowered by hand, maximum too", "the cloud takes no more than the maximum", wants(2, func(d *Desired) { d.Max = 2 }),
		fleet(serving(3), all(size(0), bound(2))), "Resize to 2 (ScaleOut)"},
	{"size lowered by hand, maximum by the user", "the maximum waits for what exists, so that the cloud chooses no machine",
		wants(2, func(d *Desired) { d.Max = 2 }), fleet(serving(3), all(size(2), bound(5), drift("spec.maxSize"))), ""},
	{"size lowered by hand far, maximum by the user", "what exists may be kept until it is drained", wants(2, func(d *Desired) { d.Max = 2 }),
		fleet(serving(3), all(size(1), bound(5), drift("spec.maxSize"))), "Resize to 3 (ScaleOut)"},
	{"sized elsewhere", "the size is read and never written", wants(5, external), fleet(serving(3)), "settled"},
	{"sized elsewhere, fewer wanted", "nothing is drained that is still wanted", wants(1, external), fleet(serving(3)), "settled"},
	{"without limits", "a group that has none takes any number", wants(1000, unlimited), fleet(serving(3)), "Resize to 1000 (ScaleOut)"},
	{"too many", "an impossible number is refused, and machines stay as they are", wants(11), fleet(serving(3)),
		"refused ReplicasOutOfBounds, settled"},
	{"too few", "likewise at the lower end", wants(1, func(d *Desired) { d.Min = 2 }), fleet(serving(3)),
		"refused ReplicasOutOfBounds, settled"},
	{"out of bounds and drift", "widening the bounds in the cloud goes on", wants(11), fleet(serving(3), drift("tags")),
		"UpdateGroup fields tags (GroupChanged), refused ReplicasOutOfBounds"},
	{"joining", "machines that have not joined are waited for", wants(3),
		fleet(append(serving(1), machine("i-8", 1, notJoined), machine("i-9", 1, unready))),
		"waiting NodesJoining, waiting NodesNotReady, settled"},
	{"failed", "the cloud replaces them", wants(2), fleet(append(serving(1), machine("i-9", 1, failed))), "waiting InstancesFailed"},
	{"pending", "a machine that is being born is at work", wants(2), fleet(append(serving(1), machine("i-9", 1, beingBorn))),
		"waiting InstancesLaunching"},
	{"leaving", "a machine on its way out is at work too, and its successor is waited for", wants(2),
		fleet(append(serving(1), machine("i-9", 1, leaving))), "waiting InstancesLaunching"},
	{"workload cluster away", "it is said, and nothing is made of missing nodes", wants(2),
		fleet(serving(2, notJoined), func(o *Observed) { o.NodesUnknown = true }), "waiting ConnectionDown, settled"},
	{"the cloud's words", "issues are shown as they are", wants(2),
		fleet(serving(2), func(o *Observed) { o.Issues = []Cause{{"Capacity", "none in a"}} }), "waiting Capacity, settled"},
}

var drift = func(fields ...string) func(*Observed) { return func(o *Observed) { o.Group.Drift = fields } }

var size = func(n int) func(*Observed) { return func(o *Observed) { o.Group.Size = n } }

var newer = func(content, data string) func(*Observed) {
	return func(o *Observed) { o.Wanted = Template{Content: "v1:" + content, Data: data} }
}

var put = func(v Template) func(*Observed) {
	return func(o *Observed) { o.Versions = append([]Template{v}, o.Versions...) }
}

var all = func(changes ...func(*Observed)) func(*Observed) {
	return func(o *Observed) {
		for _, c := range changes {
			c(o)
		}
	}
}

var rotated = func(from string) func(*Desired) {
	return func(d *Desired) { d.RotatedBootstrapData = []string{from} }
}

var bound = func(n int) func(*Observed) { return func(o *Observed) { o.Group.Max = n } }

var lowMax = func(d *Desired) { d.Max = 3 }

func TestKeep(t *testing.T) {
	for _, r := range keepCases {
		r.check(t)
	}
}

// A step that the cloud refused a moment ago is not begun again, and what does not depend on it goes on.
func TestRefusedSteps(t *testing.T) {
	busy := fleet(append(serving(6), machine("i-9", 9, drainingNode)), func(o *Observed) {
		o.Wanted.Content = "v1:b"
		o.Group.Drift = []string{"tags"}
		o.Instances[0].Marked, o.Instances[1].Marked = true, true
		o.Versions = append(o.Versions, version(-1, "x", "d"), version(-2, "y", "d"), version(-3, "z", "d"))
	})
	for _, r := range []row{
		{"none", "the template comes first", wants(5), busy, "PutTemplate after lt:1 (TemplateChanged), waiting Draining"},
		{"template", "then the group", wants(5, refused(PutTemplate)), busy,
			"UpdateGroup fields tags (GroupChanged), waiting Draining, waiting Denied"},
		{"group", "then what is wanted again", wants(5, refused(PutTemplate, UpdateGroup)), busy,
			"Undrain i-9 (StillWanted), waiting Draining, waiting Denied, waiting Denied"},
		{"nodes", "then who goes, as far as enough machines serve", wants(5, refused(PutTemplate, UpdateGroup, Undrain)), busy,
			"Drain i-1 (ScaleIn), waiting Draining, waiting Denied, waiting Denied, waiting Denied"},
		{"drains", "then what is spare", wants(5, refused(PutTemplate, UpdateGroup, Undrain, Drain)), busy,
			"PruneTemplates refs lt:-3 (TemplateUnused), waiting Draining, waiting Denied, waiting Denied, waiting Denied, waiting Denied"},
		{"drains that have begun", "a drain that takes days keeps nothing", wants(1),
			fleet(append(serving(1), machine("i-9", 9, drainingNode)), func(o *Observed) {
				o.Versions = append(o.Versions, version(-1, "x", "d"), version(-2, "y", "d"), version(-3, "z", "d"))
			}), "PruneTemplates refs lt:-3 (TemplateUnused), waiting Draining"},
		{"everything", "then nothing, and the pool is not at rest", wants(5, refused(PutTemplate, UpdateGroup, Undrain, Drain, PruneTemplates)),
			busy, "waiting Draining, waiting Denied, waiting Denied, waiting Denied, waiting Denied, waiting Denied"},
		{"growth", "a size that is refused keeps no template from being pruned", wants(9, refused(Resize)), fleet(serving(2), func(o *Observed) {
			o.Versions = append(o.Versions, version(-1, "x", "d"), version(-2, "y", "d"), version(-3, "z", "d"))
		}), "PruneTemplates refs lt:-3 (TemplateUnused), waiting Denied"},
		{"something else", "a refusal of what is not wanted any more says nothing", wants(2, refused(Resize)), fleet(serving(2)), "settled"},
	} {
		r.check(t)
	}
	got := Decide(wants(9, refused(Resize)), fleet(serving(2)), traits, now).Waiting
	if want := (Cause{"Denied", "Resize was refused: not allowed"}); len(got) != 1 || got[0] != want {
		t.Errorf("want the refusal in the cloud's words, %v, got %v", want, got)
	}
}

func TestDelete(t *testing.T) {
	deleting := func(d *Desired) { d.Deleting = true }
	whole := func(d *Desired) { d.NoDrain = &Cause{"ClusterDeleted", "the cluster is being deleted as a whole"} }
	timeout := func(after time.Duration) func(*Desired) { return func(d *Desired) { d.DrainTimeout = after } }
	unknown := func(o *Observed) { o.NodesUnknown = true }
	goes := func(o *Observed) { o.Group.Deleting = true }
	noGroup := func(o *Observed) { o.Group = nil }
	for _, r := range []row{
		{"nothing", "the object may go", wants(2, deleting), Observed{}, "settled, gone"},
		{"nothing of Muster's", "a foreign group of our name is no reason to stay, and is left alone", wants(2, deleting),
			Observed{OwnershipConflict: &Cause{"OwnershipConflict", "x"}}, "settled, gone"},
		{"nodes", "they are drained first", wants(2, deleting), fleet(serving(2)), "Drain i-1 i-2 (PoolDeleted)"},
		{"draining", "each pass evicts what it may, and says what is left", wants(2, deleting), fleet(serving(2, drainingNode)),
			"Drain i-1 i-2 (PoolDeleted), waiting Draining"},
		{"one drained", "the others go on", wants(2, deleting),
			fleet([]Instance{machine("i-1", 2, drainedNode), machine("i-2", 1, drainingNode)}), "Drain i-2 (PoolDeleted), waiting Draining"},
		{"all drained", "then the group goes with all of them", wants(2, deleting), fleet(serving(2, drainedNode)),
			"DeleteGroup i-1 i-2 (PoolDeleted)"},
		{"no nodes", "machines that never joined hold nothing", wants(2, deleting), fleet(serving(2, notJoined)),
			"DeleteGroup i-1 i-2 (PoolDeleted)"},
		{"empty group", "there is no machine to drain", wants(0, deleting), fleet(nil), "DeleteGroup (PoolDeleted)"},
		{"timed out", "the pool's drain timeout bounds the wait", wants(2, deleting, timeout(time.Minute)), fleet(serving(2, drainingNode)),
			"DeleteGroup i-1 i-2 (PoolDeleted)"},
		{"not timed out", "a moment earlier it does not", wants(2, deleting, timeout(time.Minute+1)), fleet(serving(2, drainingNode)),
			"Drain i-1 i-2 (PoolDeleted), waiting Draining"},
		{"volumes attached", "evicted pods' volumes are let go before the machine is taken from under them", wants(2, deleting),
			fleet(serving(2, drainedNode, detachingNode)), "Drain i-1 i-2 (PoolDeleted), waiting Draining"},
		{"volumes attached, timed out", "they have a timeout of their own", wants(2, deleting, timeout(time.Minute)),
			fleet(serving(2, drainingNode, detachingNode)), "Drain i-1 i-2 (PoolDeleted), waiting Draining"},
		{"whole cluster", "no machine is left that could run what is evicted", wants(2, deleting, whole), fleet(serving(2)),
			"DeleteGroup i-1 i-2 (PoolDeleted)"},
		{"workload cluster away", "what runs there is unknown, and drain comes before removal", wants(2, deleting),
			fleet(serving(2, notJoined), unknown), "waiting ConnectionDown"},
		{"workload cluster away with the whole", "nothing needs to be known", wants(2, deleting, whole), fleet(serving(2, notJoined), unknown),
			"DeleteGroup i-1 i-2 (PoolDeleted)"},
		{"workload cluster away, no machines", "nothing needs to be known either", wants(0, deleting), fleet(nil, unknown),
			"DeleteGroup (PoolDeleted)"},
		{"workload cluster away, all leaving", "nor of those that are gone anyway", wants(1, deleting), fleet(serving(1, leaving), unknown),
			"DeleteGroup (PoolDeleted)"},
		{"group goes", "the template is in use until it is gone", wants(2, deleting), fleet(serving(2, leaving), goes), "waiting GroupDeleting"},
		{"group gone", "the template is last", wants(2, deleting), fleet(nil, noGroup), "DeleteTemplates (PoolDeleted)"},
		{"held", "what holds up creation does not hold up deletion", wants(2, deleting, held), fleet(nil), "DeleteGroup (PoolDeleted)"},
		{"out of bounds", "nor do wrong numbers", wants(99, deleting), fleet(nil), "DeleteGroup (PoolDeleted)"},
		{"sized elsewhere", "nor who sizes it", wants(2, deleting, external), fleet(serving(1)), "Drain i-1 (PoolDeleted)"},
		{"group refused", "its back-off is waited for", wants(2, deleting, refused(DeleteGroup)), fleet(nil), "waiting Denied"},
		{"drain refused", "what drains is said after it", wants(2, deleting, refused(Drain)), fleet(serving(1, drainingNode)),
			"waiting Denied, waiting Draining"},
		{"template refused", "likewise", wants(2, deleting, refused(DeleteTemplates)), fleet(nil, noGroup), "waiting Denied"},
	} {
		r.check(t)
	}
}

func TestCausesOfTargets(t *testing.T) {
	p := Decide(wants(1), fleet([]Instance{machine("i-1", 1), machine("i-2", 2, marked), machine("i-3", 3, notJoined)}), traits, now)
	want := []InstanceRef{{ID: "i-3", ProviderID: "aws:///a/i-3",
		Cause: Cause{"ScaleIn", "the Auto Scaling group has a size of 3, the pool wants 1"}}}
	if p.Step == nil || p.Step.Kind != Remove || len(p.Step.Targets) != 1 || p.Step.Targets[0] != want[0] {
		t.Errorf("want the machine without a node removed at once: %+v, got %+v", want, p.Step)
	}
	p = Decide(wants(1), fleet([]Instance{machine("i-1", 1), machine("i-2", 2, marked)}), traits, now)
	marked := InstanceRef{ID: "i-2", ProviderID: "aws:///a/i-2", Node: "node-i-2",
		Cause: Cause{"Marked", "the instance is marked to go first"}}
	if p.Step == nil || p.Step.Kind != Drain || len(p.Step.Targets) != 1 || p.Step.Targets[0] != marked {
		t.Errorf("want %+v, got %+v", marked, p.Step)
	}
}

// TestAdoptionOfAGroupThatTheFieldNames: where a field names the group, the annotation alone can't give the pool another one.
func TestAdoptionOfAGroupThatTheFieldNames(t *testing.T) {
	d := Desired{Replicas: 1, Adopt: Adoption{Name: "other"}}
	got := adoptionTargetMissing(d, Traits{Group: "agent pool", GroupNamedBy: "spec.name"})
	if got == nil || !strings.Contains(got.Message, `names the agent pool "other", and there is none of the name in spec.name: set both`) {
		t.Errorf("want the field named, got %+v", got)
	}
}
