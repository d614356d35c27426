package mutants

const poolRemediation = "pool/remediation.go"

// healTable lists the mutations of remediation.
var healTable = []Mutation{
	one("healed all at once", poolRemediation,
		"goes on to the next unhealthy machine before the last one's successor has proved to be healthy",
		Pool, []string{"TestHeal", "TestStepsAreSafe"},
		`v.fleet.expectsInstances() ||`,
		`v.fleet.expectsInstances() && !mutated("healed all at once") ||`),
	one("sick pool replaced", poolRemediation, "goes on replacing machines however many of the pool are unhealthy",
		Pool, []string{"TestHeal", "TestStepsAreSafe"},
		`case unwell > limit:`,
		`case unwell > limit && !mutated("sick pool replaced"):`),
	one("healed at the first hiccup", poolRemediation, "replaces a machine as soon as its node is unready",
		Pool, []string{"TestHeal"},
		`v.isUnhealthy(i, h.After)`,
		`v.isUnhealthy(i, either(mutated("healed at the first hiccup"), 0, h.After))`),
	one("remediated in a pause", poolRemediation, "replaces unhealthy machines although the user paused the rollout",
		Pool, []string{"TestHeal"},
		`h == nil || v.in.d.RolloutPaused != nil ||`,
		`h == nil || v.in.d.RolloutPaused != nil && !mutated("remediated in a pause") ||`),
}
