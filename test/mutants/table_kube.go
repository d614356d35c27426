package mutants

// The files, from the root of the module.
const (
	kubePass, kubeWrite, kubeStale = "kube/infrapool/pass.go", "kube/infrapool/write.go", "kube/infrapool/stalecache.go"
	kubeOwner, kubeStored          = "kube/infrapool/ownership/ownership.go", "kube/infrapool/stored/stored.go"
	kubeSizing                     = "kube/infrapool/sizing.go"
	engineStart                    = "engine/start.go"
	kubeStart, kubeDrain           = "kube/drain/start.go", "kube/drain/drain.go"
	coreRemove, coreNodes          = "kube/machinepool/remove.go", "kube/machinepool/nodesync/delete.go"
	coreHold                       = "kube/machinepool/machinesync/hold.go"
	kubePods                       = "kube/drain/pods.go"
)

// kubeTable lists the mutations of the Kubernetes controllers.
var kubeTable = []Mutation{
	one("finalizer dropped early", kubePass, "lets the object go as soon as its deletion has begun",
		Explore, []string{"left"},
		`if s.deleting() && out.Plan.DeletionComplete {`,
		`if s.deleting() && (out.Plan.DeletionComplete || out.Started && mutated("finalizer dropped early")) {`),
	one("paused Cluster ignored", kubeWrite, "heeds the annotation of a paused object and not the field of a paused Cluster",
		Explore, []string{"paused"},
		`if cluster != nil && ptr.Deref(cluster.Spec.Paused, false) {`,
		`if cluster != nil && ptr.Deref(cluster.Spec.Paused, false) && !mutated("paused Cluster ignored") {`).extra(),
	one("step before its look-ups are kept", engineStart, "begins a step before what it rests on is written down",
		Infrapool, []string{"TestCreate"},
		`if n.lookups == nil || len(resolved) == 0 {`,
		`if n.lookups == nil || len(resolved) == 0 || mutated("step before its look-ups are kept") {`),
	one("tags do not tell the owner", kubeOwner, "lets the oldest of several objects with one owner ID have the group, whomever its tags name",
		Explore, []string{"as desired"},
		`		return strings.HasSuffix(taggedFor, "/"+other.GetNamespace()+"/"+other.GetName())`,
		`		return !mutated("tags do not tell the owner") && strings.HasSuffix(taggedFor, "/"+other.GetNamespace()+"/"+other.GetName())`),
	one("owner ID written anew", kubeWrite, "takes the object's present UID for its owner ID",
		Infrapool, []string{"TestOwnerIDSurvivesAMove"},
		`		if o.GetAnnotations()[ownership.Annotation] == "" {
`, `		if o.GetAnnotations()[ownership.Annotation] == "" || mutated("owner ID written anew") {
`),
	{
		Name: "status written in every pass", File: kubeWrite, What: "writes a status that has not changed",
		In: Explore, By: []string{"quiet"},
		Edits: []Edit{
			{`if equality.Semantic.DeepEqual(before, o) {`,
				`if equality.Semantic.DeepEqual(before, o) && !mutated("status written in every pass") {`},
			{`if !changesSomething(data) {`, `if !changesSomething(data) && !mutated("status written in every pass") {`},
		},
	},
	one("stale object trusted", kubeStale, "takes what a cache gives for what it wrote itself",
		Infrapool, []string{"TestStaleReads"},
		`if s.superseded[key][o.GetResourceVersion()] {`,
		`if s.superseded[key][o.GetResourceVersion()] && !mutated("stale object trusted") {`),
	one("provider IDs of an unseen cloud", kubeWrite, "writes the list although the cloud has not answered",
		Infrapool, []string{"TestCloudErrors"},
		`if !out.Seen ||`, `if !out.Seen && !mutated("provider IDs of an unseen cloud") ||`),
	one("list emptied in other hands", kubeWrite, "takes a group of another owner for one without instances",
		Infrapool, []string{"TestAPoolOfAnotherTool"},
		`out.Observed.OwnershipConflict != nil {`, `out.Observed.OwnershipConflict != nil && !mutated("list emptied in other hands") {`),
	one("quarrel of two managers", kubePass, "writes what it saw a moment ago over what another manager has seen since",
		Explore, []string{"busy"},
		`return contradicts(s, p.facts.sizing, o)`,
		`return contradicts(s, p.facts.sizing, o) && !mutated("quarrel of two managers")`),
	one("object without annotations", kubeStored, "writes into a map that is not there yet",
		Explore, []string{"panic"},
		`	if annotations == nil {
		annotations = map[string]string{}
`, `	if annotations == nil && !mutated("object without annotations") {
		annotations = map[string]string{}
`),
	one("size of others not followed", kubeSizing, "leaves the replicas as they are where an autoscaler sizes the group",
		Explore, []string{"as desired"},
		`if z.external && size != nil {`,
		`if z.external && size != nil && !mutated("size of others not followed") {`).from(77),
	one("pods deleted", kubeStart, "deletes pods instead of having them evicted",
		Drain, []string{"TestDrain", "TestDrainRunsToItsEnd"},
		`	return unexpected(w.helper(node).EvictPods(quiet(ctx), r.list).PodsFailedEviction)
`, `	if mutated("pods deleted") {
		for _, pod := range r.list.Pods() {
			if err := w.Remote.Delete(ctx, pod); err != nil {
				return err
			}
		}
		return nil
	}
	return unexpected(w.helper(node).EvictPods(quiet(ctx), r.list).PodsFailedEviction)
`),
	one("cordon of others taken back", kubeStart, "uncordons a node that others had cordoned",
		Drain, []string{"TestUndrain"},
		`others := node.Annotations[CordonedBeforeAnnotation]; !others {`,
		`others := node.Annotations[CordonedBeforeAnnotation]; !others || mutated("cordon of others taken back") {`),
	one("foreign cordon taken back", kubeStart, "opens a node that a user has cordoned when its drain is given up",
		Explore, []string{"foreign"},
		`	forget(node)
	if t.Cause.Reason == pool.DrainBlocked {
`, `	forget(node)
	if mutated("foreign cordon taken back") {
		node.Spec.Unschedulable = false
	}
	if t.Cause.Reason == pool.DrainBlocked {
`).from(40),
	one("drain begins anew in every round", kubeStart, "pushes the start of a drain away with each round",
		Drain, []string{"TestDrain", "TestDrainRunsToItsEnd"},
		`if _, ok := w.started(node); !ok {`,
		`if _, ok := w.started(node); !ok || mutated("drain begins anew in every round") {`),
	one("node of another machine drained", kubeDrain, "takes a node for the machine's by its name",
		Drain, []string{"TestDrain"},
		`return key != "" && key == cloud.ProviderKey(t.ProviderID)`,
		`return key != "" && (key == cloud.ProviderKey(t.ProviderID) || mutated("node of another machine drained"))`),
	one("evicted once", kubeStart, "asks for evictions when a drain begins, and never again",
		Explore, []string{"progress", "as desired"},
		`	if err := w.cordon(ctx, node, t.Quarantined); err != nil {`, `	if _, began := w.started(node); began && mutated("evicted once") {
		return nil
	}
	if err := w.cordon(ctx, node, t.Quarantined); err != nil {`),
	one("pool let go before its machines", coreRemove, "does not wait until the infrastructure is gone",
		Explore, []string{"undrained", "left"},
		`case infra.Left:`, `case infra.Left && !mutated("pool let go before its machines"):`),
	one("living nodes taken away", coreNodes, "deletes the node of every machine that is not listed",
		Core, []string{"TestReadyNodeOutsideThePoolIsKept"},
		`case ready && (machine != nil || !drainedSince(node, since)):`,
		`case ready && (machine != nil || !drainedSince(node, since)) && !mutated("living nodes taken away"):`),
	one("drained nodes deleted early", coreNodes, "deletes the node of an instance that is drained before the instance leaves the pool",
		Explore, []string{"living node"},
		`if current != nil && current.UID == node.UID {`,
		`if current != nil && current.UID == node.UID && !(mutated("drained nodes deleted early") && nodes.Draining(node)) {`),
	one("Machines that stand alone not held", coreHold,
		"lets a restored Machine go while it has no infrastructure machine, and its Node without a drain",
		Core, []string{"TestMachinesOfNothingAreHeld"},
		`	if !alone || !machine.DeletionTimestamp.IsZero()`,
		`	if mutated("Machines that stand alone not held") || !alone || !machine.DeletionTimestamp.IsZero()`),
	one("refused list of pods empty", kubePods, "takes a node whose pods the manager may not list for one without pods",
		Explore, []string{"undrained"},
		`	list, err := h.GetPodsForEviction(ctx, w.Cluster, w.Machine, node.Name)`,
		`	list, err := h.GetPodsForEviction(ctx, w.Cluster, w.Machine, node.Name)
	if apierrors.IsForbidden(err) && mutated("refused list of pods empty") {
		return &running{list: &capidrain.PodDeleteList{}}, nil
	}`).of("instancegroup").extra().from(16198),
}
