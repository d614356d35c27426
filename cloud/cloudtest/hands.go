package cloudtest

import (
	"context"
	"slices"
)

// Deed is something that somebody does to the cloud by hand, in its console or with another tool.
type Deed string

// The deeds. What each is done to is in a Thing.
const (
	// MakeGroup and MakeTemplate make one of that Name, in the manner of another tool: without tags of ours or machines.
	MakeGroup    Deed = "make a group"
	MakeTemplate Deed = "make a template"
	// DeleteGroup deletes the group of that Name with its machines, DeleteTemplate the template of that Name.
	DeleteGroup    Deed = "delete a group"
	DeleteTemplate Deed = "delete a template"
	// DeleteVersion deletes the version Ref of a template; MakeVersion makes one more version of the template Name.
	DeleteVersion Deed = "delete a version"
	MakeVersion   Deed = "make a version"
	// LaunchFrom lets the group of that Name launch from the version Ref.
	LaunchFrom Deed = "launch from another version"
	// SetSize sets the group's size to Size, SetBounds its largest size to Size.
	SetSize   Deed = "set the size"
	SetBounds Deed = "set the bounds"
	// Untag takes one tag that the specification asks for off the group, Retag gives another value to one of our fixed tags
	// that is not the owner's.
	Untag Deed = "take a tag off"
	Retag Deed = "change a tag"
	// Resume lets all of the group's processes go on that the specification suspends.
	Resume Deed = "resume processes"
	// Unhook takes the group's lifecycle hooks away.
	Unhook Deed = "take hooks away"
	// Terminate ends the instance.
	Terminate Deed = "terminate an instance"
)

// Thing is what a deed is done to.
type Thing struct {
	// Name of a group or a template.
	Name string
	// Ref of a template's version, Instance within a group, as observations have them.
	Ref, Instance string
	Size          int
}

// Hands do deeds.
type Hands map[Deed]func(context.Context, Thing) error

// by does a deed by hand, and says whether the cloud has such a thing.
func (p player[S]) by(d Deed, on Thing) bool {
	p.Helper()
	if slices.Contains(p.suite.Lacks, d) {
		return false
	}
	do, ok := p.hands[d]
	if !ok {
		p.Fatalf("by hand: nobody knows how to %s, and the suite does not say that the cloud lacks it", d)
	}
	if err := do(p.Context(), on); err != nil {
		p.Fatalf("by hand: %s %+v: %v", d, on, err)
	}
	return true
}
