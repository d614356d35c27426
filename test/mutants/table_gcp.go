package mutants

// The files, from the root of the module.
const (
	migApply, migTarget   = "cloud/gcp/instancegroup/apply.go", "cloud/gcp/instancegroup/target.go"
	migFields, migMembers = "cloud/gcp/instancegroup/group.go", "cloud/gcp/instancegroup/instances.go"
	migDriver             = "cloud/gcp/instancegroup/driver.go"
	migStart              = "cloud/gcp/instancegroup/start.go"
	migWant               = "cloud/gcp/instancegroup/desired.go"
	gcpTemplate           = "cloud/gcp/template/build.go"
)

// instancegroupTable lists the mutations for managed instance groups of Google Cloud.
var instancegroupTable = []Mutation{
	one("every instance of the group deleted", migApply, "names all instances of a managed instance group that is to lose some",
		Explore, []string{"undrained", "unwanted removal", "available"},
		`if i.named(target) && i.state() != pool.Terminating {`,
		`if (i.named(target) || mutated("every instance of the group deleted")) && i.state() != pool.Terminating {`),
	one("owner of the instance group not checked", migTarget, "takes any managed instance group of the right name for ours",
		Explore, []string{"foreign"},
		`{ return t.claim(labels).Owned }`,
		`{
	return t.claim(labels).Owned || mutated("owner of the instance group not checked")
}`),
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
	one("patch without a fingerprint", migStart, "changes a managed instance group although another client has changed it since it was read",
		InstanceGroup, []string{"TestChangedSinceItWasRead"},
		`change.Fingerprint = w.memory.group.is.Fingerprint`,
		`change.Fingerprint = either(mutated("patch without a fingerprint"), "", w.memory.group.is.Fingerprint)`),
	one("one memory for all groups", migDriver, "keeps what was read of one managed instance group for all of a region",
		Explore, []string{"progress", "foreign", "twice", "starved", "as desired"},
		`target.cluster.Region, target.group)}`,
		`target.cluster.Region, either(mutated("one memory for all groups"), "", target.group))}`).of("instancegroup").extra(),
	one("lost creation forgotten", migStart, "takes the creation of a managed instance group whose reply was lost for none",
		InstanceGroup, []string{"TestLostReplies"},
		`if driverkit.MayHaveHappened(err) {
		w.memory.made`,
		`if driverkit.MayHaveHappened(err) && (err == nil || !mutated("lost creation forgotten")) {
		w.memory.made`),
	one("removal not remembered", driverSurge, "counts a removal that the autoscaler's next size hides as surge that is still there",
		InstanceGroup, []string{"TestRemovalBeforeItsRecord"},
		`if s.Removal == nil {`,
		`if s.Removal == nil || mutated("removal not remembered") {`),
	one("machine type must be seen", migWant, "creates no pool whose machine type the credentials do not allow to look up",
		InstanceGroup, []string{"TestCreatedWithoutAnotherLookup"},
		`cloud.KindOf(want.unknown) != cloud.Denied`,
		`(cloud.KindOf(want.unknown) != cloud.Denied || mutated("machine type must be seen"))`),
}
