package nodepool

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/pool"
)

// resize asks for a number of machines, never for fewer than exist.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	read := w.memory.read
	shown := groups.Size(read.groups)
	if err := w.memory.requestedSize.Check("node pool "+w.t.name, shown, w.now, visibleWithin); err != nil {
		return err
	}
	if n := max(len(read.machines()), shown); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"node pool %s has %d machines and was to be asked for %d: GKE would choose which go", w.t.name, n, s.Size)}
	}
	if s.Size == shown {
		return nil
	}
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	g, err := growthOf(read, want.staying(read.groups), s.Size)
	switch {
	case err != nil:
		return err
	case g.each > 0:
		return w.sizeZones(ctx, g.each, len(read.groups))
	case len(g.sizes) == 0:
		return nil
	}
	w.reader.forget()
	for _, at := range slices.Sorted(maps.Keys(g.sizes)) {
		if err := (groups.Writer{Session: w.c}).Resize(ctx, g.list[at], g.sizes[at]); err != nil {
			return err
		}
	}
	w.memory.requestedSize.Note(s.Size, w.now, nil)
	return nil
}

// growth is the way in which a node pool gets more machines: each zone the same number, or groups of a list their sizes by index.
type growth struct {
	each  int
	list  []groups.Group
	sizes map[int]int
}

// growthOf returns how a node pool gets a number of machines that is larger than now, in the groups of zones that stay: machines in others
// would be removed again. Where all zones have the same size then, the node pool is sized; else its instance groups are, one by one, the
// smallest first. Groups that are missing GKE makes when the node pool is sized, with as many machines in each zone: while a zone would
// lose machines by that, those grow that exist, and the others wait.
func growthOf(read poolRead, stay []groups.Group, total int) (growth, error) {
	if len(stay) == 0 && len(read.groups) > 0 {
		return growth{}, &cloud.Error{Kind: cloud.Conflict, Code: codeZones, Message: fmt.Sprintf(
			"node pool %s can't grow to %d machines: it is in none of the zones of spec.nodeLocations yet", read.pool.Name, total)}
	}
	if at := slices.IndexFunc(read.groups, groups.Group.Missing); at >= 0 {
		if each := groups.Each(read.groups, total); each > 0 && len(stay) == len(read.groups) {
			return growth{each: each}, nil
		}
		if stay = groups.Existing(stay); len(stay) == 0 {
			return growth{}, &cloud.Error{Kind: cloud.Conflict, Code: codeMissing, Message: fmt.Sprintf("node pool %s can't grow to %d machines: %s",
				read.pool.Name, total, missingGroup(read.groups[at]))}
		}
	}
	sizes, alike := groups.Raised(stay, total-groups.Size(read.groups)+groups.Size(stay))
	if alike && len(sizes) > 0 && len(stay) == len(read.groups) {
		return growth{each: total / len(stay)}, nil
	}
	return growth{list: stay, sizes: sizes}, nil
}

// codeZones is the code of a node pool that is in none of the zones that the specification names.
const codeZones = "ZonesMissing"

// sizeZones gives each of the zones the same number of machines.
func (w *writer) sizeZones(ctx context.Context, each, zones int) error {
	w.reader.forget()
	o, err := w.nodePools().SetSize(w.reader.path(), &container.SetNodePoolSizeRequest{NodeCount: int64(each)}).Context(ctx).Do()
	err = w.began(o, err, desired{})
	w.memory.requestedSize.Note(each*zones, w.now, err)
	return err
}

// remove deletes exactly the given machines. Each group lowers its size by their number.
func (w *writer) remove(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	read, named := w.memory.read, w.memory.named(s.Targets)
	if len(named) == 0 {
		return nil
	}
	w.reader.forget()
	for _, at := range slices.Sorted(maps.Keys(named)) {
		if err := (groups.Writer{Session: w.c}).Delete(ctx, read.groups[at], named[at]); err != nil {
			return err
		}
	}
	return nil
}

// named returns the members of groups that a step names, by group. Those that are on their way out already are left out.
func (m *memory) named(targets []pool.InstanceRef) map[int][]groups.Instance {
	out := map[int][]groups.Instance{}
	for at, g := range m.read.groups {
		for _, is := range g.Machines {
			targeted := slices.ContainsFunc(targets, func(t pool.InstanceRef) bool { return t.ID == is.ID() || t.ID == is.Name })
			if targeted && is.State() != pool.Terminating {
				out[at] = append(out[at], is)
			}
		}
	}
	return out
}
