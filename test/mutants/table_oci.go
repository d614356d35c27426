package mutants

// Those of pools of Oracle Cloud.
const (
	ociPool, okePool, okeVirtual = "cloud/oci/instancepool/", "cloud/oci/nodepool/", "cloud/oci/virtualnodepool/"
	ociTarget, ociConfigure      = ociPool + "target.go", ociPool + "configure.go"
	ociFields, ociRead           = ociPool + "fields.go", ociPool + "read.go"
	ociRemove, ociStart          = ociPool + "remove.go", ociPool + "start.go"
	ociBuild, ociNetwork         = "cloud/oci/launch/build.go", "cloud/oci/launch/network.go"
	ociDestination               = "providers/oci/ociidentity/destination.go"
)

// ociTable lists the mutations for pools of Oracle Cloud.
var ociTable = []Mutation{
	one("owner of the instance pool not checked", ociTarget, "takes any instance pool of the right name for its own",
		InstancePool, []string{"TestContract"},
		`		o.Claim = t.claim(read.is.FreeformTags)`,
		`		o.Claim = t.claim(read.is.FreeformTags)
		o.Claim.Owned = o.Claim.Owned || mutated("owner of the instance pool not checked")`),
	one("configuration of a member deleted", ociConfigure,
		"deletes an instance configuration that instances were launched from, so that they can't be compared any more",
		InstancePool, []string{"TestRollout"},
		`	used := w.inUse()
`,
		`	used := w.inUse()
	if mutated("configuration of a member deleted") {
		used = nil
	}
`),
	one("configurations of other pools taken", ociPool+"configurations.go",
		"takes the configurations of other pools for its own, as the existing provider does with those whose names begin alike",
		InstancePool, []string{"TestNamesDecideNothing"},
		`		if r.p.t.claim(is.FreeformTags).Owned && is.FreeformTags[launch.TagTemplate] != "" {`,
		`		owned := r.p.t.claim(is.FreeformTags).Owned || mutated("configurations of other pools taken")
		if owned && is.FreeformTags[launch.TagTemplate] != "" {`),
	one("pool pointed at no configuration", ociStart, "points the pool at the configuration of a step that names none",
		InstancePool, []string{"TestOthersSettingsAreKept"},
		`	points := s.Template != "" && s.Template`,
		`	points := (s.Template != "" || mutated("pool pointed at no configuration")) && s.Template`),
	one("token is content of configurations", ociBuild, "replaces instances whenever their bootstrap token is another",
		Launch, []string{"TestTokenMakesNoInstanceStale"},
		`t.Content, t.Data = s.Bootstrap.Content(contentOf(t.parts)), s.Bootstrap.Hash()`,
		`t.Content, t.Data = s.Bootstrap.Content(contentOf(t.parts)), s.Bootstrap.Hash()
	if mutated("token is content of configurations") {
		t.Content += t.Data
	}`),
	one("override policy dropped", ociFields, "leaves out of an update what it does not know, which OCI takes for a removal",
		InstancePool, []string{"TestUpdatesAreWhole"},
		`OverridePolicy: is.OverridePolicy,
		PlacementConfigurations:`,
		`OverridePolicy: either(mutated("override policy dropped"), nil, is.OverridePolicy),
		PlacementConfigurations:`),
	one("pool of a GPU memory cluster taken", ociRead, "manages an instance pool that another service of OCI manages",
		InstancePool, []string{"TestPoolOfAGPUMemoryClusterIsLeftAlone"},
		`	if value(is.PoolType) != typeGMC {`,
		`	if value(is.PoolType) != typeGMC || mutated("pool of a GPU memory cluster taken") {`),
	one("instance detached without its place", ociRemove,
		"detaches an instance of a pool that is to get smaller and keeps the size, so that OCI launches another",
		InstancePool, []string{"TestContract"},
		`IsDecrementSize: new(decrement)}})`,
		`IsDecrementSize: new(decrement && !mutated("instance detached without its place"))}})`),
	one("replaced instance takes its place along", ociStart, "lowers the size with each instance that is to be replaced",
		InstancePool, []string{"TestRollout"},
		`return w.detach(ctx, s, false) },`,
		`return w.detach(ctx, s, mutated("replaced instance takes its place along")) },`),
	one("size lowered to remove nodes", okePool+"start.go", "lowers the size of a node pool that is to lose a node, and OKE chooses which",
		OKENodePool, []string{"TestContract", "TestStepsReadLittle"},
		`	for _, n := range read.Nodes {
		if !n.staying()`,
		`	if mutated("size lowered to remove nodes") && len(s.Targets) > 0 {
		return w.update(ctx, is, &containerengine.UpdateNodePoolDetails{
			NodeConfigDetails: &containerengine.UpdateNodePoolNodeConfigDetails{Size: new(size - len(s.Targets))}})
	}
	for _, n := range read.Nodes {
		if !n.staying()`),
	one("refusal of an instance pool taken for none", ociRead,
		"takes an instance pool for deleted whose read is refused with 404, as what may not be seen is",
		InstancePool, []string{"TestDenialIsNotGone"},
		`		return poolRead{}, refused // it exists`,
		`		if mutated("refusal of an instance pool taken for none") {
			return read, nil
		}
		return poolRead{}, refused // it exists`),
	one("refusal of a node pool taken for none", "cloud/oci/oke/read.go", "takes a node pool for deleted whose read is refused with 404",
		OKENodePool, []string{"TestNotFoundIsNotGone"},
		`	answer, err := r.Kind.Get(r.Session, ctx, &id)
	if err != nil {`,
		`	answer, err := r.Kind.Get(r.Session, ctx, &id)
	if session.NotFound(err) && mutated("refusal of a node pool taken for none") {
		r.Memory.Read = Read[S, P, N]{At: at}
		return nil
	}
	if err != nil {`),
	one("nodes that come not read", "cloud/oci/oke/read.go", "reads no nodes while the list shows the node pool unchanged, which lists none",
		OKENodePool, []string{"TestNodesAreReadWhileTheyCome"},
		`!r.Moving() && reflect.DeepEqual(is, read.summary) {`,
		`(!r.Moving() || mutated("nodes that come not read")) && reflect.DeepEqual(is, read.summary) {`),
	one("cycling left on", okePool+"start.go", "has OKE cycle nodes with every later update of a node pool, because the setting stays",
		OKENodePool, []string{"TestCycling"},
		`	if r.NodePoolCyclingDetails == nil && cycling(is) {`,
		`	if r.NodePoolCyclingDetails == nil && cycling(is) && !mutated("cycling left on") {`),
	one("virtual nodes cycled by any update", okeVirtual+"start.go",
		"has OKE cycle virtual nodes with every later update of their pool, because the setting stays",
		VirtualNodePool, []string{"TestRollout"},
		`	if r.VirtualNodePoolCyclingDetails == nil && cycling(is) {`,
		`	if r.VirtualNodePoolCyclingDetails == nil && cycling(is) && !mutated("virtual nodes cycled by any update") {`),
	one("unknown subnet name ignored", ociNetwork, "launches instances in the cluster's subnet if the named one is not known",
		Launch, []string{"TestBuildNamesTheField"},
		`		part = s.Cluster.Subnet(is.SubnetName)
`,
		`		if named := s.Cluster.Subnet(is.SubnetName); named != nil || !mutated("unknown subnet name ignored") {
			part = named
		}
`),
	one("path of a request not checked", "cloud/oci/rest/client.go", "writes an OCID of a user into the path of a request as it is",
		OCIRest, []string{"TestPathHoldsIdentifiersAlone"},
		`is && text != nil && !identifier.MatchString(*text) {`,
		`is && text != nil && !identifier.MatchString(*text) && !mutated("path of a request not checked") {`),
	one("signature sent to a tenant's address", ociDestination,
		"signs with the controller's own credentials for whatever address a tenant names",
		Infrapool, []string{"TestOCIIdentify"},
		`	if why == "" || oracle {`,
		`	if why == "" || oracle || mutated("signature sent to a tenant's address") {`),
	one("tenant decides who is Oracle", ociDestination,
		"trusts the certificates that a tenant names with credentials that are not the tenant's",
		Infrapool, []string{"TestOCIIdentify"},
		`	if d.restriction != "" {`,
		`	if d.restriction != "" && !mutated("tenant decides who is Oracle") {`),
}
