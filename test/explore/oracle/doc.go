// Package oracle says what must hold in every explored run, whatever was edited, broken or lost on the way. An oracle is
// a pure function over facts that the explorer gathers from the simulators themselves, never from what the engine
// believes, so that an engine that is wrong can't agree with it. One file an oracle, each with a test that shows that it
// can fail.
package oracle

import (
	"slices"
	"time"
)

// Cloud is what exists in the cloud at one moment.
type Cloud struct {
	Groups    []Group
	Templates []Template
	Instances []Instance
	Roles     []Role
}

// Role is one that machines have.
type Role struct {
	Name string
	// Owner is the owner ID that the role carries, empty for none.
	Owner string
	// Theirs are the policies that others have attached to it.
	Theirs []string
	// Print is everything about the role in one text.
	Print string
}

// Group is one group of machines.
type Group struct {
	Name string
	// Owner is the owner ID that the group carries, empty for none; Template is the ID of what it launches from.
	Owner, Template string
	Min, Max, Size  int
	// Surge is how much of the size was added for a rollout, in the cloud's own keeping, where an autoscaler owns the group's size.
	Surge int
	// Asked is the size that the cloud goes on being asked for where it gave up to bring some of it: with the next write of any kind it tries
	// again. Zero where Size is all that is kept.
	Asked    int
	Deleting bool
	// Failed groups could not be made, or not be deleted: they never serve.
	Failed bool
	// Version is the number of the template's version that it launches from, zero for one that the cloud chooses. Content is
	// what that makes machines of: user data and tags aside.
	Version int64
	Content string
	Members []Member
	// Print is everything about the group in one text, to tell whether anything was changed. Its members are not in it. Untagged is the
	// same without its tags.
	Print, Untagged string
	Tags            map[string]string
}

// Member is an instance's place in a group.
type Member struct {
	ID string
	// Leaving members are on their way out, and count no more. Held is since when Muster's hook keeps one that leaves, as
	// far as was seen; zero for none.
	Leaving bool
	Held    time.Time
	// Aside members run and are not counted by the group.
	Aside bool
	// Doomed members are about to be taken by the cloud; Failed ones do not serve and are kept by the cloud until a client removes them.
	Doomed, Failed bool
	// Template is the ID of the template, and Version the number of its version, that it was launched from; Content is what
	// these make.
	Template string
	Version  int64
	Content  string
	// Launched is when the instance was started.
	Launched time.Time
}

// Staying are the members that count.
func (g Group) Staying() []Member {
	var list []Member
	for _, m := range g.Members {
		if !m.Leaving {
			list = append(list, m)
		}
	}
	return list
}

// Counted are the members that the group itself counts.
func (g Group) Counted() []Member {
	var list []Member
	for _, m := range g.Staying() {
		if !m.Aside {
			list = append(list, m)
		}
	}
	return list
}

// Template is one launch template.
type Template struct {
	ID, Name string
	// Owner is the owner ID that the template carries, empty for none.
	Owner string
	// Versions are those that exist, the newest first.
	Versions []Version
	// Print is everything about the template in one text, Untagged the same without its tags.
	Print, Untagged string
	Tags            map[string]string
}

// Version is one version of a launch template.
type Version struct {
	Number  int64
	Default bool
	// Content is what it makes machines of.
	Content string
	// Says is its description.
	Says string
}

// Instance is one machine that has not ended.
type Instance struct {
	ID string
	// Owner is the owner ID that the instance carries; Group is the group that it is a member of, empty for none.
	Owner, Group string
	// Leaving is true while it is being stopped.
	Leaving bool
}

// Node is the truth about the node of one instance.
type Node struct {
	// Joined is true if the machine has become a node of the workload cluster.
	Joined bool
	// DrainStarted is when our drain of it began; zero when it is not being drained. Of one that Muster has deleted it is what it was then.
	DrainStarted time.Time
	// Pods is how many pods run there that a drain would evict.
	Pods int
	// Ready is its Ready condition.
	Ready bool
	// Cordoned is true if no pod is scheduled onto it.
	Cordoned bool
	// Marked is since when a user or the autoscaler asks for it to go first; zero for not.
	Marked time.Time
}

