package mutants

// Those of node pools of GKE.
const (
	nodepoolTarget, nodepoolSize = "cloud/gcp/nodepool/target.go", "cloud/gcp/nodepool/size.go"
	nodepoolCapacity             = "cloud/gcp/nodepool/capacity.go"
	nodepoolMemory               = "cloud/gcp/nodepool/memory.go"
	nodepoolBlueGreen            = "cloud/gcp/nodepool/bluegreen.go"
	nodepoolOperations           = "cloud/gcp/nodepool/operations.go"
	nodepoolOrigin               = "cloud/gcp/nodepool/origin.go"
)

// nodepoolTable lists the mutations for node pools of GKE.
var nodepoolTable = []Mutation{
	one("owner of the node pool not checked", nodepoolTarget, "takes any node pool of the right name for ours",
		NodePool, []string{"TestContract"},
		`o.Claim = t.Claim(template.Spelling, template.In(read.labels()))`,
		`o.Claim = t.Claim(template.Spelling, template.In(read.labels()))
		o.Claim.Owned = o.Claim.Owned || mutated("owner of the node pool not checked")`),
	one("every machine of the node pool removed", nodepoolSize, "names all machines of a node pool that is to lose some",
		NodePool, []string{"TestRemovalAndReplacement"},
		`if targeted && is.State() != pool.Terminating`,
		`if (targeted || mutated("every machine of the node pool removed")) && is.State() != pool.Terminating`),
	one("smaller node pool left to GKE", nodepoolSize, "asks for fewer machines than there are, so that GKE chooses which go",
		NodePool, []string{"TestNoMachineIsLeftToGKE"},
		`if n := max(len(read.machines()), shown); s.Size < n {`,
		`if n := max(len(read.machines()), shown); s.Size < n && !mutated("smaller node pool left to GKE") {`),
	one("machine type needed for a node pool", nodepoolCapacity,
		"holds a node pool up whose machine type the credentials do not allow to look up",
		NodePool, []string{"TestMachineTypesDenied"},
		`if err == nil || waits || cloud.KindOf(err) == cloud.Invalid {`,
		`if err == nil || waits || cloud.KindOf(err) == cloud.Invalid || mutated("machine type needed for a node pool") {`),
	one("surge of GKE taken for the size", nodepoolMemory, "counts the machines that GKE adds in an upgrade as the node pool's size",
		NodePool, []string{"TestUpgrade"},
		`if !rolling || blueGreen(m.read.pool) != nil {`,
		`if !rolling || blueGreen(m.read.pool) != nil || mutated("surge of GKE taken for the size") {`),
	one("machines of a cancelled upgrade forgotten", nodepoolOperations,
		"takes machines that a cancelled upgrade left for up to date after a restart of the manager",
		NodePool, []string{"TestCancelledRolloutOfKernelSettings"},
		`|| m.leftBehind(w)`,
		`|| m.leftBehind(w) && !mutated("machines of a cancelled upgrade forgotten")`),
	one("paused upgrade always resumed", nodepoolBlueGreen, "resumes a blue-green upgrade that was paused although it is not wanted any more",
		NodePool, []string{"TestPausedBlueGreen"},
		`if w.leadsOn(read) && read.inTurn(w) {`,
		`if mutated("paused upgrade always resumed") || w.leadsOn(read) && read.inTurn(w) {`),
	one("automatic upgrade taken for a request", nodepoolOrigin, "cancels the upgrades that GKE begins by itself",
		NodePool, []string{"TestAutomaticUpgradeIsLeft"},
		`	case byGKE:
		return true
`, `	case byGKE:
		return !mutated("automatic upgrade taken for a request")
`),
}
