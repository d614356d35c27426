package mutants

// The files, from the root of the module.
const (
	poolTemplates, poolOperation        = "pool/templates.go", "pool/operation.go"
	groupDrift, groupFields             = "cloud/aws/nodegroup/drift.go", "cloud/aws/nodegroup/fields.go"
	groupCreate, groupSize              = "cloud/aws/nodegroup/create.go", "cloud/aws/nodegroup/size.go"
	groupTarget, groupState             = "cloud/aws/nodegroup/target.go", "cloud/aws/nodegroup/state.go"
	groupRead, groupRollout             = "cloud/aws/nodegroup/read.go", "cloud/aws/nodegroup/startrollout.go"
	groupUpdate                         = "cloud/aws/nodegroup/update.go"
	roleMain, roleCleanUp, rolePolicies = "cloud/aws/nodegroup/noderole/noderole.go", "cloud/aws/nodegroup/noderole/cleanup.go",
		"cloud/aws/nodegroup/noderole/policies.go"
)

// templateTable lists the mutations for launch template versions, which both kinds use.
var templateTable = []Mutation{
	one("kept data is any data", poolTemplates, "takes all bootstrap data before for data that differs in its tokens",
		Pool, []string{"TestKeep"},
		`slices.Contains(v.in.d.RotatedBootstrapData, t.Data)`,
		`(slices.Contains(v.in.d.RotatedBootstrapData, t.Data) || mutated("kept data is any data"))`),
	one("token rotations are history", poolTemplates, "counts versions that differ in nothing but their tokens",
		Pool, []string{"TestPrune"},
		`	return t.Content
}`, `	return t.Content + either(mutated("token rotations are history"), t.Data, "")
}`),
	one("history one short", poolTemplates, "keeps one version less than was asked for",
		Explore, []string{"history"},
		`len(counted) <= kept`,
		`len(counted) <= kept-either(mutated("history one short"), 1, 0)`),
	one("default left behind", poolTemplates, "leaves the default at the version that came first",
		Explore, []string{"as desired"},
		`if v.in.t.InlineTemplate || launched.Ref == "" ||`,
		`if v.in.t.InlineTemplate || launched.Ref == "" || mutated("default left behind") ||`),
	one("default moved in the midst of a rollout", poolTemplates, "makes the default what has not proved itself yet",
		Pool, []string{"TestDefaultFollows"},
		`slices.ContainsFunc(v.fleet.members, (*member).replaced)`,
		`(slices.ContainsFunc(v.fleet.members, (*member).replaced) && !mutated("default moved in the midst of a rollout"))`),
	one("brought template made anew", poolTemplates, "makes a template of its own beside the one that was brought",
		Pool, []string{"TestGivenTemplates"},
		`o.Wanted.Content != "" && !o.Wanted.UserManaged &&`,
		`o.Wanted.Content != "" && (!o.Wanted.UserManaged || mutated("brought template made anew")) &&`),
	one("hash that forgets a field", launchHash, "leaves the volumes out of the content hash",
		Explore, []string{"as desired"},
		`"TagSpecifications": true`,
		`"TagSpecifications": true, "BlockDeviceMappings": mutated("hash that forgets a field")`),
	one("description without words", launchHash, "writes no more than hashes into a version's description",
		Explore, []string{"reported"},
		`		text += " " + words
`, `		text += either(mutated("description without words"), "", " "+words)
`),
}

