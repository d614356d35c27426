package mutants

// The files, from the root of the module.
const (
	awsStart, awsRead, awsGroup           = "cloud/aws/start.go", "cloud/aws/read.go", "cloud/aws/desired/group.go"
	awsMemory, awsHooks, awsRequest       = "cloud/aws/memory.go", "cloud/aws/lifecycle/hooks.go", "cloud/aws/desired/rows.go"
	launchHash, launchPut, launchVersions = "cloud/aws/launch/hash.go", "cloud/aws/launch/write.go", "cloud/aws/launch/versions.go"
	launchAbout, cloudOwner               = "cloud/aws/launch/description.go", "cloud/owner.go"
	requestedSize                         = "cloud/cache/requestedsize.go"
	awsTarget, awsTake, awsHold           = "cloud/aws/target.go", "cloud/aws/terminate.go", "cloud/aws/lifecycle/lifecyclehook.go"
	awsStandby                            = "cloud/aws/members/standby.go"
	sweepRound                            = "cloud/sweep/round.go"
)

// awsTable lists the mutations of the AWS driver.
var awsTable = []Mutation{
	one("client token without predecessor", launchHash, "makes one token for going back and forth between two templates",
		Explore, []string{"as desired", "quiet", "progress", "storm"},
		`[]string{owner, t.Content, t.Data, predecessor})`,
		`[]string{owner, t.Content, t.Data, either(mutated("client token without predecessor"), "", predecessor)})`),
	one("client token of the clock", launchPut, "makes every try a new request",
		AWS, []string{"TestContract"},
		`predecessor+strings.Repeat("+", k))`,
		`predecessor+strings.Repeat("+", k)+either(mutated("client token of the clock"), strconv.FormatInt(p.Now.UnixNano(), 10), ""))`),
	one("secret in the description", launchAbout, "tells in a version's description what it boots with",
		Explore, []string{"secret"},
		`	words := "first version"
`, `	words := "first version"
	if mutated("secret in the description") && want.data.UserData != nil {
		return words + " boots=" + plainly(*want.data.UserData)
	}
`),
	one("owner of the group not checked", awsTarget, "takes any group of the right name for ours",
		Explore, []string{"foreign"},
		`{ return t.claim(is).Owned }`,
		`{ return t.claim(is).Owned || mutated("owner of the group not checked") }`),
	one("owner of the template not checked", launchVersions, "takes any launch template of the right name for ours",
		AWS, []string{"TestForeignTemplate", "TestContract"},
		`claim.Owned || s.AssumeOwned && claim.ID == "";`,
		`claim.Owned || s.AssumeOwned && claim.ID == "" || mutated("owner of the template not checked");`),
	one("list taken for proof of absence", launchVersions, "takes a template for gone that a list leaves out, though Muster did not delete it",
		AWS, []string{"TestOnlyAnOwnDeletionIsProofOfAbsence", "TestADeletionProvesNothingOfTheNextTemplate"},
		`proven = proven || p.Memory.deletedBefore(at)`,
		`proven = proven || p.Memory.deletedBefore(at) || mutated("list taken for proof of absence")`),
	one("page that failed taken for gone", sweepRound, "takes the objects for gone that a call which failed has not read",
		AWS, []string{"TestPageOfTheSweepFails"},
		`case err != nil:
			r.fails(key, err)`,
		`case err != nil && !mutated("page that failed taken for gone"):
			r.fails(key, err)`),
	one("template named after its machines", awsTarget, "makes a template of its own for every type of machine",
		Explore, []string{"twice"},
		`out.template = cmp.Or(t.Remembered[cloud.AdoptedTemplate], out.pool.AWSLaunchTemplate.Name, out.group)`,
		`out.template = cmp.Or(t.Remembered[cloud.AdoptedTemplate], out.pool.AWSLaunchTemplate.Name, out.group) + either(mutated("template named after its machines"), "-"+out.pool.AWSLaunchTemplate.InstanceType, "")`),
	one("owner tag forgotten", cloudOwner, "does not tag what it makes",
		Explore, []string{"left", "as desired", "twice", "foreign", "progress"},
		`s.Key(TagOwner): s.value(o.ID)`,
		`s.Key(TagOwner): either(mutated("owner tag forgotten"), "", s.value(o.ID))`),
	one("size kept on removal", awsTake, "removes a machine without lowering the size",
		Explore, []string{"as desired", "progress", "quiet", "unfounded"},
		`Lower: lower, RequestedSize`, `Lower: lower && !mutated("size kept on removal"), RequestedSize`),
	one("size lowered with what is set aside", awsStandby, "sets machines aside without others in their place",
		Explore, []string{"unwanted removal", "available", "as desired", "capacity"},
		`InstanceIds: ids, ShouldDecrementDesiredCapacity: new(false),`,
		`InstanceIds: ids, ShouldDecrementDesiredCapacity: new(mutated("size lowered with what is set aside")),`),
	one("group of another tool made a second time", awsRead, "never looks for the group that the object names",
		Explore, []string{"foreign"},
		`if group.is != nil || name == "" ||`,
		`if group.is != nil || mutated("group of another tool made a second time") || name == "" ||`).from(40),
	one("adopted group launched from another template", awsRead, "makes a launch template of its own for a group that it adopts with another",
		Explore, []string{"adopted", "unfounded"},
		`if !r.t.Adopt || is == nil ||`,
		`if !r.t.Adopt || mutated("adopted group launched from another template") || is == nil ||`).of("asg"),
	one("hooks of others completed", awsHold, "completes the lifecycle hooks of others",
		AWS, []string{"TestContract", "TestHooksOfOthersAreLeftAlone"},
		`LifecycleHookName: new(drainHook), InstanceId: &id,
			LifecycleActionResult:`,
		`LifecycleHookName: new(either(mutated("hooks of others completed"), "bye", drainHook)), InstanceId: &id,
			LifecycleActionResult:`),
	one("alias pinned", awsStart, "lets the group launch from whatever is newest",
		AWS, []string{"TestContract"},
		`return &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number}, nil`,
		`if mutated("alias pinned") {
		number = "$Latest"
	}
	return &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number}, nil`),
	one("cooldown honoured", awsStart, "resizes only when the cooldown is over",
		AWS, []string{"TestContract"},
		`AutoScalingGroupName: &w.t.group, DesiredCapacity: &size, HonorCooldown: new(false),`,
		`AutoScalingGroupName: &w.t.group, DesiredCapacity: &size, HonorCooldown: new(mutated("cooldown honoured")),`),
	one("own writes not waited for", requestedSize, "takes machines away on a read that is behind its own write",
		AWS, []string{"TestNothingIsTakenAwayOnAReadBehindOurOwnWrite", "TestContract"},
		`if a.at.IsZero() ||`, `if mutated("own writes not waited for") || a.at.IsZero() ||`),
	one("group kept in memory over a write", awsMemory, "acts on the group as it was before its own write",
		AWS, []string{"TestContract"},
		`	m.group, m.hooks, m.template.Wrote = groupRead{}, lifecycle.Hooks{}, false
`, `	if !mutated("group kept in memory over a write") {
		m.group, m.hooks, m.template.Wrote = groupRead{}, lifecycle.Hooks{}, false
	}
`),
	one("hook left", awsHooks, "never takes a hook away",
		AWS, []string{"TestWhatOthersPutOnTheGroupStays"},
		`			c.Remove = append(c.Remove, name)
`, `			if !mutated("hook left") {
				c.Remove = append(c.Remove, name)
			}
`),
	one("tags left as they are", awsGroup, "does not look at tags once the group exists",
		Explore, []string{"as desired"},
		`return len(g.MissingTags(is)) > 0 || len(g.SurplusTags(is)) > 0`,
		`return (len(g.MissingTags(is)) > 0 || len(g.SurplusTags(is)) > 0) && !mutated("tags left as they are")`),
	one("old tags left", awsGroup, "never takes a tag away",
		Explore, []string{"as desired"},
		`if _, wanted := g.tags[key]; !wanted && session.Marked(ours, key) {`,
		`if _, wanted := g.tags[key]; !wanted && session.Marked(ours, key) && !mutated("old tags left") {`).from(407),
	one("processes stay suspended", awsGroup, "never resumes what it suspended",
		AWS, []string{"TestWhatOthersDidIsLeftAlone"},
		`if slices.Contains(actual, name) && !slices.Contains(g.suspended, name) {`,
		`if slices.Contains(actual, name) && !slices.Contains(g.suspended, name) && !mutated("processes stay suspended") {`),
	one("subnets not repaired", awsRequest, "reports subnets that differ and does not send them",
		Explore, []string{"as desired", "quiet", "busy", "progress", "storm"},
		`r.VPCZoneIdentifier = new(strings.Join(g.Subnets, ","))`,
		`if !mutated("subnets not repaired") {
				r.VPCZoneIdentifier = new(strings.Join(g.Subnets, ","))
			}`).from(81),
	one("group with machines not forced", awsStart, "deletes a group as if it were empty, which the cloud refuses",
		Explore, []string{"progress"},
		`ForceDelete: new(true),`, `ForceDelete: new(!mutated("group with machines not forced")),`),
}
