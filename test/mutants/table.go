// Package mutants shows that the tests of the engine can fail. It holds a table of mistakes that developers make, each a
// small change of the source, and one build of the exploration and of some other tests that has all of them in it, each
// switched on by its name. A mistake that no test notices is a gap in the tests, not a mistake to be taken off the table.
//
// The table is in the files table_*.go, what became of it in docs/mutations.md.
package mutants

import (
	"maps"
	"slices"
)

// Binary is a test binary that mutants are run in, named by its package's folder.
type Binary string

// The binaries. In Explore, oracles detect mutations; in the others the names of tests stand in place of oracles.
const (
	Explore   Binary = "test/explore"
	Pool      Binary = "pool"
	Engine    Binary = "engine"
	AWS       Binary = "cloud/aws"
	Infrapool Binary = "kube/infrapool"
	NodeGroup Binary = "cloud/aws/nodegroup"
	Drain     Binary = "kube/drain"
	Core      Binary = "kube/machinepool"
	Azure     Binary = "cloud/azure"
	AgentPool Binary = "cloud/azure/agentpool"
	NodePool  Binary = "cloud/gcp/nodepool"
	Parts     Binary = "kube/partstest"
	Sweep     Binary = "cloud/sweep"
	Wire      Binary = "cloud/wire"
	// InstanceGroup are the tests of managed instance groups of Google Cloud.
	InstanceGroup Binary = "cloud/gcp/instancegroup"
	// Kapsule are the tests of pools of Scaleway.
	Kapsule Binary = "cloud/scaleway/kapsule"
	// InstancePool, OKENodePool and VirtualNodePool are the tests of pools of Oracle Cloud, Launch those of instance configurations and
	// OCIRest those of requests.
	InstancePool    Binary = "cloud/oci/instancepool"
	OKENodePool     Binary = "cloud/oci/nodepool"
	VirtualNodePool Binary = "cloud/oci/virtualnodepool"
	Launch          Binary = "cloud/oci/launch"
	OCIRest         Binary = "cloud/oci/rest"
	// Upgrade are the tests of paths from one version of Kubernetes to another.
	Upgrade Binary = "pool/upgrade"
)

// Mutation is one mistake.
type Mutation struct {
	// Name switches it on; it is unique.
	Name string
	// File is the file that it is made in, from the root of the module.
	File string
	// What describes the mistake of a developer that the mutation makes.
	What string
	// Edits are made in the file, Beside in other files: where one guard stands behind another the mistake is made in both.
	Edits        []Edit
	InOtherFiles []EditIn
	// In is the binary that notices it, By the oracles or tests of which the first to notice must be one.
	In Binary
	By []string
	// Seed is the first scenario that is played; zero begins with the first of all. A mistake that few lives show names one
	// that does.
	Seed int
	// Kind, where set, is the kind of pools that is played, so that a kind that is added later can't take the seed over.
	Kind string
	// Extra is true if scenarios are played with what was added to all kinds later.
	Extra bool
}

// from has scenarios played from a seed on.
func (m Mutation) from(seed int) Mutation {
	m.Seed = seed
	return m
}

// of plays pools of one kind, by its name.
func (m Mutation) of(kind string) Mutation {
	m.Kind = kind
	return m
}

// extra plays scenarios with what was added to all kinds later.
func (m Mutation) extra() Mutation {
	m.Extra = true
	return m
}

// Edit replaces one text by another.
type Edit struct {
	// Old occurs exactly once in the file. New is the mistake; it asks mutated("name") whether it is switched on.
	Old, New string
}

// EditIn is an edit of another file than that of the mutation.
type EditIn struct {
	File string
	Edit
}

// inFile adds an edit of another file.
func (m Mutation) inFile(file, old, changed string) Mutation {
	m.InOtherFiles = append(m.InOtherFiles, EditIn{file, Edit{Old: old, New: changed}})
	return m
}

// one returns a mutation of one edit.
func one(name, file, what string, in Binary, by []string, old, changed string) Mutation {
	return Mutation{Name: name, File: file, What: what, In: in, By: by, Edits: []Edit{{Old: old, New: changed}}}
}

// Binaries returns the binaries in which the mutations of a table run, in order, with the oracles or tests that they name.
func Binaries(table []Mutation) (list []Binary, by map[Binary][]string) {
	by = map[Binary][]string{}
	for _, m := range table {
		by[m.In] = append(by[m.In], m.By...)
	}
	for in := range by {
		slices.Sort(by[in])
		by[in] = slices.Compact(by[in])
	}
	return slices.Sorted(maps.Keys(by)), by
}

// Table returns all mutations.
func Table() []Mutation {
	return slices.Concat(poolTable, rolloutTable, healTable, engineTable, callsTable, awsTable, templateTable, nodegroupTable, azureTable,
		agentTable, nodepoolTable, instancegroupTable, kapsuleTable, ociTable, kubeTable, policyTable)
}
