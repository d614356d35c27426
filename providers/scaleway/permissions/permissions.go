// Package permissions lists, as data, the permissions that an API key needs so that Muster can run pools of Kapsule and Kosmos: each
// operation with its permission set and the reason, and the policy with these sets and nothing else. The smallest permission sets of
// Scaleway are those of a product; they are limited by the project. Every test of the driver runs under exactly these sets.
package permissions

import (
	"fmt"
	"regexp"
	"slices"
)

// The permission sets of Scaleway that operations need.
const (
	// ReadKubernetes is the one that reads clusters, pools and nodes.
	ReadKubernetes = "KubernetesReadOnly"
	// WriteKubernetes is the one that changes them too.
	WriteKubernetes = "KubernetesFullAccess"
	// ReadInstances is that of the types of Instances.
	ReadInstances = "InstancesReadOnly"
)

// DefaultName is the default name of the policy.
const DefaultName = "muster-machine-pools"

// Options choose what is allowed. The zero Options allow everything that pools need.
type Options struct {
	// Name of the policy; empty means DefaultName.
	Name string
	// Project in which the clusters are; empty leaves the place of its ID in the policy.
	Project string
	// ReadOnly allows looks alone, as for plans.
	ReadOnly bool
}

// Operation is one operation of the API with the permission set that it needs.
type Operation struct {
	// Name is the one of the specification: ListPools.
	Name string
	// Set is the permission set.
	Set string
	// Why it is needed.
	Why string
}

// Operations are all operations that the driver sends, in a fixed order.
func Operations() []Operation {
	return []Operation{
		{"ListClusters", ReadKubernetes, "each look finds the cluster by its name, with the version of its control plane"},
		{"ListPools", ReadKubernetes, "one list reads all pools of a cluster"},
		{"ListNodes", ReadKubernetes, "one list reads the nodes of all pools of a cluster"},
		{"ListClusterTypes", ReadKubernetes, "how many nodes a cluster may have, before a pool grows; without it Kapsule checks that alone"},
		{"ListServersTypes", ReadInstances, "what a node offers, so that an autoscaler can scale from zero; without it pools run all the same"},
		{"CreatePool", WriteKubernetes, "a pool is created"},
		{"UpdatePool", WriteKubernetes, "a pool grows, is adopted, and gets other settings"},
		{"SetPoolLabels", WriteKubernetes, "nodes get other labels"},
		{"SetPoolTaints", WriteKubernetes, "nodes get other taints"},
		{"SetPoolStartupTaints", WriteKubernetes, "new nodes get other startup taints"},
		{"UpgradePool", WriteKubernetes, "a pool follows the version of its control plane"},
		{"DeleteNode", WriteKubernetes, "chosen, drained nodes go"},
		{"DeletePool", WriteKubernetes, "the pool is deleted"},
	}
}

// Policy is a policy as the IAM API takes it (CreatePolicy).
type Policy struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Rules       []Rule `json:"rules"`
}

// Rule allows permission sets in projects.
type Rule struct {
	PermissionSetNames []string `json:"permission_set_names"`
	ProjectIDs         []string `json:"project_ids"`
}

// placeOfProject stands in a policy where no project is named.
const placeOfProject = "PROJECT_ID"

var project = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// PolicyOf is the policy of the options.
func PolicyOf(o Options) (Policy, error) {
	if o.Project == "" {
		o.Project = placeOfProject
	} else if !project.MatchString(o.Project) {
		return Policy{}, fmt.Errorf("project %q: want the ID of a project, a UUID", o.Project)
	}
	if o.Name == "" {
		o.Name = DefaultName
	}
	sets := []string{ReadInstances, WriteKubernetes}
	if o.ReadOnly {
		sets = []string{ReadInstances, ReadKubernetes}
	}
	return Policy{Name: o.Name, Description: "What Muster needs to run machine pools.",
		Rules: []Rule{{PermissionSetNames: sets, ProjectIDs: []string{o.Project}}}}, nil
}

// Sets returns the permission sets of the policy.
func (p Policy) Sets() (out []string) {
	for _, r := range p.Rules {
		out = append(out, r.PermissionSetNames...)
	}
	return out
}

// Allows reports whether the policy allows an operation.
func (p Policy) Allows(o Operation) bool {
	return slices.Contains(p.Sets(), o.Set) || o.Set == ReadKubernetes && slices.Contains(p.Sets(), WriteKubernetes)
}
