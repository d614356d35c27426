package mutants

// The files, from the root of the module.
const (
	rolloutsAllowance, rolloutsLimits = "pool/rollouts/allowance.go", "pool/rollouts/limits.go"
	gateLimits                        = "kube/policy/gates/limits.go"
)

// policyTable lists the mutations of what rollout policies and waves hold back.
var policyTable = []Mutation{
	one("windows ignored", rolloutsAllowance, "begins to replace machines in an exclusion and outside of all windows",
		Explore, []string{"outside windows"},
		`if c, closed := l.Closed[why]; closed {`,
		`if c, closed := l.Closed[why]; closed && !mutated("windows ignored") {`),
	one("approval of any rollout", rolloutsLimits, "takes the approval of another rollout for one of this",
		Explore, []string{"entered"},
		`		if !slices.Contains(a.For, id) {
			return a.Cause`, `		if !slices.Contains(a.For, id) && (len(a.For) == 0 || !mutated("approval of any rollout")) {
			return a.Cause`),
	one("unknown gate passed", gateLimits, "begins a wave while a gate has not been asked",
		Explore, []string{"entered"},
		`k.Gate.Approval == nil && k.State.Phase == Passed:`,
		`k.Gate.Approval == nil && (k.State.Phase == Passed || k.State.Phase == Unknown && mutated("unknown gate passed")):`),
}
