package sim

import (
	"fmt"
	"slices"
)

// Profile is what is particular about a simulated cloud, for those who use it without knowing which one it is.
type Profile struct {
	// Hands are those of somebody who uses the cloud's console.
	Hands Hands
	// Denied is how the cloud says that something is not allowed: Code, Message and Status.
	Denied Fault
	// NoCapacity are words of the cloud, in its reason for a machine that it does not have.
	NoCapacity string
	// Ignorable are rules that each ignore one thing that clients can set, without end.
	Ignorable []Fault
}

// Deed is something that somebody does to a cloud by hand, in its console or with another tool.
type Deed string

// The deeds. What each is done to is in a Thing.
const (
	// MakeGroup and MakeTemplate make one of that Name, in the manner of another tool: without tags or machines.
	MakeGroup    Deed = "make a group"
	MakeTemplate Deed = "make a template"
	// DeleteGroup deletes the group of that Name with its machines, DeleteTemplate the template of that Name.
	DeleteGroup    Deed = "delete a group"
	DeleteTemplate Deed = "delete a template"
	// MakeVersion makes one more version of the template Name, for other machines than the last; DeleteVersion deletes its Version.
	MakeVersion   Deed = "make a version"
	DeleteVersion Deed = "delete a version"
	// LaunchFrom lets the group of that Name launch from the Version of its own template.
	LaunchFrom Deed = "launch from another version"
	// SetSize sets the size of the group Name to Size, SetBounds its largest size to Size.
	SetSize   Deed = "set the size"
	SetBounds Deed = "set the bounds"
	// Untag takes the tag Key off the group Name, Retag gives it the Value.
	Untag Deed = "take a tag off"
	Retag Deed = "change a tag"
	// Resume lets all processes of the group Name go on that are suspended.
	Resume Deed = "resume processes"
	// Unhook takes the lifecycle hooks of the group Name away.
	Unhook Deed = "take hooks away"
	// Terminate ends the Instance.
	Terminate Deed = "terminate an instance"
	// PutAside takes the Instance out of the count of its group, in which it stays, for somebody who wants to look at it.
	PutAside Deed = "put an instance aside"
	// Sicken marks the Instance unhealthy, so that the cloud replaces it.
	Sicken Deed = "mark an instance unhealthy"
	// Interrupt lets the cloud take the Instance back after the notice that it gives; Recommend lets it say that it may soon. Both
	// are of machines that were had for less on these terms, and refused for others.
	Interrupt Deed = "interrupt an instance"
	Recommend Deed = "recommend to replace an instance"
	// EvenZones lets the cloud move one instance of the group Name to another zone, by launching first.
	EvenZones Deed = "even out the zones"
	// BeginRoll begins the cloud's own roll of the group Name, for all its instances; EndRoll ends one; FailRoll lets one fail for
	// an alarm.
	BeginRoll Deed = "begin a roll"
	EndRoll   Deed = "end a roll"
	FailRoll  Deed = "fail a roll"
)

// Thing is what a deed is done to. The deed says which fields it reads.
type Thing struct {
	// Name of a group or a template.
	Name string `json:"name,omitempty"`
	// Version of a template: the how-manieth of those that exist, the oldest being 1.
	Version int `json:"version,omitempty"`
	// Instance is an instance's ID, as the cloud gives it.
	Instance string `json:"instance,omitempty"`
	Size     int    `json:"size,omitempty"`
	// Key and Value of a tag.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
}

// Hands do deeds: no request, no signature, no limit and no fault is in their way. A deed that the cloud has not, because it
// has no such thing, is there with nil, so that none is forgotten.
type Hands map[Deed]func(Thing) error

// Do does a deed, and says whether the cloud has such a thing. Its errors are those of the deed, and that of one that nobody has
// thought of.
func (h Hands) Do(d Deed, on Thing) (has bool, err error) {
	do, known := h[d]
	switch {
	case !known:
		return false, fmt.Errorf("nobody knows how to %s here: give it a function, or nil where the cloud has no such thing", d)
	case do == nil:
		return false, nil
	}
	if err := do(on); err != nil {
		return true, fmt.Errorf("%s by hand: %w", d, err)
	}
	return true, nil
}

// known returns the deeds that the cloud has, in order.
func (h Hands) known() []Deed {
	out := make([]Deed, 0, len(h))
	for d, do := range h {
		if do != nil {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}
