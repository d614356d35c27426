package nodepool

import (
	"cmp"
	"context"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

const (
	// defaultMachineType is the one that GKE takes where a specification names none, and defaultPods how many pods a node then takes.
	defaultMachineType = "e2-medium"
	defaultPods        = 110
)

// resolver looks up what the specification names only by its properties.
func (r *reader) resolver() *cache.Resolver {
	return &cache.Resolver{Shared: r.lookups, Now: r.now, Remembered: r.t.Remembered, Remember: map[string]string{}}
}

// observeCapacity puts what each machine of the next configuration offers into an observation. If the machine type of a node pool that
// exists can't be looked up that stays unknown, and nothing else waits for it; without the permission to look it up a node pool is created
// all the same.
func (r *reader) observeCapacity(ctx context.Context, want desired, look *cache.Resolver, out *pool.Observed) error {
	var err error
	out.Capacity, err = want.capacity(ctx, r.c, look, r.memory.read)
	waits := r.memory.read.pool == nil && cloud.KindOf(err) != cloud.Denied
	if err == nil || waits || cloud.KindOf(err) == cloud.Invalid {
		return err
	}
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil {
		return failed
	}
	look.Keep()
	out.Issues = append(out.Issues, driverkit.CauseOf(err))
	return nil
}

// capacity returns what each machine of the next configuration offers; nil while no zone is known to ask about it.
func (w desired) capacity(ctx context.Context, c *session.Session, look *cache.Resolver, read poolRead) (*pool.NodeCapacity, error) {
	zone := firstZone(w.pool, read)
	if zone == "" {
		return nil, nil
	}
	is, err := template.MachineTypeOf(ctx, c, look, zone, cmp.Or(w.next.machineType, defaultMachineType))
	if err != nil {
		return nil, err
	}
	accelerators := map[string]int{}
	if read.pool != nil && read.pool.Config != nil {
		for _, a := range read.pool.Config.Accelerators {
			accelerators[a.AcceleratorType] += int(a.AcceleratorCount)
		}
	}
	return is.Offers(podsOf(w.pool, read), accelerators), nil
}

// firstZone returns a zone of the node pool, or of its cluster where it names none; empty while that is not known.
func firstZone(want *container.NodePool, read poolRead) string {
	zones := want.Locations
	if len(zones) == 0 && read.pool != nil {
		zones = read.pool.Locations
	}
	if len(zones) == 0 && read.cluster != nil {
		zones = read.cluster.Locations
	}
	if len(zones) == 0 {
		return ""
	}
	return zones[0]
}

// podsOf returns how many pods a node takes.
func podsOf(want *container.NodePool, read poolRead) int {
	limits := []*container.MaxPodsConstraint{want.MaxPodsConstraint}
	if read.pool != nil {
		limits = append(limits, read.pool.MaxPodsConstraint)
	}
	if read.cluster != nil {
		limits = append(limits, read.cluster.DefaultMaxPodsConstraint)
	}
	for _, limit := range limits {
		if limit != nil && limit.MaxPodsPerNode > 0 {
			return int(limit.MaxPodsPerNode)
		}
	}
	return defaultPods
}
