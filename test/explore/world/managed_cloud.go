package world

import (
	"fmt"

	simaws "github.com/muster-project/muster/sim/aws"
)

// nodegroup is a node group as it is.
type nodegroup struct {
	Name, ARN, Status, Role string
	Tags, Labels            map[string]string
	Min, Max, Desired       int
	// Behind is the name of the group that keeps its machines, empty before there is one.
	Behind string
}

// putCluster tells the simulated EKS of the cluster, as it is now.
func (a *account) putCluster() {}

// nodegroup is the one that has our name, nil when there is none.
func (a *account) nodegroup() *nodegroup { return nil }

// behind is the group that keeps a node group's machines, nil when there is none.
func (a *account) behind(n *nodegroup) *simaws.Group { return a.find(n.Behind) }

// upset has EKS fail or find fault.
func (a *account) upset(_ *nodegroup, e Event) error { return fmt.Errorf("%s: not played yet", e.What) }
