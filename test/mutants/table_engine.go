package mutants

// The files, from the root of the module.
const (
	engineRun, engineMemory                    = "engine/engine.go", "engine/memory.go"
	engineAttempt, engineAbsence, engineEvents = "engine/attempt.go", "engine/absence.go", "engine/report/events.go"
	engineSearch, enginePodHolds               = "engine/search.go", "engine/podholds.go"
)

// engineTable lists the mutations of a pass.
var engineTable = []Mutation{
	one("old observation acted upon", engineRun, "changes the cloud on what was seen a moment ago",
		Engine, []string{"TestNothingIsChangedOnAnOldObservation"},
		`if f.Target.Cache.MaxAge > 0 && (!m.queue.restsOn(out, f.Target.Cache.MaxAge, f.Now) || f.doubts(out)) {`,
		`if f.Target.Cache.MaxAge > 0 && (!m.queue.restsOn(out, f.Target.Cache.MaxAge, f.Now) || f.doubts(out)) && !mutated("old observation acted upon") {`),
	one("second group beside the first", engineSearch, "creates a group without looking for one that the pool had before",
		Engine, []string{"TestSearch"},
		`if f.Target.Search.Tagged || !out.Seen || !out.Plan.CreatesGroup(f.Desired, out.Observed) {`,
		`if f.Target.Search.Tagged || !out.Seen || !out.Plan.CreatesGroup(f.Desired, out.Observed) ||
		mutated("second group beside the first") {`),
	one("failed read taken for an empty cloud", engineRun, "lets a deleted pool go when the cloud does not answer",
		Explore, []string{"left", "undrained"},
		`if err != nil && (!f.Desired.Deleting || !complete(err)) {`,
		`if err != nil && (!f.Desired.Deleting || !complete(err) && !mutated("failed read taken for an empty cloud")) {`),
	one("nodes joined by another spelling", engineRun, "looks nodes up by the provider ID as it is spelt",
		Explore, []string{"undrained", "as desired"},
		`if node, ok := nodes[key]; ok && key != "" {`,
		`if node, ok := nodes[either(mutated("nodes joined by another spelling"), instances[k].ProviderID, key)]; ok && key != "" {`),
	one("young nodes not asked for", engineRun, "takes a machine whose node the cache does not know for one without a node",
		Engine, []string{"TestMachineWithoutNodeIsReadBeforeRemoval"},
		`if f.Desired.NoDrain != nil || !removesUnknown(out.Plan.Step) {`,
		`if f.Desired.NoDrain != nil || !removesUnknown(out.Plan.Step) || mutated("young nodes not asked for") {`),
	one("old answers of pods trusted", enginePodHolds, "takes a machine on what an earlier pass has read of its pods",
		Engine, []string{"TestPodHoldsEnd"},
		`if slices.Contains(p.PodReads.Of, id) && !h[id].at.Equal(now) {`,
		`if slices.Contains(p.PodReads.Of, id) && !h[id].at.Equal(now) && !mutated("old answers of pods trusted") {`),
	one("workload errors swallowed", engineRun, "takes an error for no nodes",
		Engine, []string{"TestAWorkloadClusterThatIsAway"},
		`o.NodesUnknown = true`,
		`o.NodesUnknown = !mutated("workload errors swallowed")`),
	one("a refusal ends the pass", engineStart, "forgets that a step was refused",
		Engine, []string{"TestStepsBackOff"},
		`		m.refused(*s, f.Now, err)
`, `		if !mutated("a refusal ends the pass") {
			m.refused(*s, f.Now, err)
		}
`),
	one("no back-off", engineMemory, "asks again at the same pace whatever the cloud says",
		Engine, []string{"TestObservationBacksOff"},
		`math.Pow(2, float64(min(f.times, backoffDoublings))))`,
		`math.Pow(2, float64(min(either(mutated("no back-off"), 0, f.times), backoffDoublings))))`),
	one("Retry-After ignored", engineMemory, "asks sooner than the cloud allows",
		Engine, []string{"TestThrottledWaitsAsLongAsTheCloudSays"},
		`wait = max(wait, refused.After)`,
		`wait = max(wait, either(mutated("Retry-After ignored"), 0, refused.After))`),
	one("refusals never forgiven", engineMemory, "goes on telling of a refusal that does not matter any more",
		Engine, []string{"TestErrorsOfObsoleteStepsEnd"},
		`return !now.Before(f.until) })`,
		`return !now.Before(f.until) && !mutated("refusals never forgiven") })`),
	one("back-off without an end", engineMemory, "doubles the pause for ever",
		Engine, []string{"TestObservationBacksOff", "TestErrorsWhileDeleting"},
		`wait = min(wait, maxBackoff)`,
		`wait = min(wait, either(mutated("back-off without an end"), 10000*time.Hour, maxBackoff))`),
	one("changes without effect repeated", engineAttempt, "makes a change that shows no effect again and again, at an unbroken pace",
		Engine, []string{"TestAStepWithoutEffectBacksOff"},
		`if a, known := list[i.key]; !known || !now.Before(a.until) {`,
		`if a, known := list[i.key]; !known || !now.Before(a.until) || mutated("changes without effect repeated") {`),
	one("part of a step taken for none", engineStart,
		"sends what the cloud accepts and ignores again each time that the place in line of the rest of its step comes",
		Engine, []string{"TestAStepThatIsStartedInPartBacksOff"},
		`if cloud.StartedInPart(err) {`,
		`if cloud.StartedInPart(err) && !mutated("part of a step taken for none") {`),
	one("creation missed", engineAbsence, "goes on with a deletion on a read that may be from before the creation of the group",
		Engine, []string{"TestNoGroupIsBelievedWhileItsCreationMayBeMissed"},
		`d.Deleting && g == nil && wait > 0 {`,
		`d.Deleting && g == nil && wait > 0 && !mutated("creation missed") {`),
	one("missing effect not told", engineAttempt, "never reports that a change shows no effect",
		Engine, []string{"TestAStepWithoutEffectBacksOff"},
		`a.failed = true`,
		`a.failed = !mutated("missing effect not told")`),
	one("late effect taken for none", engineAttempt, "takes a read that is behind for a change without effect",
		Engine, []string{"TestAnEffectThatShowsLateIsNoFailure"},
		`case a.whole && a.times > 1 && now.Sub(a.first) >= effectWithin:`,
		`case a.whole && a.times > 1 && now.Sub(a.first) >= either(mutated("late effect taken for none"), 0, effectWithin):`),
	one("step without words", engineEvents, "adds a kind of step and no words for its event",
		Explore, []string{"reason"},
		`{"DrainStarted", "Started draining"}`,
		`{either(mutated("step without words"), "", "DrainStarted"), either(mutated("step without words"), "", "Started draining")}`),
}
