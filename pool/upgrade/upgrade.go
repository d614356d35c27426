// Package upgrade leads a node group from the version of Kubernetes that it runs to the one that is asked for.
package upgrade

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Any is the part of a version that is left to the cloud, which takes its newest.
const Any = -1

// Version is a version of Kubernetes 1, as far as it is named: 1.34 is {34, Any, Any, ""}. The zero Version is unknown.
type Version struct {
	Minor, Patch int
	// Build is a distribution's own count of what it builds of a patch, Distribution the name that it stands beside: 1.34.1-gke.1829001.
	// Without a name it is Any.
	Build        int
	Distribution string
}

// Parse reads a minor version with or without a patch, and a patch with or without a build; the leading v may be missing. It reports
// whether the text is a version.
func Parse(text string) (Version, bool) {
	numbers, suffix, built := strings.Cut(text, "-")
	major, rest, _ := strings.Cut(strings.TrimPrefix(numbers, "v"), ".")
	minor, patch, patched := strings.Cut(rest, ".")
	out := Version{Minor: ordinal(minor), Patch: Any, Build: Any}
	if patched {
		out.Patch = ordinal(patch)
	}
	if built {
		var build string
		out.Distribution, build, _ = strings.Cut(suffix, ".")
		out.Build = ordinal(build)
	}
	if major != "1" || out.Minor <= 0 || (patched || built) && out.Patch < 0 || built && (out.Build < 0 || out.Distribution == "") {
		return Version{}, false
	}
	return out, true
}

// ordinal is the number that a part of a version is, negative for none.
func ordinal(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return Any
	}
	return int(n)
}

// Known reports whether the version is known.
func (v Version) Known() bool { return v.Minor != 0 }

// String returns the version without a v, as far as it is named: 1.34, 1.34.1 or 1.34.1-gke.1829001, empty for an unknown version.
func (v Version) String() string {
	switch {
	case !v.Known():
		return ""
	case v.Patch == Any:
		return fmt.Sprintf("1.%d", v.Minor)
	case v.Build == Any || v.Distribution == "":
		return fmt.Sprintf("1.%d.%d", v.Minor, v.Patch)
	}
	return fmt.Sprintf("1.%d.%d-%s.%d", v.Minor, v.Patch, v.Distribution, v.Build)
}

// Compare compares versions as far as both are named: it is zero for a version and one that leaves its parts open.
func (v Version) Compare(o Version) int {
	if by := cmp.Compare(v.Minor, o.Minor); by != 0 || v.Patch == Any || o.Patch == Any {
		return by
	}
	if by := cmp.Compare(v.Patch, o.Patch); by != 0 || v.Build == Any || o.Build == Any {
		return by
	}
	return cmp.Compare(v.Build, o.Build)
}

// MayDiffer reports whether a kubelet may run another version of Kubernetes than the wanted one: it does, or one of the two is not known. A
// vendor's suffix counts only if the wanted version has one.
func MayDiffer(wanted, have string) bool {
	w, known := Parse(wanted)
	if w.Distribution == "" {
		have, _, _ = strings.Cut(have, "-")
		have, _, _ = strings.Cut(have, "+")
	}
	h, ran := Parse(have)
	return !known || !ran || w.Compare(h) != 0 || w.Distribution != h.Distribution
}

// Step is the version that the next step of a node group leads to, and the path that it is a step of.
type Step struct {
	Next Version
	Path Path
}

// Of returns the next step from the version that a node group runs, unknown if it does not exist yet, to the wanted one. It is for
// clouds that take one minor version at a time, none above the control plane, and none back: a newer version than wanted, as an automatic
// upgrade brings it, is kept.
func Of(current, wanted, controlPlane Version) Step {
	switch {
	case !wanted.Known():
		return Step{Next: current}
	case !current.Known():
		return Step{Next: wanted}
	case wanted.Compare(current) <= 0:
		return Step{Next: current}
	}
	u := Step{Next: current, Path: PathOf(current.Minor, wanted.Minor, controlPlane.Minor)}
	switch {
	case u.Path.WaitsForControlPlane:
	case u.Path.Next == wanted.Minor && controlPlane.Minor == wanted.Minor && controlPlane.Compare(wanted) < 0:
		u.Path.WaitsForControlPlane = true
	case u.Path.Next == wanted.Minor:
		u.Next = wanted
	case u.Path.Next == controlPlane.Minor:
		// The newest patch of this minor version may be above the control plane's.
		u.Next = controlPlane
	default:
		u.Next = Version{Minor: u.Path.Next, Patch: Any, Build: Any}
	}
	return u
}

// Path leads a node group from the minor version of Kubernetes that it runs to the wanted one: one minor version at a time,
// and never above the control plane. Minor versions are numbers: 31 is Kubernetes 1.31, and 0 is unknown.
type Path struct {
	// Current is the version that the group runs, Wanted the one that the user asks for.
	Current, Wanted int
	// Next is the version that the next step leads to. It is Current where no step is due or possible.
	Next int
	// WaitsForControlPlane is true if the next step needs an upgrade of the control plane first.
	WaitsForControlPlane bool
	// Downgrade is true if Wanted is below Current. No cloud takes a node group back.
	Downgrade bool
}

// PathOf returns the path from the version that a node group runs to the wanted one. With an unknown control plane, the cloud itself
// compares the versions.
func PathOf(current, wanted, controlPlane int) Path {
	u := Path{Current: current, Wanted: wanted, Next: current}
	switch next := min(current+1, wanted); {
	case wanted == 0 || current == 0:
	case wanted < current:
		u.Downgrade = true
	case controlPlane != 0 && next > controlPlane:
		u.WaitsForControlPlane = true
	default:
		u.Next = next
	}
	return u
}

// String returns the step in words. It is empty where none is left.
func (u Path) String() string {
	switch {
	case u.Wanted == 0 || u.Current == 0 || u.Wanted == u.Current || u.Downgrade:
		return ""
	case u.WaitsForControlPlane:
		return fmt.Sprintf("Kubernetes 1.%d of the wanted 1.%d, which waits for the control plane", u.Current, u.Wanted)
	case u.Next == u.Wanted:
		return fmt.Sprintf("Kubernetes 1.%d to 1.%d", u.Current, u.Wanted)
	}
	return fmt.Sprintf("Kubernetes 1.%d to 1.%d, on the way to 1.%d", u.Current, u.Next, u.Wanted)
}
