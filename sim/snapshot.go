package sim

import (
	"slices"
	"strings"
	"time"
)

// Snapshot holds what a simulated cloud has at one moment, in one form for all clouds. A caller must not change it.
type Snapshot struct {
	// Groups are groups of machines that clients create, and the pools of managed clusters. The groups and templates by which a managed
	// service keeps the machines of a pool are left out.
	Groups    []Group
	Templates []Template
	// Instances are all that have not ended, in groups or outside of them.
	Instances []Instance
	// Roles are the identities that machines can have.
	Roles []Role
}

// Group is a group of machines.
type Group struct {
	// Name is unique among the groups of the cloud, ID the cloud's identifier.
	Name, ID string
	// Cluster is the name of the managed cluster of a pool, empty for other groups.
	Cluster string
	// State is the cloud's word for the state of the group, empty where it has none.
	State string
	// Busy is true while an operation runs on the group, Autoscaled while the cloud's own autoscaler sizes it.
	Busy, Autoscaled bool
	// Deleting groups are being deleted. Failed ones could not be created or deleted: they never serve.
	Deleting, Failed bool
	// Size is the number of machines that the group keeps, without those that a rollout of the cloud adds. A Max of zero is no bound.
	Size, Min, Max int
	// Requested is the size that clients have requested, where the cloud can give up a part of it and keeps the request. Otherwise zero.
	Requested int
	// Template is the ID of the template of new members, and Version its version: zero for one that the cloud chooses.
	Template string
	Version  int64
	// Type is the machine type of new members, Kubernetes their version of Kubernetes. Both are empty where the template has them.
	Type, Kubernetes string
	// Content is all that distinguishes machines from each other, without user data and tags. A member of another content is out of date.
	Content string
	// Tags are those of the group, Labels those of its Nodes.
	Tags, Labels map[string]string
	// Settings are everything else that clients can set, in one text.
	Settings string
	Members  []Member
}

// Member is a machine of a group, or a place for one.
type Member struct {
	// ID is the ID by which the MachineHost knows the machine, empty while it does not exist. Name is that of the place or the Node, Ref the
	// last part of what requests name the member by.
	ID, Name, Ref, ProviderID string
	Zone, Type                string
	// State is the cloud's word for the state of the machine.
	State string
	// Template, Version, Kubernetes and Content describe the machine when it was created, as a Group has them.
	Template   string
	Version    int64
	Kubernetes string
	Content    string
	Tags       map[string]string
	Created    time.Time
	// Leaving members are on their way out of the group and count no more. HeldSince is when a hook began to keep one.
	Leaving   bool
	HeldSince time.Time
	// Replaced is true if the group creates another machine of the same name in the place of one that leaves.
	Replaced bool
	// Standby members run and are not counted by the group.
	Standby bool
	// Doomed members are about to be removed by the cloud. Failed ones do not run, and stay until a client removes them.
	Doomed, Failed bool
	// Protected members stay when the group is made smaller, Spot ones can be reclaimed.
	Protected, Spot bool
}

// Template describes machines.
type Template struct {
	ID, Name string
	Tags     map[string]string
	Created  time.Time
	// Versions are those that exist, the newest first. A template of a cloud without versions has one of number zero.
	Versions []Version
}

// Version is a version of a template.
type Version struct {
	Number      int64
	Default     bool
	Description string
	// Content is that of the machines, as a Group has it.
	Content string
}

// Instance is a machine that has not ended.
type Instance struct {
	ID string
	// Group is the name of its group, empty for none.
	Group string
	Tags  map[string]string
	// Leaving is true while it is being stopped or deleted.
	Leaving bool
}

// Role is an identity that machines can have, with the policies attached to it.
type Role struct {
	Name     string
	Attached []string
	Tags     map[string]string
}

// Group returns the group of a name, and nil if there is none.
func (s Snapshot) Group(name string) *Group {
	for k := range s.Groups {
		if s.Groups[k].Name == name {
			return &s.Groups[k]
		}
	}
	return nil
}

// Staying returns the members that are not leaving.
func (g *Group) Staying() []Member {
	var list []Member
	for _, m := range g.Members {
		if !m.Leaving {
			list = append(list, m)
		}
	}
	return list
}

// NamedBy reports whether a request names the member among others: by its Ref, or by a path or URL that ends with it.
func (m Member) NamedBy(requested []string) bool {
	return slices.ContainsFunc(requested, func(one string) bool { return strings.HasSuffix("/"+one, "/"+m.Ref) })
}
