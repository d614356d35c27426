package request

import (
	"reflect"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"
)

// Effect is what GKE does with a changed part of a node pool.
type Effect int

// The effects.
const (
	// InPlace: GKE changes the node pool, and its nodes while they run where the part concerns them.
	InPlace Effect = iota
	// Rolls: GKE replaces the nodes, by the upgrade settings.
	Rolls
	// Refused: GKE takes no change.
	Refused
)

// Method is the request that changes a part.
type Method int

// The methods.
const (
	// Update is nodePools.update.
	Update Method = iota
	// SetAutoscaling is nodePools.setAutoscaling.
	SetAutoscaling
	// SetManagement is nodePools.setManagement.
	SetManagement
)

// Part is one part of a node pool that a specification may name.
type Part struct {
	// Name of the part in GKE's API.
	Name string
	// Field of the specification that it comes from, from spec on.
	Field  string
	Effect Effect
	Method Method
	// With is the part that goes first in the request which changes this one too; empty where it is changed alone.
	With string

	// value returns the part as a value that can be compared and encoded; nil where a node pool does not name it. It is nil for parts that
	// differs compares.
	value func(*container.NodePool) any
	// differs reports whether a node pool is otherwise than is wanted.
	differs func(want, is *container.NodePool) bool
	// put puts the wanted part into a request.
	put func(r *container.UpdateNodePoolRequest, want, is *container.NodePool)
}

// Differs reports whether a node pool is otherwise than is wanted. A part that is not wanted does not differ.
func (p Part) Differs(want, is *container.NodePool) bool {
	if p.differs != nil {
		return p.differs(want, is)
	}
	w := p.value(want)
	return w != nil && !reflect.DeepEqual(w, p.value(is))
}

// Differing returns the parts of some effects that differ, in the order in which they are changed.
func Differing(want, is *container.NodePool, effects ...Effect) []Part {
	var out []Part
	for _, p := range parts {
		for _, e := range effects {
			if p.Effect == e && p.Differs(want, is) {
				out = append(out, p)
			}
		}
	}
	return out
}

// Together returns those of some parts that one request changes: the first, and what goes with it.
func Together(differing []Part) []Part {
	var out []Part
	for _, p := range differing {
		if p.first() == differing[0].first() {
			out = append(out, p)
		}
	}
	return out
}

// first returns the name of the part that stands for a request.
func (p Part) first() string {
	if p.With != "" {
		return p.With
	}
	return p.Name
}

// Ahead reports whether one part is changed by an earlier request than another.
func Ahead(name, other string) bool {
	place := func(name string) int {
		of := parts[slices.IndexFunc(parts, func(p Part) bool { return p.Name == name })]
		return slices.IndexFunc(parts, func(p Part) bool { return p.Name == of.first() })
	}
	return place(name) < place(other)
}

// Request returns the nodePools.update that changes parts of a node pool, on condition that it is still as it was read.
func Request(changed []Part, want, is *container.NodePool) *container.UpdateNodePoolRequest {
	r := &container.UpdateNodePoolRequest{Etag: is.Etag}
	for _, p := range changed {
		p.put(r, want, is)
	}
	return r
}

// Rolling returns the parts whose change replaces nodes, with the values that one node pool has for those that another one names.
func Rolling(named, of *container.NodePool) map[string]any {
	out := map[string]any{}
	for _, p := range parts {
		if p.Effect == Rolls && p.value(named) != nil {
			out[p.Name] = p.value(of)
		}
	}
	return out
}

// WithRolling returns a wanted node pool that has the parts whose change replaces nodes as another one has them, but for those that one
// request changes. The first of these decides about a request.
func WithRolling(want, is *container.NodePool, changed []Part) *container.NodePool {
	out, config := *want, *want.Config
	out.Config = &config
	keep := map[string]bool{}
	for _, p := range changed {
		keep[p.Name] = true
	}
	for _, p := range parts {
		if p.Effect == Rolls && !keep[p.Name] && p.value(want) != nil {
			copyRolling(p.Name, &config, is.Config)
		}
	}
	return &out
}

// copyRolling takes over a part whose change replaces nodes.
func copyRolling(name string, to, from *container.NodeConfig) {
	if from == nil {
		from = &container.NodeConfig{}
	}
	switch name {
	case ImageType:
		to.ImageType = from.ImageType
	case partMachine:
		to.MachineType = from.MachineType
	case partDiskType:
		to.DiskType = from.DiskType
	case partDiskSize:
		to.DiskSizeGb = from.DiskSizeGb
	case partLinux:
		to.LinuxNodeConfig = from.LinuxNodeConfig
	}
}

// FieldOf returns the field of the specification that a part comes from, by its name in whatever case; empty for none.
func FieldOf(name string) string {
	for _, p := range parts {
		if strings.EqualFold(p.Name, name) {
			return p.Field
		}
	}
	return ""
}
