package mutants

// The files, from the root of the module.
const sweepKeep, wireBudget = "cloud/sweep/sweep.go", "cloud/wire/budget.go"

// callsTable lists the mutations of the code that all drivers share: batched reads and rate limits.
var callsTable = []Mutation{
	one("older answer kept", sweepKeep, "lets the answer of a call that took long replace that of a later one",
		Sweep, []string{"TestOvertakenCall"},
		`e.read && e.answer.At.After(answer.At) {`,
		`e.read && e.answer.At.After(answer.At) && !mutated("older answer kept") {`),
	one("objects by their place in a reply", sweepRound, "takes the objects of a reply for those of the keys of the request in their order",
		Explore, []string{"starved", "foreign", "as desired"},
		`r.answers[key] = Answer[V]{Value`,
		`if n := len(r.answers); mutated("objects by their place in a reply") && n < len(r.keys) {
		key = r.keys[n]
	}
	r.answers[key] = Answer[V]{Value`).of("asg").extra(),
	one("shorter Retry-After believed", wireBudget, "sends again after the shorter of two times that the cloud has asked to wait",
		Wire, []string{"TestWaits"},
		`until.After(bucket.shut) {`,
		`until.After(bucket.shut) || mutated("shorter Retry-After believed") {`),
	one("tokens kept after a refusal", wireBudget, "sends what an adaptive bucket has left although the cloud has just refused a call",
		Wire, []string{"TestRefusalEmptiesTheBucket"},
		`much := int(found.limiter.TokensAt(now)); much > 0 {`,
		`much := int(found.limiter.TokensAt(now)); much > 0 && !mutated("tokens kept after a refusal") {`),
}
