package mutants

// The files, from the root of the module.
const (
	awsStart, awsPut, awsObserve, awsGroup = "cloud/aws/start.go", "cloud/aws/start_template.go", "cloud/aws/observe.go", "cloud/aws/group.go"
	awsMemory, awsHash, awsHooks           = "cloud/aws/memory.go", "cloud/aws/hash.go", "cloud/aws/hooks.go"
	awsVersions, awsUpdate, awsTags        = "cloud/aws/versions.go", "cloud/aws/update.go", "cloud/aws/tags.go"
	awsTarget, awsTake, awsHold            = "cloud/aws/target.go", "cloud/aws/take.go", "cloud/aws/hold.go"
)

// awsTable is what goes wrong in the driver.
var awsTable = []Mutation{
	one("client token without predecessor", awsHash, "makes one token for going back and forth between two templates",
		Explore, []string{"as desired", "quiet", "progress"},
		`[]string{owner, t.Content, t.Data, predecessor})`,
		`[]string{owner, t.Content, t.Data, either(mutated("client token without predecessor"), "", predecessor)})`),
	one("client token of the clock", awsPut, "makes every try a new request",
		AWS, []string{"TestContract"},
		`p.predecessor(s)+strings.Repeat("+", k))`,
		`p.predecessor(s)+strings.Repeat("+", k)+either(mutated("client token of the clock"), strconv.FormatInt(p.driver.options.Now().UnixNano(), 10), ""))`),
	one("secret in the description", awsHash, "tells in a version's description what it boots with",
		Explore, []string{"secret"},
		`	if data.InstanceType != "" {
		text +=`, `	if mutated("secret in the description") && data.UserData != nil {
		text += " boots=" + plainly(*data.UserData)
	}
	if data.InstanceType != "" {
		text +=`),
	one("owner of the group not checked", awsObserve, "takes any group of the right name for ours",
		Explore, []string{"foreign"},
		`return tagOf(is, tagOwner) == p.t.Owner.ID }`,
		`return tagOf(is, tagOwner) == p.t.Owner.ID || mutated("owner of the group not checked") }`),
	one("owner of the template not checked", awsVersions, "takes any launch template of the right name for ours",
		AWS, []string{"TestForeignTemplate", "TestContract"},
		`		read.ours = hasOwner(template.Tags, p.t.Owner)
`, `		read.ours = hasOwner(template.Tags, p.t.Owner) || mutated("owner of the template not checked")
`),
	one("template named after its machines", awsTarget, "makes a template of its own for every type of machine",
		Explore, []string{"twice"},
		`out.template = out.group
`, `out.template = out.group + either(mutated("template named after its machines"), "-"+out.pool.AWSLaunchTemplate.InstanceType, "")
`),
	one("owner tag forgotten", awsTags, "does not tag what it makes",
		Explore, []string{"left", "as desired", "twice", "foreign", "progress"},
		`	tags[tagOwner] = o.ID
`, `	if !mutated("owner tag forgotten") {
		tags[tagOwner] = o.ID
	}
`),
	one("size kept on removal", awsTake, "removes a machine without lowering the size",
		Explore, []string{"as desired", "progress", "quiet", "unfounded"},
		`InstanceId: &target.ID, ShouldDecrementDesiredCapacity: &lower,`,
		`InstanceId: &target.ID, ShouldDecrementDesiredCapacity: value(lower && !mutated("size kept on removal")),`),
	one("size lowered with what is set aside", awsTake, "sets machines aside without others in their place",
		Explore, []string{"unwanted removal", "available", "as desired", "capacity"},
		`InstanceIds: ids, ShouldDecrementDesiredCapacity: value(false),`,
		`InstanceIds: ids, ShouldDecrementDesiredCapacity: value(mutated("size lowered with what is set aside")),`),
	one("hooks of others completed", awsHold, "lets go what a hook of somebody else holds",
		AWS, []string{"TestContract", "TestHooksOfOthersAreLeftAlone"},
		`AutoScalingGroupName: &p.t.group, LifecycleHookName: value(drainHook), InstanceId: &id, LifecycleActionResult:`,
		`AutoScalingGroupName: &p.t.group, LifecycleHookName: value(either(mutated("hooks of others completed"), "bye", drainHook)), InstanceId: &id, LifecycleActionResult:`),
	one("alias pinned", awsStart, "lets the group launch from whatever is newest",
		AWS, []string{"TestContract"},
		`return &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number}, nil`,
		`if mutated("alias pinned") {
		number = "$Latest"
	}
	return &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number}, nil`),
	one("cooldown honoured", awsStart, "resizes only when the cooldown is over",
		AWS, []string{"TestContract"},
		`AutoScalingGroupName: &p.t.group, DesiredCapacity: &size, HonorCooldown: value(false),`,
		`AutoScalingGroupName: &p.t.group, DesiredCapacity: &size, HonorCooldown: value(mutated("cooldown honoured")),`),
	one("own writes not waited for", awsMemory, "takes machines away on a read that is behind its own write",
		AWS, []string{"TestNothingIsTakenAwayOnAReadBehindOurOwnWrite", "TestContract"},
		`return m.group.is != nil && !m.asked.at.IsZero() &&`,
		`return !mutated("own writes not waited for") && m.group.is != nil && !m.asked.at.IsZero() &&`),
	one("group kept in memory over a write", awsMemory, "acts on the group as it was before its own write",
		AWS, []string{"TestContract"},
		`	m.group, m.hooks, m.wrote = groupRead{}, hooksRead{}, false
`, `	if !mutated("group kept in memory over a write") {
		m.group, m.hooks, m.wrote = groupRead{}, hooksRead{}, false
	}
`),
	one("hook left", awsHooks, "never takes a hook away",
		AWS, []string{"TestWhatOthersDidIsLeftAlone", "TestWhatOthersPutOnTheGroupStays"},
		`			remove = append(remove, name)
`, `			if !mutated("hook left") {
				remove = append(remove, name)
			}
`),
	one("tags left as they are", awsGroup, "does not look at tags once the group exists",
		Explore, []string{"as desired"},
		`return len(g.missingTags(is)) > 0 || len(g.surplusTags(is)) > 0`,
		`return (len(g.missingTags(is)) > 0 || len(g.surplusTags(is)) > 0) && !mutated("tags left as they are")`),
	one("old tags left", awsGroup, "never takes a tag away",
		Explore, []string{"as desired"},
		`if _, wanted := g.tags[key]; !wanted && marked(ours, key) {`,
		`if _, wanted := g.tags[key]; !wanted && marked(ours, key) && !mutated("old tags left") {`).from(407),
	one("processes stay suspended", awsGroup, "never resumes what it suspended",
		AWS, []string{"TestWhatOthersDidIsLeftAlone"},
		`if slices.Contains(actual, name) && !slices.Contains(g.suspended, name) {`,
		`if slices.Contains(actual, name) && !slices.Contains(g.suspended, name) && !mutated("processes stay suspended") {`),
	one("subnets not repaired", awsUpdate, "reports subnets that differ and does not send them",
		Explore, []string{"as desired", "quiet", "busy", "progress"},
		`input.VPCZoneIdentifier = value(strings.Join(want.subnets, ","))`,
		`if !mutated("subnets not repaired") {
				input.VPCZoneIdentifier = value(strings.Join(want.subnets, ","))
			}`).from(81),
	one("group with machines not forced", awsStart, "deletes a group as if it were empty, which the cloud refuses",
		Explore, []string{"progress"},
		`ForceDelete: value(true),`, `ForceDelete: value(!mutated("group with machines not forced")),`),
}