// nodegroupTable lists the mutations for managed node groups.
var nodegroupTable = []Mutation{
	one("named node group made beside", groupRead, "creates a node group beside that of another tool which the object names",
		Explore, []string{"foreign"},
		`if group.is != nil || !r.t.namesAnother(on) ||`,
		`if group.is != nil || mutated("named node group made beside") || !r.t.namesAnother(on) ||`),
	one("adopted node group given another template", groupState,
		"makes a launch template of its own for a node group that it adopts with another",
		Explore, []string{"as desired"},
		`if !r.t.Adopt || r.t.template == "" ||`,
		`if !r.t.Adopt || mutated("adopted node group given another template") || r.t.template == "" ||`).of("nodegroup"),
	one("busy ignored", poolOperation, "changes a group that the cloud is at work on",
		Pool, []string{"TestBusy", "TestStepsAreSafe"},
		`	if v.operation() == nil {
		return steps
	}
	for`, `	if v.operation() == nil || mutated("busy ignored") {
		return steps
	}
	for`),
	one("failed deletion begun again at once", poolOperation, "deletes a group that could not be deleted as often as it looks",
		Pool, []string{"TestFailedGroup"},
		`return failed.IsZero() ||`,
		`return failed.IsZero() || mutated("failed deletion begun again at once") ||`),
	one("failed group with nodes made again", poolOperation, "deletes a group that failed and that has brought nodes all the same",
		Pool, []string{"TestFailedGroup"},
		`if cause == nil || slices.ContainsFunc(`,
		`if cause == nil || !mutated("failed group with nodes made again") && slices.ContainsFunc(`),
	one("owner of the node group not checked", groupTarget, "takes any node group of the right name for ours",
		Explore, []string{"foreign"},
		`{ return t.claim(is).Owned }`,
		`{ return t.claim(is).Owned || mutated("owner of the node group not checked") }`),
	one("labels of others removed", groupDrift, "takes away every label that the object does not name",
		Explore, []string{"as desired"},
		`return session.Marked(is.Tags[tagOurLabels], key) })`,
		`return session.Marked(is.Tags[tagOurLabels], key) || mutated("labels of others removed") })`).from(2808),
	one("taints not repaired", groupFields, "does not look at taints once the node group exists",
		NodeGroup, []string{"TestDrift"},
		`return want.taintsDrift(has.is) }`, `return want.taintsDrift(has.is) && !mutated("taints not repaired") }`),
	one("maximum lowered below what exists", groupFields, "asks EKS for a maximum that it can't have yet",
		NodeGroup, []string{"TestDrift", "TestBounds", "TestContract"},
		`!= *want.max && has.size <= *want.max
`,
		`!= *want.max && (has.size <= *want.max || mutated("maximum lowered below what exists"))
`),
	one("tags that reach no machine", groupDrift, "tags the node group alone, whose tags EKS passes on to no machine",
		Explore, []string{"as desired"},
		`return len(put)+len(remove) > 0 || len(members.untagged(backing, g)) > 0`,
		`return (len(put)+len(remove) > 0 || len(members.untagged(backing, g)) > 0) && !mutated("tags that reach no machine")`),
	one("policies of others detached", roleCleanUp, "takes from a role what another client has attached, and deletes it",
		NodeGroup, []string{"TestRoleIsMadeAndDeleted", "TestRoleOfOthers", "TestContract"},
		`		if !slices.Contains(known, arn) {`,
		`		if !slices.Contains(known, arn) && !mutated("policies of others detached") {`),
	one("role of others deleted", roleMain, "deletes the role of a pool that goes, although another owner created it",
		Explore, []string{"foreign", "progress"},
		`return m.arn != "" && m.owned }`, `return m.arn != "" && (m.owned || mutated("role of others deleted")) }`),
	one("policies left to others", rolePolicies, "makes a role and attaches nothing to it",
		Explore, []string{"as desired", "busy", "storm", "quiet", "progress"},
		`		if slices.Contains(role.attached, arn) {
			continue
		}
		_, err := p.Session.IAM.AttachRolePolicy`, `		if slices.Contains(role.attached, arn) || mutated("policies left to others") {
			continue
		}
		_, err := p.Session.IAM.AttachRolePolicy`),
	one("force always", groupRollout, "lets every update lose pods that can't be evicted",
		Explore, []string{"forced"},
		`Force: s.t.pool.UpdateConfig != nil && s.t.pool.UpdateConfig.Force,`,
		`Force: s.t.pool.UpdateConfig != nil && s.t.pool.UpdateConfig.Force || mutated("force always"),`),
	one("minor version skipped", "pool/upgrade/upgrade.go", "asks the cloud for two minor versions at once",
		Upgrade, []string{"TestPath"},
		`switch next := min(current+1, wanted); {`,
		`switch next := either(mutated("minor version skipped"), wanted, min(current+1, wanted)); {`),
	one("token of other arguments insisted on", groupCreate, "asks again and again with a token that stands for something else",
		NodeGroup, []string{"TestTokensThatMadeSomethingElseAreSpent"},
		`strings.Contains(text, "idempotent")`,
		`strings.Contains(text, "idempotent") && !mutated("token of other arguments insisted on")`),
	one("size of the node group kept on removal", groupSize, "removes a machine without lowering the size of its node group",
		Explore, []string{"unfounded", "as desired", "progress", "quiet"},
		`Lower: lower, RequestedSize`, `Lower: lower && !mutated("size of the node group kept on removal"), RequestedSize`),
	one("thresholds of the repair overwritten", groupUpdate, "sends what it knows of the repair of nodes, and forgets what others have set",
		NodeGroup, []string{"TestRepairKeepsThresholds"},
		`	if is != nil {
		out = *is
	}`, `	if is != nil && !mutated("thresholds of the repair overwritten") {
		out = *is
	}`),
}
