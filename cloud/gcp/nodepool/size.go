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

// resize asks for a number of machines, never for fewer than exist. Where all zones have the same size then, the node pool is sized; else
// its instance groups are, one by one, the smallest first. Groups that GKE has not made it makes when the node pool is sized, with as many
// machines in each zone as do not exceed the number, and at least one.
func (p *pass) resize(ctx context.Context, s pool.Step) error {
	if _, err := p.there(); err != nil {
		return err
	}
	read := p.memory.read
	shown := groups.Size(read.groups)
	if p.memory.asked.NotYetVisible(shown, p.now, visibleWithin) {
		return p.memory.asked.Conflict("node pool "+p.t.name, shown)
	}
	if n := max(len(read.machines()), shown); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"node pool %s has %d machines and was to be asked for %d: GKE would choose which go", p.t.name, n, s.Size)}
	}
	want, err := p.want()
	if err != nil {
		return err
	}
	stay := want.staying(read.groups)
	sizes, alike := groups.Raised(stay, s.Size-shown+groups.Size(stay))
	if len(sizes) == 0 {
		return nil
	}
	p.forget()
	missing := slices.ContainsFunc(read.groups, groups.Group.Missing)
	if missing || alike && len(stay) == len(read.groups) {
		return p.sizeZones(ctx, max(1, s.Size/len(read.groups)), len(read.groups))
	}
	for _, at := range slices.Sorted(maps.Keys(sizes)) {
		if err := (groups.Writer{Session: p.c}).Resize(ctx, stay[at], sizes[at]); err != nil {
			return err
		}
	}
	p.memory.asked.Note(s.Size, p.now, nil)
	return nil
}

// sizeZones gives each of the zones the same number of machines.
func (p *pass) sizeZones(ctx context.Context, each, zones int) error {
	o, err := p.nodePools().SetSize(p.path(), &container.SetNodePoolSizeRequest{NodeCount: int64(each)}).Context(ctx).Do()
	err = p.began(o, err, wanted{})
	p.memory.asked.Note(each*zones, p.now, err)
	return err
}

// remove deletes exactly the given machines. Each group lowers its size by their number.
func (p *pass) remove(ctx context.Context, s pool.Step) error {
	if _, err := p.there(); err != nil {
		return err
	}
	read, named := p.memory.read, p.memory.named(s.Targets)
	if len(named) == 0 {
		return nil
	}
	p.forget()
	for _, at := range slices.Sorted(maps.Keys(named)) {
		if err := (groups.Writer{Session: p.c}).Delete(ctx, read.groups[at], named[at]); err != nil {
			return err
		}
	}
	return nil
}

// named returns the members of groups that a step names, by group. Those that are on their way out already are left out.
func (m *memory) named(targets []pool.InstanceRef) map[int][]groups.Machine {
	out := map[int][]groups.Machine{}
	for at, g := range m.read.groups {
		for _, is := range g.Machines {
			asked := slices.ContainsFunc(targets, func(t pool.InstanceRef) bool { return t.ID == is.ID() || t.ID == is.Name })
			if asked && is.State() != pool.Terminating {
				out[at] = append(out[at], is)
			}
		}
	}
	return out
}
