package mutants

// The files, from the root of the module.
const (
	poolInPlace                        = "pool/inplace.go"
	azureStart, azureRead, driverSurge = "cloud/azure/start.go", "cloud/azure/read.go", "cloud/driverkit/surge.go"
	azureMachine, azureObserve         = "cloud/azure/machine.go", "cloud/azure/observe.go"
	azureTarget                        = "cloud/azure/target.go"
	modelHash, modelTags               = "cloud/azure/model/hash.go", "cloud/azure/model/tags.go"
	poolMachines, machinesDecide       = "providers/azure/azuremachinepool/machine.go", "kube/machines/decide.go"
)

// Those of agent pools.
const (
	agentStart, agentTarget = "cloud/azure/agentpool/start.go", "cloud/azure/agentpool/target.go"
	agentObserve, agentTags = "cloud/azure/agentpool/observe.go", "cloud/azure/agentpool/tags.go"
	agentMachine, agentVMs  = "cloud/azure/agentpool/machine.go", "cloud/azure/agentpool/body/vms.go"
	agentMemory             = "cloud/azure/agentpool/memory.go"
)

// agentTable lists the mutations for agent pools of AKS.
var agentTable = []Mutation{
	one("every machine of the agent pool removed", agentStart, "names all machines of an agent pool that is to lose some",
		Explore, []string{"undrained", "unwanted removal", "available", "as desired"},
		`names = append(names, target.ID)`,
		`names = append(names, target.ID)
			for _, m := range members {
				if mutated("every machine of the agent pool removed") && m.name != target.ID {
					names = append(names, m.name)
				}
			}`),
	one("owner of the agent pool not checked", agentTarget, "takes any agent pool of the right name for ours",
		Explore, []string{"foreign"},
		`o.Claim = t.Claim(model.Spelling, read.pool.tag)`,
		`o.Claim = t.Claim(model.Spelling, read.pool.tag)
		o.Claim.Owned = o.Claim.Owned || mutated("owner of the agent pool not checked")`),
	one("machines that AKS gave up counted", agentObserve, "waits for machines that AKS could not bring, and never asks for them again",
		AgentPool, []string{"TestUnfulfilledCapacity"},
		`len(members) < is.count() && !is.autoscaled() {`,
		`len(members) < is.count() && !is.autoscaled() && !mutated("machines that AKS gave up counted") {`),
	one("tags of the agent pool never removed", agentTags, "leaves tags on an agent pool that the object names no more",
		AgentPool, []string{"TestTagsNamedNoMoreAreRemoved"},
		`	if is == nil {
		return
	}`, `	if is == nil || mutated("tags of the agent pool never removed") {
		return
	}`),
	one("count of virtual machines not read", agentVMs, "reads the count of an agent pool of virtual machines where one of a scale set has it",
		AgentPool, []string{"TestPoolOfVMs"},
		`if n, named := countOf(list); named {`,
		`if n, named := countOf(list); named && !mutated("count of virtual machines not read") {`),
	one("node image of machines not read", agentMachine, "takes machines for those of the agent pool's node image, whichever they have",
		AgentPool, []string{"TestNodeImage"},
		`if m.image != "" {`,
		`if m.image != "" && !mutated("node image of machines not read") {`),
	one("rollout of others taken for Muster's", agentMemory,
		"takes any rollout for Muster's own as long as an operation of Muster is remembered",
		AgentPool, []string{"TestRolloutsOfOthers"},
		`return outcome.Done, nil`,
		`return outcome.Done && !mutated("rollout of others taken for Muster's"), nil`),
}