// Wanted is what the object asks for at one moment.
type Wanted struct {
	// Owner is the object's owner ID.
	Owner string
	// Named is the name of the group that spec.providerID names; empty for none.
	Named string
	// Adopt is the name of the group of another provider that the object asks to adopt; empty for none. Kept is true while the object asks
	// for the machines that this group had.
	Adopt              string
	Kept               bool
	Replicas, Min, Max int
	// Keep is how many versions of distinct content a template keeps; zero while not every client can know what versions there are.
	Keep int
	// External is true if an autoscaler owns the group's size.
	External bool
	Deleting bool
	// Force is true if updates of the cloud's own may lose pods which can't be evicted.
	Force bool
	// DrainTimeout bounds a drain; zero is no bound.
	DrainTimeout time.Duration
	// Surge and Unavailable are how many machines above the wanted number may exist, and how many of it may be missing.
	Surge, Unavailable Share
	// ByHand is true if Muster replaces stale machines, Paused if none is replaced for now, SkipModel if none ever is.
	ByHand, Paused, SkipModel bool
	// Restart is the moment before which machines were made that a user asked to replace; zero for none.
	Restart time.Time
	// Condemned are the instances whose deletion a user asked for by name.
	Condemned map[string]bool
}

// Share is a number, or a percentage of the wanted number.
type Share struct {
	N       int
	Percent bool
}

// Of is the number that a share of so many is. What is rounded up is written as a surge is.
func (s Share) Of(n int, up bool) int {
	switch {
	case !s.Percent:
		return s.N
	case up:
		return (s.N*n + 99) / 100
	default:
		return s.N * n / 100
	}
}

// Limits are the surge and the number of missing machines that are allowed of n. Two that round to nothing allow one to be
// missing, or nothing could ever be replaced.
func (w Wanted) Limits(n int) (surge, unavailable int) {
	surge, unavailable = w.Surge.Of(n, true), min(n, w.Unavailable.Of(n, false))
	if surge+unavailable == 0 {
		unavailable = min(n, 1)
	}
	return surge, unavailable
}

// Write is one write to the cloud that we sent, with everything as it was right before and right after it.
type Write struct {
	At time.Time
	// Call is the cloud's name of the call.
	Call          string
	Before, After Cloud
	// Named are the instances that the call names, if it names any: the cloud may let others go at the same moment for
	// reasons of its own.
	Named []string
	// Forces is true if it is an update of the cloud's own that loses pods which can't be evicted.
	Forces bool
	// Rolls is true if it begins a replacement of machines by the cloud.
	Rolls bool
	// Shrinks is true if the cloud replaces no machine by itself: each removal lowers the size.
	Shrinks bool
	// Drains is true if it is the beginning of a drain rather than a call to the cloud: Named are the instances drained.
	Drains bool
	// Nodes are those of all instances, by instance ID, right before.
	Nodes  map[string]Node
	Wanted Wanted
	// Unseen is how long an instance may exist before every client that looks can see it.
	Unseen time.Duration
	// Moved is true if a user, the autoscaler or another manager changed the size, or the object, so lately that the writer may not know.
	Moved bool
	// Autoscaled are the sizes, without surge, that the autoscaler has changed so lately that the writer may not know of the present one.
	Autoscaled []int
	// Lost are the instances that stopped serving by others' doing so lately that not every client can know, Risen those that
	// began to serve so lately.
	Lost, Risen map[string]bool
}

// Reopened has the members that stay after a write count before it too: a rollout that is cancelled opens the nodes again that it had begun
// to drain.
func (w *Write) Reopened() {
	stays := map[string]bool{}
	for _, g := range w.After.Groups {
		for _, m := range g.Staying() {
			stays[m.ID] = true
		}
	}
	for _, g := range w.Before.Groups {
		for i := range g.Members {
			g.Members[i].Leaving = g.Members[i].Leaving && !stays[g.Members[i].ID]
		}
	}
}

// Check is one oracle over writes: it says what is wrong, or nothing.
type Check struct {
	Name string
	Of   func(Write) []string
}

// Checks are all oracles over writes.
func Checks() []Check {
	return []Check{
		{"undrained", Undrained}, {"unwanted removal", Removal}, {"capacity", Capacity}, {"twice", Twice}, {"foreign", Foreign},
		{"available", Available}, {"surge", Surge}, {"unfounded", Unfounded}, {"marked first", MarkedFirst}, {"history", History}, {"told", Told},
		{"forced", Forced}, {"adopted", Adopted},
	}
}

// gone are the members that counted before the write and do not after it, because of it.
func gone(w Write) []Member {
	staying := map[string]bool{}
	for _, g := range w.After.Groups {
		for _, m := range g.Staying() {
			staying[m.ID] = true
		}
	}
	var list []Member
	for _, g := range w.Before.Groups {
		for _, m := range g.Staying() {
			if !staying[m.ID] && (w.Named == nil || slices.Contains(w.Named, m.ID)) {
				list = append(list, m)
			}
		}
	}
	return list
}

// ours is the group that the owner has, if there is one.
func ours(c Cloud, owner string) (Group, bool) {
	for _, g := range c.Groups {
		if g.Owner == owner && !g.Deleting {
			return g, true
		}
	}
	return Group{}, false
}
