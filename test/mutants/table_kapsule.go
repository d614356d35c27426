package mutants

// Those of pools of Kapsule.
const (
	kapsuleTarget, kapsuleFields  = "cloud/scaleway/kapsule/target.go", "cloud/scaleway/kapsule/fields.go"
	kapsuleDesired, kapsuleIssues = "cloud/scaleway/kapsule/desired.go", "cloud/scaleway/kapsule/issues.go"
	kapsuleStart, kapsuleRead     = "cloud/scaleway/kapsule/start.go", "cloud/scaleway/kapsule/read.go"
)

// kapsuleTable lists the mutations for pools of Kapsule.
var kapsuleTable = []Mutation{
	one("owner of the Kapsule pool not checked", kapsuleTarget, "takes any pool of the right name for its own",
		Kapsule, []string{"TestContract"},
		`o.Claim = t.Claim(Spelling, tagOf(read.pool.Tags))`,
		`o.Claim = t.Claim(Spelling, tagOf(read.pool.Tags))
		o.Claim.Owned = o.Claim.Owned || mutated("owner of the Kapsule pool not checked")`),
	one("taints compared in order", kapsuleFields, "takes another order of taints, in which Kapsule lists them, for drift",
		Kapsule, []string{"TestContract"},
		`member(row{Name: memberTaints, Spec: "spec.taints", Compare: fields.Unordered,`,
		`member(row{Name: memberTaints, Spec: "spec.taints",
		Compare: either(mutated("taints compared in order"), fields.Subset, fields.Unordered),`),
	one("surge of upgrades left to Kapsule", kapsuleFields, "leaves the surge to Kapsule's default, which takes the only node of a pool",
		Kapsule, []string{"TestUpgradeSurge"},
		`d[memberPolicy] = map[string]any{surge: int64(add), unavailable: int64(miss)}`,
		`if !mutated("surge of upgrades left to Kapsule") {
		d[memberPolicy] = map[string]any{surge: int64(add), unavailable: int64(miss)}
	}`),
	one("upgrade past the wanted version", kapsuleDesired, "upgrades a pool to the version of a control plane that is beyond the wanted one",
		Kapsule, []string{"TestVersionFollowsControlPlane"},
		`if controlPlane.Compare(requested) > 0 {`,
		`if controlPlane.Compare(requested) > 0 && !mutated("upgrade past the wanted version") {`),
	one("upgrade requested during a resize", kapsuleIssues, "requests an upgrade of a pool that scales, which Kapsule refuses",
		Kapsule, []string{"TestUpgradeWaitsForResize"},
		`if r.pool.Status != k8s.PoolStatusScaling || `,
		`if r.pool.Status != k8s.PoolStatusScaling || mutated("upgrade requested during a resize") || `),
	one("every node of the Kapsule pool removed", kapsuleStart, "deletes all nodes of a pool that is to lose some",
		Kapsule, []string{"TestContract"},
		`if !n.staying() || !slices.ContainsFunc(s.Targets, names) {`,
		`if !n.staying() || !slices.ContainsFunc(s.Targets, names) && !mutated("every node of the Kapsule pool removed") {`),
	one("size requested of external machines", kapsuleStart, "requests a size of a pool whose machines join by themselves",
		Kapsule, []string{"TestExternal"},
		`	if w.t.spec.External() {
		return tooMany(`,
		`	if w.t.spec.External() && !mutated("size requested of external machines") {
		return tooMany(`),
	one("nodes of a running upgrade taken for new", kapsuleRead, "takes nodes from before an upgrade that runs for up to date",
		Kapsule, []string{"TestDeletedDuringUpgrade"},
		`return r.upgrading() && (n.CreatedAt == nil`,
		`return r.upgrading() && !mutated("nodes of a running upgrade taken for new") && (n.CreatedAt == nil`),
	one("control plane read long ago decides", kapsuleRead, "has an upgrade rest on a control plane that was read half an hour ago",
		Kapsule, []string{"TestClusterIsReadWhereItDecides"},
		`return r.Doc != nil && (`,
		`return r.Doc != nil && !mutated("control plane read long ago decides") && (`),
	one("pool of another object granted", kapsuleTarget, "lets a grant give a pool that the ecosystem's provider made for another object",
		Kapsule, []string{"TestAdoption"},
		`	if t.byProvider(tags) {`,
		`	if t.byProvider(tags) || mutated("pool of another object granted") {`),
	one("maximum below the size requested", kapsuleDesired,
		"requests a maximum below the size that the autoscaler gave, which takes nodes undrained",
		Kapsule, []string{"TestMaximumBelowSize"},
		`named && is != nil && int64(is.Size) > most {`,
		`named && is != nil && int64(is.Size) > most && !mutated("maximum below the size requested") {`),
}
