package mutants

// The files, from the root of the module.
const (
	migApply, migTarget   = "cloud/gcp/instancegroup/apply.go", "cloud/gcp/instancegroup/target.go"
	migFields, migMembers = "cloud/gcp/instancegroup/group.go", "cloud/gcp/instancegroup/instances.go"
	migSurge, migWant     = "cloud/gcp/instancegroup/surge.go", "cloud/gcp/instancegroup/desired.go"
	gcpTemplate           = "cloud/gcp/template/build.go"
)

// instancegroupTable is what goes wrong with managed instance groups of Google Cloud.
var instancegroupTable = []Mutation{
	one("every instance of the group deleted", migApply, "names all instances of a managed instance group that is to lose some",
		Explore, []string{"undrained", "unwanted removal", "available"},
		`if i.named(target) && i.state() != pool.Terminating {`,
		`if (i.named(target) || mutated("every instance of the group deleted")) && i.state() != pool.Terminating {`),
	one("owner of the instance group not checked", migTarget, "takes any managed instance group of the right name for ours",
		Explore, []string{"foreign"},
		`return owner == template.LabelValue(t.Owner.ID) ||`,
		`return mutated("owner of the instance group not checked") || owner == template.LabelValue(t.Owner.ID) ||`),
	one("rolling left to others", migFields, "leaves a managed instance group to roll by itself once another client has set it to",
		Explore, []string{"undrained", "as desired"},
		`policy.Type != wantPolicy.Type ||`,
		`policy.Type != wantPolicy.Type && !mutated("rolling left to others") ||`),
	one("bootstrap data is content of templates", gcpTemplate, "replaces instances whenever their bootstrap token is another",
		Explore, []string{"unwanted removal", "available", "as desired"},
		`t.Data = s.Bootstrap.Hash()`,
		`t.Data = s.Bootstrap.Hash()
	if mutated("bootstrap data is content of templates") {
		t.Content += t.Data
	}`),
	one("deleted instances awaited", migMembers,
		"waits for instances that another client has deleted and that the group does not create again",
		InstanceGroup, []string{"TestDeletedAndNotRepaired"},
		`return i.id == 0 && i.status == "" && i.action == actionNone }`,
		`return i.id == 0 && i.status == "" && i.action == actionNone && !mutated("deleted instances awaited") }`),
	one("recorded surge never used up", migSurge, "goes on to count what a rollout has added to a managed instance group when it is gone",
		InstanceGroup, []string{"TestSurgeIsRecorded"},
		`return max(0, n.Surge-max(0, n.Size-size))`,
		`return either(mutated("recorded surge never used up"), n.Surge, max(0, n.Surge-max(0, n.Size-size)))`),
	one("removal not remembered", migSurge, "counts a removal that the autoscaler's next size hides as surge that is still there",
		InstanceGroup, []string{"TestRemovalBeforeItsRecord"},
		`if s.removal == nil {`,
		`if s.removal == nil || mutated("removal not remembered") {`),
	one("machine type must be seen", migWant, "creates no pool whose machine type the credentials do not allow to look up",
		InstanceGroup, []string{"TestCreatedWithoutAnotherLookup"},
		`cloud.KindOf(want.unknown) != cloud.Denied`,
		`(cloud.KindOf(want.unknown) != cloud.Denied || mutated("machine type must be seen"))`),
}