// azureTable lists the mutations for scale sets and their specific features.
var azureTable = []Mutation{
	one("no machine protected", poolInPlace, "leaves it to the cloud which machines it removes when a user makes the group smaller",
		Explore, []string{"as desired"},
		`	if v.in.d.ReplicasManagedExternally {
		return nil
	}
	var list`, `	if v.in.d.ReplicasManagedExternally || mutated("no machine protected") {
		return nil
	}
	var list`),
	one("changed in place never", poolInPlace, "changes the group, and no machine that exists",
		Explore, []string{"as desired"},
		`if len(list) == 0 || len(v.in.o.Group.Drift) > 0 || v.failedWithAll() != nil || !v.in.o.Latest().Same(v.in.o.Wanted) {`,
		`if len(list) == 0 || len(v.in.o.Group.Drift) > 0 || v.failedWithAll() != nil || !v.in.o.Latest().Same(v.in.o.Wanted) || mutated("changed in place never") {`),
	one("asked again for what can't be brought", poolBudget, "asks the cloud for machines right after it has given up bringing them",
		Pool, []string{"TestGrowFailed"},
		`if failed.IsZero() ||`,
		`if failed.IsZero() || mutated("asked again for what can't be brought") ||`),
	one("taken without a place", poolBudget, "removes machines of a group whose size an autoscaler owns before others replace them",
		Pool, []string{"TestStepsAreSafe", "TestRolloutOnAnIdealCloud", "TestRolloutInAHostileWorld", "TestFixedPoint"},
		`v.in.removalShrinksGroup() && len(list) > room {`,
		`v.in.removalShrinksGroup() && len(list) > room && !mutated("taken without a place") {`),
	one("owner of the scale set not checked", azureTarget, "takes any scale set of the right name for ours",
		Explore, []string{"foreign"},
		`{ return t.claim(is.Tags).Owned }`,
		`{ return t.claim(is.Tags).Owned || mutated("owner of the scale set not checked") }`),
	one("tags of the other provider dropped", modelTags, "adopts a scale set with its own tags alone",
		Explore, []string{"foreign"},
		`	tags := maps.Clone(is)
`, `	tags := either(mutated("tags of the other provider dropped"), nil, maps.Clone(is))
`),
	one("every machine removed", azureStart, "names all machines of a scale set that is to lose some",
		Explore, []string{"unwanted removal", "undrained", "available", "capacity"},
		`		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: to.SliceOfPtrs(idsOf(chosen)...)}, nil)
	err = begun(w, "DELETE", poller, err)`,
		`		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: either(mutated("every machine removed"), []*string{new("*")}, to.SliceOfPtrs(idsOf(chosen)...))}, nil)
	err = begun(w, "DELETE", poller, err)`),
	one("capacity lowered below what exists", azureStart, "asks Azure for fewer machines than there are, which chooses who goes",
		Azure, []string{"TestResizeTakesNobody"},
		`if n := w.memory.set.existing(); s.Size < n {`,
		`if n := w.memory.set.existing(); s.Size < n && !mutated("capacity lowered below what exists") {`),
	one("version of the scale set not asked for", azureStart, "changes the scale set even if another client has changed it meanwhile",
		Azure, []string{"TestSomebodyWasQuicker"},
		`	etag := w.memory.set.is.Etag
`, `	etag := either(mutated("version of the scale set not asked for"), nil, w.memory.set.is.Etag)
`),
	one("stopped machines taken for running", azureMachine, "takes a machine that was powered off for one that is about to join",
		Explore, []string{"as desired"},
		`	switch m.power {
	case "stopped", "stopping",`, `	switch either(mutated("stopped machines taken for running"), "", m.power) {
	case "stopped", "stopping",`),
	one("surge never used up", driverSurge, "goes on to count what a rollout has added when it is gone",
		Azure, []string{"TestSurgeBesideAnAutoscaler"},
		`return max(0, now.Surge-max(0, now.Size-s.Size))`,
		`return max(0, now.Surge-either(mutated("surge never used up"), 0, max(0, now.Size-s.Size)))`),
	one("extensions are content", modelHash, "replaces machines for extensions that could be changed on them",
		Explore, []string{"unwanted removal"},
		`	"properties.virtualMachineProfile.extensionProfile",`,
		`	either(mutated("extensions are content"), "nothing", "properties.virtualMachineProfile.extensionProfile"),`).of("scaleset"),
	one("custom data is content", modelHash, "replaces machines whenever their bootstrap token is another",
		Explore, []string{"unwanted removal"},
		`"properties.virtualMachineProfile.osProfile.customData", `,
		`either(mutated("custom data is content"), "nothing", "properties.virtualMachineProfile.osProfile.customData"), `).from(2087),
	one("in place not told apart", modelTags, "writes nothing down about what is changed in place",
		Explore, []string{"as desired"},
		`set(TagInPlace, m.InPlace)`,
		`set(TagInPlace, either(mutated("in place not told apart"), "", m.InPlace))`),
	one("instances without objects", poolMachines, "makes no object for an instance unless a gate says so",
		Explore, []string{"as desired"},
		`Always:       true,`, `Always: !mutated("instances without objects"),`),
	one("Machines made to be deleted", machinesDecide,
		"keeps the object of a machine that the cloud takes, of which a Machine is made each time that one is deleted",
		Parts, []string{"TestDecide"},
		`case taken(seen) && !i.Deleting && !i.Place:`,
		`case taken(seen) && !i.Deleting && (i.Machine != nil || !mutated("Machines made to be deleted")):`),
	one("failed read of machines taken for none", azureRead, "takes a scale set whose machines can't be read for an empty one",
		Explore, []string{"undrained", "unwanted removal", "as desired", "living node", "left", "surge"},
		`	if err != nil {
		return nil, time.Time{}, notShown(err)
	}
	machines := make([]machine, 0, len(read.List))`, `	if err != nil && !mutated("failed read of machines taken for none") {
		return nil, time.Time{}, notShown(err)
	}
	machines := make([]machine, 0, len(read.List))`),
}
