package instancegroup

import (
	"context"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// groupReader reads the group and its instances for one call of Observe or Start for one pool.
type groupReader struct {
	c       *session.Session
	t       target
	now     time.Time
	memory  *memory
	lookups *cache.Lookups
}

// place finds out where the group is, as far as that is known without a read.
func (r *groupReader) place() {
	known, ok := r.t.knownPlace()
	if !ok {
		known = r.t.wantedPlace()
	}
	r.t.place = known
}

// read reads the group and its instances, unless the last read is new enough for the pass.
func (r *groupReader) read(ctx context.Context) error {
	if driverkit.Reusable(r.memory.group.at, r.now, r.t.Cache.MaxAge) {
		r.found()
		return nil
	}
	return r.readAgain(ctx)
}

// look reads the group, unless it was read.
func (r *groupReader) look(ctx context.Context, _ pool.Step) error {
	if !r.memory.group.at.IsZero() {
		r.found()
		return nil
	}
	return r.readAgain(ctx)
}

// found takes over where the group was found, or where a new one is made.
func (r *groupReader) found() {
	r.t.place = r.t.wantedPlace()
	if is := r.memory.group.is; is != nil {
		r.t.place = placeOf(is)
	}
}

func (r *groupReader) readAgain(ctx context.Context) error {
	r.memory.unread = nil
	read, err := r.readWhole(ctx)
	if read.is != nil && session.Absent(err) {
		// The group was deleted between the two reads.
		r.memory.touch()
		r.t.Cache.MaxAge = 0
		read, err = r.readWhole(ctx)
	}
	switch {
	case err != nil && read.is != nil:
		return session.Vanished(err)
	case err != nil:
		return err
	}
	if read.is == nil {
		if read.named, err = r.readNamed(ctx); err != nil {
			return err
		}
		if err := driverkit.NotYetShown("managed instance group "+r.t.group, r.memory.made, r.now, visibleWithin); err != nil {
			r.memory.group = groupRead{}
			return err
		}
		r.memory.group = read
		return r.beingCreated(ctx)
	}
	r.memory.group, r.memory.made = read, time.Time{}
	return r.memory.behind(r.now, r.t.group)
}

// readWhole reads the group, and the instances of one that is the pool's own.
func (r *groupReader) readWhole(ctx context.Context) (groupRead, error) {
	read, err := r.readGroup(ctx)
	if err == nil && read.is != nil && r.t.owns(labelsOf(read.is)) {
		read.instances, err = r.instances(ctx, read)
	}
	return read, err
}

// readGroup reads the group where it is known to be, and else where a new one would be made.
func (r *groupReader) readGroup(ctx context.Context) (groupRead, error) {
	places := []place{r.t.place}
	if wanted := r.t.wantedPlace(); wanted.location != r.t.place.location {
		places = append(places, wanted)
	}
	var read groupRead
	for _, at := range places {
		r.t.place = at
		is, when, err := r.c.Manager(ctx, at.location, r.t.group, r.t.Cache.MaxAge)
		if err != nil {
			return groupRead{}, err
		}
		if read = (groupRead{is: is.Is, at: when, skew: is.Skew}); is.Is != nil {
			r.t.place = placeOf(is.Is)
			break
		}
	}
	return read, nil
}

// placeOf returns where a group is.
func placeOf(is *compute.InstanceGroupManager) place {
	if is.Zone != "" {
		return place{location: session.LastName(is.Zone)}
	}
	out := place{location: session.LastName(is.Region)}
	if is.DistributionPolicy != nil {
		for _, z := range is.DistributionPolicy.Zones {
			out.zones = append(out.zones, session.LastName(z.Zone))
		}
	}
	return out
}

// readNamed reads the group that the object names, where that is another than the pool's own, which does not exist: another tool may have
// managed the pool before.
func (r *groupReader) readNamed(ctx context.Context) (driverkit.NamedGroup, error) {
	out := driverkit.NamedGroup{ID: r.t.GroupID}
	named, other := r.t.namedGroup()
	if !other {
		return out, nil
	}
	label := "managed instance group " + named.Name + " of " + named.Location()
	if named.Project != "" && named.Project != r.t.project {
		out.Conflict = cloud.NamedElsewhere(label, "it is in project "+named.Project)
		return out, nil
	}
	is, _, err := r.c.Manager(ctx, named.Location(), named.Name, r.t.Cache.MaxAge)
	if err != nil {
		return out, err
	}
	if is.Is != nil && !r.t.owns(labelsOf(is.Is)) {
		out.Conflict = driverkit.NamedConflict(label, named.Name, r.t.claim(labelsOf(is.Is)))
	}
	return out, nil
}
