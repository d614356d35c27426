package mutants

// The files, from the root of the module.
const poolDecide, poolShrink, poolDomain, poolWaits = "pool/decide.go", "pool/shrink.go", "pool/pool.go", "pool/waiting.go"

// poolTable is what goes wrong in the decision.
var poolTable = []Mutation{
	one("full pool refused", poolDecide, "takes the maximum for the first number that is too many",
		Explore, []string{"as desired", "progress", "unwanted removal"},
		`d.Replicas >= d.Min && d.Replicas <= d.Max {`,
		`d.Replicas >= d.Min && (d.Replicas < d.Max || d.Replicas == d.Max && !mutated("full pool refused")) {`),
	one("foreign created over", poolDecide, "goes on to create although something foreign has the name",
		Pool, []string{"TestCreate"},
		`case o.Foreign != nil:`,
		`case o.Foreign != nil && !mutated("foreign created over"):`),
	one("maximum lowered at once", poolDecide, "lets the cloud have a lower maximum while more machines exist",
		Pool, []string{"TestStepsAreSafe"},
		`if f == d.MaxField && d.Max < max(o.Group.Size, len(alive(o))) {`,
		`if f == d.MaxField && d.Max < max(o.Group.Size, len(alive(o))) && !mutated("maximum lowered at once") {`),
	one("refusals ignored", poolDecide, "begins what the cloud refused a moment ago again and again",
		Pool, []string{"TestStepsAreSafe"},
		`if cause, avoid := d.Avoid[step.Kind]; avoid {`,
		`if cause, avoid := d.Avoid[step.Kind]; avoid && !mutated("refusals ignored") {`),
	one("size of others raised", poolDecide, "forgets on scale-out that an autoscaler sizes the group",
		Explore, []string{"unwanted removal"},
		`if d.External || outOfBounds(d) != nil || o.Group.Size >=`,
		`if d.External && !mutated("size of others raised") || outOfBounds(d) != nil || o.Group.Size >=`),
	one("full group resized again", poolDecide, "asks for the size that the group has already",
		Explore, []string{"quiet"},
		` d.Replicas {
		return nil
	}
	return &Step{Kind: Resize,`, ` d.Replicas+either(mutated("full group resized again"), 1, 0) {
		return nil
	}
	return &Step{Kind: Resize,`),
	one("used version pruned", poolDecide, "counts only what the group launches from as used",
		Pool, []string{"TestStepsAreSafe"},
		`		used[i.Template.Ref] = true
`, `		used[i.Template.Ref] = !mutated("used version pruned")
`),
	one("bootstrap data makes stale", poolDomain, "compares templates with their tokens",
		Infrapool, []string{"TestARotatedTokenRollsNothing"},
		`return t.Content != "" && t.Content == o.Content }`,
		`return t.Content != "" && t.Content == o.Content && (t.Data == o.Data || !mutated("bootstrap data makes stale")) }`),
	one("drain done once begun", poolDomain, "takes a node for empty as soon as its drain has begun",
		Explore, []string{"undrained"},
		`return !n.DrainStarted.IsZero() && n.Remaining == 0 }`,
		`return !n.DrainStarted.IsZero() && (n.Remaining == 0 || mutated("drain done once begun")) }`),
	one("size of others lowered", poolShrink, "forgets on scale-in that an autoscaler sizes the group",
		Explore, []string{"unwanted removal", "undrained", "capacity"},
		`if d.External || outOfBounds(d) != nil || o.Group.Size <= d.Replicas {`,
		`if d.External && !mutated("size of others lowered") || outOfBounds(d) != nil || o.Group.Size <= d.Replicas {`),
	one("surplus beyond the size", poolShrink, "takes as many as exist too many, whatever the size has become meanwhile",
		Pool, []string{"TestStepsAreSafe"},
		`return min(unwanted(d, o), max(0, o.Group.Size-d.Replicas)) }`,
		`return min(unwanted(d, o), either(mutated("surplus beyond the size"), 99, max(0, o.Group.Size-d.Replicas))) }`),
	one("marks ignored", poolShrink, "forgets the annotation of people who chose what goes first",
		Pool, []string{"TestVictims"},
		`case i.Marked:
		return 0`, `case i.Marked && !mutated("marks ignored"):
		return 0`),
	one("drains begun anew", poolShrink, "chooses other machines while the first are being drained",
		Pool, []string{"TestVictims"},
		`case i.Node != nil && !i.Node.DrainStarted.IsZero():
		return 1`, `case i.Node != nil && !i.Node.DrainStarted.IsZero() && !mutated("drains begun anew"):
		return 1`),
	one("resized below what exists", poolShrink, "lets the cloud choose what goes by asking it for the final size",
		Explore, []string{"capacity"},
		`if size := max(d.Replicas, len(alive(o))); size < o.Group.Size {`,
		`if size := max(d.Replicas, either(mutated("resized below what exists"), 0, len(alive(o)))); size < o.Group.Size {`),
	one("unknown nodes taken for none", poolShrink, "takes a workload cluster that is away for one without nodes",
		Explore, []string{"undrained"},
		`return o.NodesUnknown && d.NoDrain == nil }`,
		`return o.NodesUnknown && d.NoDrain == nil && !mutated("unknown nodes taken for none") }`),
	one("drain forgotten", poolShrink, "removes machines whose nodes were never drained",
		Explore, []string{"undrained"},
		`case i.Node == nil || d.NoDrain != nil || i.Node.Drained():`,
		`case i.Node == nil || d.NoDrain != nil || i.Node.Drained() || i.Node.DrainStarted.IsZero() && mutated("drain forgotten"):`),
	one("no drain timeout taken for none left", poolShrink, "takes a timeout of zero for one that is over at once",
		Explore, []string{"undrained"},
		`case d.DrainTimeout > 0 && !i.Node.DrainStarted.IsZero():`,
		`case (d.DrainTimeout > 0 || mutated("no drain timeout taken for none left")) && !i.Node.DrainStarted.IsZero():`),
	one("drain timeout ignored", poolShrink, "waits for a drain for ever",
		Infrapool, []string{"TestDrainTimeout"},
		`return now.Sub(i.Node.DrainStarted) >= d.DrainTimeout`,
		`return now.Sub(i.Node.DrainStarted) >= d.DrainTimeout && !mutated("drain timeout ignored")`),
	one("never undrained", poolShrink, "leaves nodes cordoned that are wanted again",
		Pool, []string{"TestShrink"},
		`if len(back) == 0 {`,
		`if len(back) == 0 || mutated("never undrained") {`),
	one("template left behind", poolShrink, "is content when the group is gone",
		Explore, []string{"left"},
		`case o.Group == nil && len(o.Versions) == 0:`,
		`case o.Group == nil && (len(o.Versions) == 0 || mutated("template left behind")):`),
	one("deletion taken for done", poolShrink, "lets the object go while the cloud still deletes the group",
		Explore, []string{"left"},
		`case o.Group.Deleting:
		return Plan{Waiting`, `case o.Group.Deleting && mutated("deletion taken for done"):
		return Plan{Gone: true, Settled: true}
	case o.Group.Deleting:
		return Plan{Waiting`),
	one("pool deleted undrained", poolShrink, "deletes the group of a pool that goes at once",
		Explore, []string{"undrained"},
		`	if len(left) == 0 {
		return begin(d, &Step{Kind: DeleteGroup,`, `	if len(left) == 0 || mutated("pool deleted undrained") {
		return begin(d, &Step{Kind: DeleteGroup,`),
	one("settled while machines are missing", poolWaits, "takes a group for settled when all that exist run",
		Pool, []string{"TestStepsAreSafe", "TestKeep", "TestFixedPoint"},
		`return running == o.Group.Size`,
		`return running == o.Group.Size || mutated("settled while machines are missing")`),
}
