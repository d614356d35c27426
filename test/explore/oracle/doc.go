// Package oracle checks what must hold in every explored run, after any edit, fault or loss. An oracle is a pure function over facts that
// the explorer reads from the simulators themselves, never from the engine, so that a wrong engine cannot agree with it. There is one file
// for each oracle, with a test that shows that it can fail.
package oracle

import (
	"slices"
	"time"
)

// Cloud holds the state of the cloud at one moment.
type Cloud struct {
	Groups    []Group
	Templates []Template
	Instances []Instance
	Roles     []Role
}

// Role is a role that machines use.
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
	// Surge is the part of the size that was added for a rollout, as recorded in the cloud, if an autoscaler owns the group's size.
	Surge int
	// Requested is the requested size of a group whose cloud has given up on part of it: the next write of any kind makes the cloud try again.
	// It is zero if the cloud keeps no size but Size.
	Requested int
	Deleting  bool
	// Failed groups could not be made, or not be deleted: they never serve.
	Failed bool
	// Version is the number of the template's version that it launches from, zero for one that the cloud chooses. Content is
	// what that makes machines of: user data and tags aside.
	Version int64
	Content string
	Members []Member
	// Print is a text with all fields of the group except its members, for comparisons. Untagged is the same without the tags.
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
	// Template is the ID of the template, and Version the number of its version, from which the member was launched. Content is the content of
	// that version.
	Template string
	Version  int64
	Content  string
	// Launched is the launch time of the instance.
	Launched time.Time
}

// Staying returns the members that are not on their way out.
func (g Group) Staying() []Member {
	var list []Member
	for _, m := range g.Members {
		if !m.Leaving {
			list = append(list, m)
		}
	}
	return list
}

// Counted returns the members that the group itself counts.
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
	// Content identifies the machines that the version produces.
	Content string
	// Description is the description of the version.
	Description string
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
	// DrainStarted is the start of Muster's drain of the Node, zero if it is not drained. For a Node that Muster has deleted it keeps its
	// value.
	DrainStarted time.Time
	// Pods counts the pods on the Node that a drain would evict.
	Pods int
	// Ready is true if the Ready condition is True.
	Ready bool
	// Cordoned is true if no pod is scheduled onto it. Quarantined is true if its rollout goes on without it, because it can't be drained.
	Cordoned, Quarantined bool
	// Marked is the time since which a user or the autoscaler has asked for this machine to be removed first, zero if neither has.
	Marked time.Time
}

// Desired holds the specification of the objects at one moment.
type Desired struct {
	// Owner is the object's owner ID.
	Owner string
	// Named is the name of the group that spec.providerID names; empty for none.
	Named string
	// Adopt is the name of the group of another provider that the object asks to adopt, empty for none. Kept is true while the object asks to
	// keep the machines of this group.
	Adopt              string
	Kept               bool
	Replicas, Min, Max int
	// Keep is the number of versions with distinct content that a template keeps. It is zero while some clients may not know all versions.
	Keep int
	// External is true if an autoscaler owns the group's size.
	External bool
	Deleting bool
	// Force is true if updates by the cloud may delete pods that cannot be evicted.
	Force bool
	// DrainTimeout bounds a drain; zero is no bound.
	DrainTimeout time.Duration
	// Surge and Unavailable bound how many machines above the wanted number may exist, and how many of it may be missing.
	Surge, Unavailable Share
	// Quarantined bounds how many machines that can't be drained may be missing beyond them.
	Quarantined int
	// ReplacedByMuster is true if Muster replaces stale machines itself. Paused suspends replacement, SkipModel disables it.
	ReplacedByMuster, Paused, SkipModel bool
	// Restart is the time of the last restart request: machines launched before it are to be replaced. Zero for none.
	Restart time.Time
	// DeletionRequested holds the instances whose deletion a user has requested by name.
	DeletionRequested map[string]bool
}

// Share is a number, or a percentage of the wanted number.
type Share struct {
	N       int
	Percent bool
}

// Of returns the number that a share of so many is. What is rounded up is written as a surge is.
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

// Limits returns the surge and the number of missing machines that are allowed of n. Two that round to nothing allow one to be
// missing, or nothing could ever be replaced.
func (w Desired) Limits(n int) (surge, unavailable int) {
	surge, unavailable = w.Surge.Of(n, true), min(n, w.Unavailable.Of(n, false))
	if surge+unavailable == 0 {
		unavailable = min(n, 1)
	}
	return surge, unavailable
}

// Write is one write of Muster to the cloud, with the state right before and right after it.
type Write struct {
	At time.Time
	// Call is the cloud's name of the call.
	Call          string
	Before, After Cloud
	// Named lists the instances that the call names, if any: the cloud may remove others at the same moment for other reasons.
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
	Nodes   map[string]Node
	Desired Desired
	// Unseen bounds the time for which a new instance can be invisible to some clients.
	Unseen time.Duration
	// Moved is true if the object or the size was changed so recently, by a user, the autoscaler or another manager, that the writer may not
	// know.
	Moved bool
	// Autoscaled lists the sizes, without surge, that the autoscaler has set so recently that the writer may not know the present one.
	Autoscaled []int
	// Lost holds the instances that stopped serving, without Muster's doing, so recently that some clients may not know. Risen holds those
	// that began to serve so recently.
	Lost, Risen map[string]bool
	// Closure is the state of the policies of the pool.
	Closure Closure
	// Resized is true if the wanted number of machines, or the size, was changed some time ago, so that there may be too many.
	Resized bool
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

// Check is one oracle over writes: it returns the violations.
type Check struct {
	Name string
	Of   func(Write) []string
}

// Checks returns all oracles over writes.
func Checks() []Check {
	return []Check{
		{"undrained", Undrained}, {"unwanted removal", Removal}, {"capacity", Capacity}, {"twice", Twice}, {"foreign", Foreign},
		{"available", Available}, {"surge", Surge}, {"unfounded", Unfounded}, {"marked first", MarkedFirst}, {"history", History},
		{"reported", Reported}, {"forced", Forced}, {"adopted", Adopted}, {"outside windows", OutsideWindows},
	}
}

// Begins returns the IDs of the serving machines whose replacement by a rollout the write begins. Where more machines exist than are
// wanted, it began when another was launched in the place of one.
func (w Write) Begins() []string {
	if g, exists := ours(w.Before, w.Desired.Owner); !exists || w.succeeded(g) {
		return nil
	}
	var ids []string
	for _, m := range w.begins() {
		ids = append(ids, m.ID)
	}
	return ids
}

// gone returns the members that counted before the write and do not after it, because of it.
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

// ours returns the group of the owner, if there is one.
func ours(c Cloud, owner string) (Group, bool) {
	for _, g := range c.Groups {
		if g.Owner == owner && !g.Deleting {
			return g, true
		}
	}
	return Group{}, false
}
