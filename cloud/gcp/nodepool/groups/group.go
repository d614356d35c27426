package groups

import (
	"slices"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/gcp/session"
)

// Group is one of the instance groups that a node pool keeps its machines in, as it was read.
type Group struct {
	Zone, Name string
	// Target is the number of machines that it keeps, and Template the instance template that it makes them from, by its path within the
	// project: node pools have templates of their region, older ones global templates.
	Target   int
	Template string
	Machines []Instance
}

// Missing reports whether the node pool names the group and Compute Engine has none: GKE failed to create the node pool.
func (g Group) Missing() bool { return g.Template == "" }

// Outdates reports whether a machine is one of the group's and was made from another template than the group has now.
func (g Group) Outdates(m Instance) bool {
	return m.Template != "" && g.Template != m.Template && slices.ContainsFunc(g.Machines, func(o Instance) bool { return o.Key() == m.Key() })
}

// Machines returns the members of all groups.
func Machines(list []Group) []Instance {
	var out []Instance
	for _, g := range list {
		out = append(out, g.Machines...)
	}
	return out
}

// Size returns the number of machines that groups keep together.
func Size(list []Group) int {
	n := 0
	for _, g := range list {
		n += g.Target
	}
	return n
}

// Raised returns the sizes that groups are to have for a total, by index, as far as they are larger than now: the smallest grow first, so
// that zones end as even as they can without losing a machine. alike is true if all zones have the same size then, and none is above it
// now.
func Raised(list []Group, total int) (sizes map[int]int, alike bool) {
	now := make([]int, len(list))
	for i, g := range list {
		now[i] = g.Target
	}
	sizes = map[int]int{}
	for missing := total - Size(list); missing > 0 && len(now) > 0; missing-- {
		at := slices.Index(now, slices.Min(now))
		now[at]++
		sizes[at] = now[at]
	}
	return sizes, len(now) > 0 && slices.Min(now) == slices.Max(now)
}

// Each returns the number of machines of each zone by which GKE is asked to size the node pool itself, which makes the groups that are
// missing; 0 if that number would take machines from a zone. It does not exceed the total, but for one machine in each zone where no group
// exists.
func Each(list []Group, total int) int {
	if len(list) == 0 {
		return 0
	}
	each := total / len(list)
	if !slices.ContainsFunc(list, func(g Group) bool { return !g.Missing() }) {
		return max(1, each)
	}
	if slices.ContainsFunc(list, func(g Group) bool { return g.Target > each }) {
		return 0
	}
	return each
}

// Existing returns the groups that are not missing.
func Existing(list []Group) []Group {
	return slices.DeleteFunc(slices.Clone(list), Group.Missing)
}

// Among returns the groups that URLs name.
func Among(list []Group, urls []string) []Group {
	var out []Group
	for _, g := range list {
		if slices.ContainsFunc(urls, func(url string) bool {
			at := session.ParseResource(url)
			return at.Location() == g.Zone && at.Name == g.Name
		}) {
			out = append(out, g)
		}
	}
	return out
}

// templateOf returns the instance template that a group makes machines from.
func templateOf(m *compute.InstanceGroupManager) string {
	url := m.InstanceTemplate
	if url == "" && len(m.Versions) > 0 {
		url = m.Versions[0].InstanceTemplate
	}
	return session.ParseResource(url).Within()
}
